"""The file of one instance: it explains itself, and says when it cannot be trusted."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from runtime.store import DamagedJournal, Key, Line, MissingJournal, NewerStore, StoreUnusable, sqlite
from runtime.store.journal import SCHEMA, Description, JournalDb, image
from runtime.store.types import Durability
from tests.store.lines import line

KEY = Key("orders", "a")


def make(path: Path, lines: int = 3, data: str = "{}") -> str:
    description = Description(KEY, 5, "Order", lines)
    with closing(sqlite.Template(SCHEMA)) as template:
        contents = image(template, description, [line(n, data) for n in range(1, lines + 1)])
    sqlite.place(str(path), contents, "process")
    return str(path)


def opened(path: str, schema: sqlite.Schema = SCHEMA) -> JournalDb:
    return JournalDb(path, "process", schema=schema, lock_wait_ms=0)


def test_a_copied_file_says_whose_it_is(tmp_path: Path) -> None:
    db = opened(make(tmp_path / "copied.db"))
    assert db.describe() == Description(KEY, 5, "Order", 3)
    db.close()


def test_the_file_can_be_read_by_any_sqlite(tmp_path: Path) -> None:
    plain = sqlite3.connect(make(tmp_path / "a.db"))
    assert plain.execute("SELECT seq, at, kind, data FROM journal WHERE seq = 2").fetchall() == [line(2)]
    assert plain.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert plain.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    plain.close()


def test_a_newer_file_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    path = make(tmp_path / "a.db")
    plain = sqlite3.connect(path)
    plain.execute("PRAGMA user_version = 7")
    plain.close()
    before = Path(path).read_bytes()
    with pytest.raises(NewerStore, match=r"version 7, but this celld-py knows versions up to 1\. Update") as caught:
        opened(path)
    assert (caught.value.path, caught.value.found, caught.value.known) == (path, 7, 1)
    assert Path(path).read_bytes() == before


NEXT = replace(
    SCHEMA,
    version=3,
    migrations={
        1: ("ALTER TABLE journal ADD COLUMN note TEXT",),
        2: ("UPDATE journal SET note = 'from ' || kind", "INSERT INTO meta VALUES ('migrated', 1)"),
    },
)


def test_a_file_of_an_earlier_version_is_migrated_step_by_step(tmp_path: Path) -> None:
    path = make(tmp_path / "a.db")
    db = opened(path, NEXT)
    assert db.read() == [line(1), line(2), line(3)]
    db.close()
    plain = sqlite3.connect(path)
    assert plain.execute("PRAGMA user_version").fetchone() == (3,)
    assert plain.execute("SELECT DISTINCT note FROM journal").fetchall() == [("from step_started",)]
    plain.close()
    with pytest.raises(NewerStore):
        opened(path)


def test_a_migration_that_fails_changes_nothing(tmp_path: Path) -> None:
    path = make(tmp_path / "a.db")
    broken = replace(NEXT, migrations={**NEXT.migrations, 2: ("INSERT INTO nowhere VALUES (1)",)})
    with pytest.raises(StoreUnusable, match="migration from schema version 1 failed"):
        opened(path, broken)
    plain = sqlite3.connect(path)
    assert plain.execute("PRAGMA user_version").fetchone() == (1,)
    assert "note" not in plain.execute("SELECT sql FROM sqlite_schema WHERE name = 'journal'").fetchone()[0]
    plain.close()


def test_a_missing_file_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(MissingJournal):
        opened(str(tmp_path / "a.db"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("contents", [b"", b"not a database", b"SQLite format 3\0" + b"\0" * 4080])
def test_what_is_no_database_is_set_aside(tmp_path: Path, contents: bytes) -> None:
    path = tmp_path / "a.db"
    path.write_bytes(contents)
    with pytest.raises(DamagedJournal) as caught:
        opened(str(path)).read()
    assert Path(caught.value.moved_to).read_bytes() == contents
    assert not path.exists()


def test_a_changed_line_is_found_by_its_checksum(tmp_path: Path) -> None:
    path = make(tmp_path / "a.db", data="secret value")
    contents = Path(path).read_bytes()
    Path(path).write_bytes(contents.replace(b"secret value", b"secret valu%", 1))
    db = opened(path)
    with pytest.raises(DamagedJournal, match=r"line \d does not match its checksum") as caught:
        db.read()
    assert caught.value.path == path
    assert caught.value.moved_to.startswith(path + ".damaged-2")
    assert str(caught.value.moved_to) in str(caught.value)
    assert os.listdir(tmp_path) == [os.path.basename(caught.value.moved_to)]


def test_a_missing_line_is_found(tmp_path: Path) -> None:
    path = make(tmp_path / "a.db")
    plain = sqlite3.connect(path)
    plain.execute("DELETE FROM journal WHERE seq = 2")
    plain.commit()
    plain.close()
    with pytest.raises(DamagedJournal, match="line 2 is missing"):
        opened(path).read()


def test_a_flipped_bit_anywhere_is_found_or_harmless(tmp_path: Path) -> None:
    """Over every page; what is read after a flip is what was written, or the file is set aside."""
    path = make(tmp_path / "a.db", lines=40, data="value " * 60)
    written = [line(n, "value " * 60) for n in range(1, 41)]
    contents = Path(path).read_bytes()
    assert len(contents) // 4096 > 5
    found = 0
    for at in range(0, len(contents), 61):
        flipped = bytearray(contents)
        flipped[at] ^= 1 << (at % 8)
        sqlite.unlink(path + "-wal", path + "-shm")
        Path(path).write_bytes(flipped)
        try:
            db = opened(path)
            assert db.read() == written
            db.close()
        except (DamagedJournal, NewerStore) as error:
            found += 1
            if isinstance(error, DamagedJournal):
                assert Path(error.moved_to).read_bytes() == flipped
                os.unlink(error.moved_to)
    assert found > 100


def test_a_file_that_nobody_closed_is_checked_page_by_page(tmp_path: Path) -> None:
    path = make(tmp_path / "a.db", lines=300, data="value " * 60)
    db = opened(path)
    db.append([line(301)])
    log = Path(path + "-wal").read_bytes()
    db.close()
    contents = bytearray(Path(path).read_bytes())
    middle = len(contents) // 2 // 4096 * 4096
    contents[middle : middle + 8] = b"\xff" * 8  # the head of a page
    Path(path).write_bytes(contents)
    Path(path + "-wal").write_bytes(log)
    with pytest.raises(DamagedJournal) as caught:
        opened(path)
    moved = Path(caught.value.moved_to)
    assert {file.name for file in tmp_path.iterdir()} >= {moved.name, moved.name + "-wal"}
    assert not Path(path).exists()


# The header of the log, the first page in it, and the second, of which each append writes one.
@pytest.mark.parametrize(("block", "lines"), [(0, 3), (8, 3), (16, 4)])
def test_a_new_log_of_which_a_power_cut_lost_a_block_gives_whole_appends(
    tmp_path: Path, block: int, lines: int
) -> None:
    path = make(tmp_path / "a.db")
    db = opened(path)
    db.append([line(4)])
    db.append([line(5)])
    file, log = Path(path).read_bytes(), bytearray(Path(path + "-wal").read_bytes())
    db.close()
    log[512 * block : 512 * (block + 1)] = bytes(512)  # never reached the disk, though what follows did
    Path(path).write_bytes(file)
    Path(path + "-wal").write_bytes(log)

    found = opened(path)
    assert [each.seq for each in found.read()] == list(range(1, lines + 1))
    found.append([line(lines + 1)])
    found.close()


def test_only_the_first_commit_to_a_new_log_is_not_synced(tmp_path: Path) -> None:
    path = make(tmp_path / "a.db")
    modes = []
    both: tuple[Durability, ...] = ("process", "power")
    for durability in both:
        db = JournalDb(path, durability, lock_wait_ms=0)
        for _ in range(2):
            modes.append(mode(db))
            db.append([line(db.next_seq)])
        modes.append(mode(db))
        db.close()
    off, normal, full = 0, 1, 2
    assert modes == [off, normal, normal, full, full, full]


def mode(db: JournalDb) -> int:
    """SQLite's number for how much it syncs."""
    (number,) = db._connection().execute("PRAGMA synchronous").fetchone()
    return int(number)


def test_a_closed_file_is_not_checked_page_by_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    thorough: list[bool] = []
    check = sqlite.check

    def recording_check(db: sqlite3.Connection, path: str, schema: sqlite.Schema, **how: bool) -> None:
        thorough.append(how["thorough"])
        check(db, path, schema, thorough=how["thorough"])

    monkeypatch.setattr(sqlite, "check", recording_check)
    opened(make(tmp_path / "a.db")).close()
    assert thorough == [False]


WRITER = """
import sys
from runtime.store.journal import JournalDb
from runtime.store.types import Line
db = JournalDb(sys.argv[1], "process", lock_wait_ms=0)
while True:
    first = db.next_seq
    db.append([Line(first + n, 0, "k", "x" * 3000) for n in range(5)])
    print(db.next_seq - 1, flush=True)
"""


def killed_writer(path: str, fault: str) -> int:
    """Run a writer until its fault kills it, and give the last line that it acknowledged."""
    environment = {**os.environ, "CELLD_PY_FAULT": fault, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", WRITER, path], capture_output=True, text=True, env=environment)
    assert done.returncode == -signal.SIGKILL, done.stderr
    return int(done.stdout.split()[-1])


@pytest.mark.parametrize(("fault", "more"), [("journal.before_commit:4", 0), ("journal.after_commit:4", 5)])
def test_a_killed_writer_leaves_whole_appends(tmp_path: Path, fault: str, more: int) -> None:
    path = make(tmp_path / "a.db", lines=1)
    acknowledged = killed_writer(path, fault)
    db = opened(path)
    assert len(db.read()) == acknowledged + more == 16 + more
    db.close()


def test_a_writer_killed_at_any_moment_leaves_whole_appends(tmp_path: Path) -> None:
    path = make(tmp_path / "a.db", lines=1)
    for lines_seen in (1, 2, 5, 9, 20):
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        with subprocess.Popen(
            [sys.executable, "-c", WRITER, path], stdout=subprocess.PIPE, text=True, env=environment
        ) as writer:
            assert writer.stdout is not None
            acknowledged = [int(writer.stdout.readline()) for _ in range(lines_seen)][-1]
            writer.kill()
            acknowledged = max([acknowledged, *map(int, writer.stdout.read().split())])
        db = opened(path)
        found = db.read()
        db.close()
        assert len(found) in (acknowledged, acknowledged + 5)
        assert (len(found) - 1) % 5 == 0


def test_a_line_is_a_plain_tuple() -> None:
    assert Line(1, 2, "kind", "data") == (1, 2, "kind", "data")


def test_a_file_that_cannot_be_made_spoils_none_after_it() -> None:
    with closing(sqlite.Template(SCHEMA)) as template:
        before = image(template, Description(KEY, 5, "Order", 1), [line(1)])
        with pytest.raises(UnicodeEncodeError):
            image(template, Description(Key("orders", "\ud800"), 5, "Order", 1), [line(1)])

        assert image(template, Description(KEY, 5, "Order", 1), [line(1)]) == before
