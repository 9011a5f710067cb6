"""The two ways into a journal, and what makes a commit wait or fail."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from runtime.store import JournalFile, Journals, Key, StoreFull, StoreUnusable, journal
from runtime.store.writers import ThreadedJournal
from tests.store.lines import append, line

pytestmark = pytest.mark.asyncio
KEY = Key("orders", "a")


async def opened(journals: Journals) -> ThreadedJournal:
    await journals.create(KEY, [line(1)], created=5)
    file = await journals.open(KEY)
    assert isinstance(file, ThreadedJournal)
    return file


def outsider(file: ThreadedJournal) -> sqlite3.Connection:
    """Another program that has the file open."""
    return sqlite3.connect(file.path, isolation_level=None, check_same_thread=False, timeout=0)


def committed(file: ThreadedJournal) -> int:
    """How many lines another program sees."""
    other = outsider(file)
    try:
        (count,) = other.execute("SELECT count(*) FROM journal").fetchone()
    finally:
        other.close()
    return int(count)


async def test_a_small_append_in_process_mode_is_committed_when_the_call_returns(tmp_path: Path) -> None:
    journals = Journals(tmp_path, "process")
    file = await opened(journals)
    await append(file, [line(2)])  # the first one of a new log syncs the log's header, in a thread
    assert file.append([line(3)]) is None
    assert committed(file) == 3
    await journals.close()


async def test_a_large_append_does_not_stop_the_loop(tmp_path: Path) -> None:
    journals = Journals(tmp_path, "process")
    file = await opened(journals)
    await append(file, [line(2)])
    pending = file.append([line(3, "x" * (1 << 20))])
    assert pending is not None
    await pending
    assert file.append([line(4)]) is None
    await journals.close()


async def test_an_append_in_power_mode_is_committed_when_it_is_given_back_or_awaited(tmp_path: Path) -> None:
    journals = Journals(tmp_path, "power")
    file = await opened(journals)
    for seq in range(2, 5):
        await append(file, [line(seq)])
        assert committed(file) == seq
    await journals.close()


async def test_two_journals_that_append_in_power_mode_by_turns_do_not_stop_the_loop(tmp_path: Path) -> None:
    journals = Journals(tmp_path, "power")
    files = []
    for name in ("a", "b"):
        key = Key("flow", name)
        await journals.create(key, [line(1)], created=0)
        files.append(await journals.open(key))
    pending = [file.append([line(seq)]) for seq in range(2, 5) for file in files]
    assert None not in pending[1:]
    await asyncio.gather(*(one for one in pending if one is not None))
    await journals.close()


async def test_appends_that_wait_for_each_other_share_a_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commits: list[str] = []
    monkeypatch.setattr(journal, "fault", commits.append)
    journals = Journals(tmp_path, "power")
    file = await opened(journals)
    pending = [file.append([line(seq)]) for seq in range(2, 52)]
    await asyncio.gather(*(one for one in pending if one is not None))
    assert commits.count("journal.after_commit") == 2
    await journals.close()


async def test_another_programs_write_lock_delays_appends_and_keeps_their_order(files: Journals) -> None:
    file = await opened(files)
    await append(file, [line(2)])
    other = outsider(file)
    other.execute("BEGIN IMMEDIATE")
    pending = [file.append([line(3)]), file.append([line(4)])]
    assert None not in pending
    asyncio.get_running_loop().call_later(1.0, other.execute, "ROLLBACK")
    await asyncio.gather(*(one for one in pending if one is not None))
    other.close()
    assert await file.read() == [line(1), line(2), line(3), line(4)]


async def test_another_programs_long_read_disturbs_nothing(files: Journals) -> None:
    file = await opened(files)
    await append(file, [line(2)])
    reader = outsider(file)
    reader.execute("BEGIN")
    assert reader.execute("SELECT count(*) FROM journal").fetchone() == (2,)
    for seq in range(3, 120):
        await append(file, [line(seq, "x" * 60_000)])  # beyond the size at which the log is moved into the file
    assert reader.execute("SELECT count(*) FROM journal").fetchone() == (2,)
    files.release(file)
    await files.shut(KEY)
    reader.execute("COMMIT")
    reader.close()
    assert len(await (await files.open(KEY)).read()) == 119


async def test_the_log_does_not_grow_without_end(files: Journals) -> None:
    file = await opened(files)
    for seq in range(2, 602):
        await append(file, [line(seq, "x" * 60_000)])  # 36 MB
    assert Path(file.path + "-wal").stat().st_size < 3 * journal.CHECKPOINT_BYTES


async def test_small_appends_are_checkpointed_too(files: Journals) -> None:
    file = await opened(files)
    for seq in range(2, 2002):
        await append(file, [line(seq)])
    assert Path(file.path + "-wal").stat().st_size < 2 * journal.CHECKPOINT_BYTES
    assert len(await file.read()) == 2001


def fill_up(file: ThreadedJournal) -> None:
    """Let the file grow no further."""
    pages = file._db._connection().execute("PRAGMA page_count").fetchone()[0]
    file._db._connection().execute(f"PRAGMA max_page_count = {pages}")


def make_room(file: ThreadedJournal) -> None:
    file._db._connection().execute("PRAGMA max_page_count = 1000000")


async def test_a_full_disk_fails_the_append_and_it_can_be_repeated_later(files: Journals) -> None:
    file = await opened(files)
    await append(file, [line(2)])
    fill_up(file)
    with pytest.raises(StoreFull, match="No space is left") as caught:
        await append(file, [line(3, "x" * 20_000)])
    assert caught.value.path == file.path
    assert file.next_seq == 3
    assert await file.read() == [line(1), line(2)]
    make_room(file)
    await append(file, [line(3, "x" * 20_000)])
    assert len(await file.read()) == 3


async def test_appends_queued_behind_a_failed_one_fail_with_it(tmp_path: Path) -> None:
    journals = Journals(tmp_path, "power")
    file = await opened(journals)
    fill_up(file)
    pending = [file.append([line(seq, "x" * 20_000)]) for seq in range(2, 6)]
    results = await asyncio.gather(*(one for one in pending if one is not None), return_exceptions=True)
    assert [type(result) for result in results] == [StoreFull] * 4
    assert file.next_seq == 2
    make_room(file)
    await append(file, [line(2)])
    assert len(await file.read()) == 2
    await journals.close()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 512 KiB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(disk)]
    try:
        mounted = subprocess.run(command, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        mounted = False
    if not mounted:
        pytest.skip("needs the right to mount a file system")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.parametrize("durability", ["process", "power"])
async def test_a_really_full_disk(small_disk: Path, durability: str) -> None:
    journals = Journals(small_disk / "state", "power" if durability == "power" else "process")
    file = await opened(journals)
    ballast = small_disk / "ballast"
    ballast.write_bytes(b"x" * 150_000)
    written = await until_full(file)
    assert [found.seq for found in await file.read()] == list(range(1, written))
    with pytest.raises(StoreFull):
        for n in range(100):
            await journals.create(Key("orders", f"more-{n}"), [line(1, "x" * 20_000)], created=5)
    assert list(small_disk.glob("state/*/*.new")) == []
    ballast.unlink()
    await append(file, [line(file.next_seq, "x" * 20_000)])
    journals.release(file)
    await journals.shut(KEY)
    again = await journals.open(KEY)
    assert len(await again.read()) == written
    await journals.close()


async def until_full(file: JournalFile) -> int:
    with pytest.raises(StoreFull):
        while True:
            await append(file, [line(file.next_seq, "x" * 20_000)])
    return file.next_seq


async def test_a_second_writer_is_noticed(files: Journals) -> None:
    file = await opened(files)
    await append(file, [line(2)])
    other = outsider(file)
    other.execute("INSERT INTO journal VALUES (3, 0, 'intruder', '', 0)")
    other.close()
    with pytest.raises(StoreUnusable, match="somebody else wrote to it"):
        await append(file, [line(3)])


async def test_text_that_is_not_unicode_is_refused_before_anything_is_written(files: Journals) -> None:
    file = await opened(files)
    with pytest.raises(UnicodeEncodeError):
        await append(file, [line(2), line(3, "\ud800")])
    assert file.next_seq == 2
    await append(file, [line(2)])
    assert len(await file.read()) == 2
