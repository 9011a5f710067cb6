"""The file of one instance: its lines, and a few words that explain the file when it is found elsewhere.

`JournalDb` is blocking and is used by one thread at a time; `writers` makes the two ways in out of it.

When a file is checked. SQLite reads a page when it needs it and reports one that makes no sense; every line carries a
checksum of its own, and their numbers must have no gap, which `read` verifies. So what is used is always checked, at
no further cost. The thorough `PRAGMA quick_check`, which reads every page, is left for files that nobody closed: only
there can a write have been cut short. It would otherwise cost each activation a pass over the whole journal.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import NamedTuple, TypeVar

from runtime.faults import fault
from runtime.store import blocks, sqlite
from runtime.store.errors import DamagedJournal, JournalClosed, StoreBusy, StoreFull, StoreUnusable
from runtime.store.sqlite import LOCK_WAIT_MS, Corrupt, Schema
from runtime.store.types import Durability, Key, Line, Stream

CHECKPOINT_BYTES = 4 << 20  # of log; a checkpoint of this much takes some 20 ms, of which the loop sees nothing
MAX_ONE_STATEMENT = 16  # lines; more go through `executemany` in an explicit transaction
_FRAME = 4096 + 24  # one page in the log with its header

SCHEMA = Schema(
    version=1,
    create=(
        "CREATE TABLE meta (name TEXT PRIMARY KEY, value) WITHOUT ROWID",
        """CREATE TABLE journal (
            seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, kind TEXT NOT NULL, data TEXT NOT NULL,
            sum INTEGER NOT NULL  -- CRC-32 of the other columns, joined by line feeds, in UTF-8
        )""",
    ),
)

# For each number of lines one statement, which is a transaction of its own: 17 us for a line, where BEGIN IMMEDIATE,
# INSERT, COMMIT take 28.
_INSERTS = [f"INSERT INTO journal VALUES {', '.join(['(?, ?, ?, ?, ?)'] * n)}" for n in range(MAX_ONE_STATEMENT + 1)]  # noqa: S608

T = TypeVar("T")


class Description(NamedTuple):
    """What a journal says of itself."""

    key: Key
    created: int
    class_name: str
    lines: int


def image(template: sqlite.Template, description: Description, lines: Sequence[Line]) -> bytes:
    """The bytes of a new journal file that holds its first lines."""
    key, created, class_name, _ = description
    meta = (("workflow", key.workflow), ("id", key.id), ("created", created), ("class", class_name))

    def fill(db: sqlite3.Connection) -> None:
        db.executemany("INSERT INTO meta VALUES (?, ?)", meta)
        db.executemany(_INSERTS[1], [(*line, checksum(line)) for line in lines])

    return template.filled(fill)


def checksum(line: Line) -> int:
    """The checksum that is stored with a line."""
    return zlib.crc32(f"{line.seq}\n{line.at}\n{line.kind}\n{line.data}".encode())


class JournalDb:
    """An open journal file; blocking."""

    def __init__(self, path: str, durability: Durability, *, schema: Schema = SCHEMA, lock_wait_ms: int) -> None:
        self.path = path
        self.usable = True
        self._lock_wait_ms = lock_wait_ms
        self._log_bytes = 0
        self.has_blocks = False
        left_open = sqlite.was_left_open(path)
        self._unsynced_header = durability == "process" and not left_open
        self._db: sqlite3.Connection | None = None
        try:
            self.next_seq = self._guarded(lambda: self._open(durability, schema, thorough=left_open))
        except BaseException:
            self.close()
            raise

    def _open(self, durability: Durability, schema: Schema, *, thorough: bool) -> int:
        # Opening happens in a thread, where waiting for another program's lock harms nobody.
        self._db = db = sqlite.connect(self.path, durability)
        sqlite.check(db, self.path, schema, thorough=thorough)
        if self._unsynced_header:
            db.execute("PRAGMA synchronous = OFF")
        (last,) = db.execute("SELECT max(seq) FROM journal").fetchone()
        self.has_blocks = blocks.has_table(db)
        self._wait_for_locks(self._lock_wait_ms)
        return (last or 0) + 1

    @property
    def checkpoint_due(self) -> bool:
        """Whether the log has grown enough to be worth moving into the file."""
        return self._log_bytes >= CHECKPOINT_BYTES

    @property
    def has_log(self) -> bool:
        """Whether anything was written since the last checkpoint."""
        return self._log_bytes > 0

    def append(self, lines: Sequence[Line]) -> None:
        """Commit lines in one transaction."""
        fault("journal.before_commit")
        self._guarded(lambda: self._insert(lines))
        self.next_seq = lines[-1].seq + 1
        self._logged(sum(len(line.data) for line in lines))
        fault("journal.after_commit")

    def _logged(self, size: int) -> None:
        """Something was committed: so many bytes, and the page that they are on."""
        self._log_bytes += _FRAME + size
        if self._unsynced_header:
            # The first commit makes the log, and syncs its header (0.6 ms) unless told not to. That sync is for logs
            # that are used again, to tell new frames from old; this log is new. Whatever a power cut leaves of it,
            # SQLite finds the file as it was, or with its first commits. From here on a checkpoint syncs what it moves.
            self._unsynced_header = False
            self._connection().execute("PRAGMA synchronous = NORMAL")

    def append_patiently(self, lines: Sequence[Line]) -> None:
        """Commit lines, waiting for another program's lock; for use in a thread."""
        with self._patience():
            self.append(lines)

    @contextmanager
    def _patience(self) -> Iterator[None]:
        if self._lock_wait_ms == LOCK_WAIT_MS:
            yield
            return
        self._wait_for_locks(LOCK_WAIT_MS)
        try:
            yield
        finally:
            if self._db is not None:  # else it was given up, and that is the error to tell
                self._wait_for_locks(self._lock_wait_ms)

    def _insert(self, lines: Sequence[Line]) -> None:
        db = self._connection()
        rows = [(*line, checksum(line)) for line in lines]
        if len(rows) <= MAX_ONE_STATEMENT:
            db.execute(_INSERTS[len(rows)], [value for row in rows for value in row])
            return
        db.execute("BEGIN IMMEDIATE")
        db.executemany(_INSERTS[1], rows)
        db.execute("COMMIT")

    def read(self, after: int = 0) -> list[Line]:
        """All lines after a number, each verified."""
        return self._guarded(lambda: self._read(after))

    def _read(self, after: int) -> list[Line]:
        query = "SELECT seq, at, kind, data, sum FROM journal WHERE seq > ? ORDER BY seq"
        rows = self._connection().execute(query, (after,)).fetchall()
        lines = [Line(*row[:4]) for row in rows]
        for expected, (line, row) in enumerate(zip(lines, rows, strict=True), after + 1):
            if line.seq != expected:
                raise Corrupt(f"line {expected} is missing")
            if checksum(line) != row[4]:
                raise Corrupt(f"line {expected} does not match its checksum")
        return lines

    def put_block(self, stream: Stream, number: int, data: bytes) -> None:
        """Commit one block of a stream; for use in a thread."""
        fault("block.before_commit")
        with self._patience():
            self._guarded(lambda: blocks.put(self._connection(), stream, number, data, new_table=not self.has_blocks))
        self.has_blocks = True
        self._logged(len(data))
        fault("block.after_commit")
        # Here, not when the lane is idle: while several streams arrive it never is.
        if self.checkpoint_due:
            self.checkpoint()

    def read_block(self, stream: Stream, number: int) -> bytes | None:
        """One block, verified; None when there is none of this number."""
        return self._guarded(lambda: blocks.read(self._connection(), stream, number)) if self.has_blocks else None

    def streams(self) -> set[Stream]:
        """All streams of which there is a block."""
        return self._guarded(lambda: blocks.streams(self._connection())) if self.has_blocks else set()

    def drop_stream(self, stream: Stream) -> None:
        """Delete all blocks of a stream; for use in a thread."""
        if self.has_blocks:
            with self._patience():
                self._guarded(lambda: blocks.drop(self._connection(), stream))
            self._logged(0)

    def describe(self) -> Description:
        """What the file says of itself."""
        return self._guarded(self._describe)

    def _describe(self) -> Description:
        meta = dict(self._connection().execute("SELECT name, value FROM meta").fetchall())
        try:
            key = Key(meta["workflow"], meta["id"])
            return Description(key, meta["created"], meta["class"], self.next_seq - 1)
        except KeyError as missing:
            raise Corrupt(f"it does not name its {missing.args[0]}") from None

    def checkpoint(self) -> None:
        """Move the log into the file as far as readers allow."""
        self._log_bytes = 0  # whatever comes of it: the next attempt is due when the log has grown as much again
        with suppress(StoreFull, StoreBusy):  # the log keeps what could not be moved
            self._guarded(lambda: self._connection().execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone())

    def close(self) -> None:
        """Close the file; the last one to do so moves the log into it and deletes the log."""
        self.usable = False
        if self._db is not None:
            self._db.close()
            self._db = None

    def _connection(self) -> sqlite3.Connection:
        if self._db is None:
            raise JournalClosed(self.path)
        return self._db

    def _wait_for_locks(self, milliseconds: int) -> None:
        self._connection().execute(f"PRAGMA busy_timeout = {milliseconds}")

    def _guarded(self, work: Callable[[], T]) -> T:
        """Do something with the file; an error leaves no transaction open, and damage sets the file aside."""
        try:
            return work()
        except Corrupt as error:
            raise self._set_aside(str(error)) from None
        except sqlite3.IntegrityError as error:
            self._give_up()
            raise StoreUnusable(self.path, f"somebody else wrote to it ({error})") from error
        except (sqlite3.Error, OSError) as error:
            known = sqlite.translated(error, self.path)
            if isinstance(known, Corrupt):
                raise self._set_aside(str(known)) from error
            raise known from error
        finally:
            self._clean_up()

    def _clean_up(self) -> None:
        if self._db is not None:
            sqlite.roll_back(self._db)

    def _give_up(self) -> None:
        self._clean_up()
        self.close()

    def _set_aside(self, reason: str) -> DamagedJournal:
        # Renamed before it is closed: closing would move the log into the file and delete what may help to recover it.
        moved = sqlite.set_aside(self.path)
        self._give_up()
        return DamagedJournal(self.path, moved, reason)
