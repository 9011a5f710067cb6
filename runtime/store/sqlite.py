"""What journals and catalog share: connecting, checking, migrating, creating and setting aside SQLite files."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from urllib.parse import quote

from runtime.store.errors import (
    MissingJournal,
    NewerStore,
    StoreBusy,
    StoreError,
    StoreFull,
    StoreUnusable,
)
from runtime.store.types import Durability

LOCK_WAIT_MS = 30_000  # a backup tool may hold a write lock this long before an append fails
SIDE_FILES = ("-wal", "-shm")  # SQLite's own names beside a database in WAL mode

_WAL_VERSION = b"\x02\x02"  # bytes 18 and 19 of the header: written and read in WAL mode (SQLite's file format, 1.3)


class Corrupt(Exception):
    """Signals inside the store that a file is damaged; its owner sets it aside and raises a `DamagedFile`."""


@dataclass(frozen=True)
class Schema:
    """The shape of a kind of file: how to make it, and how to bring older files up to it."""

    version: int
    create: tuple[str, ...]
    # From a version to the next one. There is no way back: an older celld-py refuses the file.
    migrations: Mapping[int, tuple[str, ...]] = field(default_factory=dict)


def connect(path: str, durability: Durability, *, lock_wait_ms: int = LOCK_WAIT_MS) -> sqlite3.Connection:
    """Open an existing database for use by one thread at a time."""
    db = sqlite3.connect(
        f"file:{quote(path)}?mode=rw",  # `rw` without `c`: a missing file is never silently made anew
        uri=True,
        timeout=lock_wait_ms / 1000,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=64,
    )
    try:
        db.execute(f"PRAGMA synchronous = {synchronous(durability)}")
        db.execute("PRAGMA wal_autocheckpoint = 0")
        db.execute("PRAGMA cell_size_check = ON")
        db.execute("PRAGMA cache_size = -256")  # KiB; 256 open files at the default of 2 MB would be half a GB
    except BaseException:
        db.close()
        raise
    return db


def synchronous(durability: Durability) -> str:
    """SQLite's name for a durability mode."""
    return "FULL" if durability == "power" else "NORMAL"


def check(db: sqlite3.Connection, path: str, schema: Schema, *, thorough: bool) -> None:
    """Check a file that was just opened and bring it to the current schema, or raise `Corrupt` or `NewerStore`."""
    if thorough:
        (verdict,) = db.execute("PRAGMA quick_check(1)").fetchone()
        if verdict != "ok":
            raise Corrupt(verdict)
    (found,) = db.execute("PRAGMA user_version").fetchone()
    if found > schema.version:
        raise NewerStore(path, found, schema.version)
    if found < schema.version:
        migrate(db, path, schema, found)


def migrate(db: sqlite3.Connection, path: str, schema: Schema, found: int) -> None:
    """Run the migrations that a file lacks, all in one transaction."""
    db.execute("BEGIN IMMEDIATE")
    try:
        for version in range(found, schema.version):
            if version not in schema.migrations:
                raise Corrupt(f"schema version {found} was never in use")
            for statement in schema.migrations[version]:
                db.execute(statement)
        db.execute(f"PRAGMA user_version = {schema.version}")
        db.execute("COMMIT")
    except BaseException as error:
        roll_back(db)
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_ERROR:
            # More likely a fault of the migration than of every user's files: they stay where they are.
            raise StoreUnusable(path, f"the migration from schema version {found} failed ({error})") from error
        raise


def roll_back(db: sqlite3.Connection) -> None:
    """End a failed transaction; after some errors SQLite has already done so by itself."""
    if db.in_transaction:
        db.execute("ROLLBACK")


def was_left_open(path: str) -> bool:
    """Whether the last user of a file did not close it: a clean close removes the write-ahead log."""
    try:
        return os.stat(path + "-wal").st_size > 0
    except FileNotFoundError:
        return False


class Template:
    """Makes the bytes of new files of a schema, in memory; threads may share one.

    Writing the first rows through a connection to the file costs 1 to 2 ms, most of it for syncing the header of a log
    that nobody needs yet. In memory it takes 0.08 ms, and 0.26 with a connection of its own for each file.
    """

    def __init__(self, schema: Schema) -> None:
        self._turn = Lock()
        self._db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        for statement in schema.create:
            self._db.execute(statement)
        self._db.execute(f"PRAGMA user_version = {schema.version}")
        self._empty = self._db.serialize()

    def filled(self, fill: Callable[[sqlite3.Connection], None]) -> bytes:
        """The bytes of a file in WAL mode that holds what ``fill`` writes into an empty one."""
        with self._turn:
            self._db.deserialize(self._empty)
            self._db.execute("BEGIN")
            try:
                fill(self._db)
                self._db.execute("COMMIT")
            finally:
                roll_back(self._db)
            image = bytearray(self._db.serialize())
        image[18:20] = _WAL_VERSION
        return bytes(image)

    def close(self) -> None:
        """Give the memory back."""
        self._db.close()


def place(path: str, image: bytes, durability: Durability) -> None:
    """Put a file's bytes under its name, wholly or not at all."""
    # A log that a file of the same name left behind would be replayed into the new one.
    unlink(*(path + end for end in SIDE_FILES))
    draft = path + ".new"
    try:
        with open(draft, "wb") as file:
            file.write(image)
            if durability == "power":
                file.flush()
                os.fsync(file.fileno())
        os.rename(draft, path)
    except OSError:
        with suppress(OSError):
            os.unlink(draft)
        raise
    if durability == "power":
        sync_folder(os.path.dirname(path))


def sync_folder(path: str) -> None:
    """Make the names in a folder survive a loss of power."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def unlink(*paths: str) -> None:
    """Delete files, in this order; those that do not exist are as good as deleted."""
    for path in paths:
        with suppress(FileNotFoundError):
            os.unlink(path)


def set_aside(path: str) -> str:
    """Rename a damaged file and its log out of the way, and give its new name; `StoreUnusable` when that fails."""
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    moved = f"{path}.damaged-{stamp}"
    count = 1
    while os.path.exists(moved):
        count += 1
        moved = f"{path}.damaged-{stamp}-{count}"
    try:
        # The ends stay last, so that SQLite's own tools find the log of the renamed file. An empty log says nothing.
        if not was_left_open(path):
            unlink(*(path + end for end in SIDE_FILES))
        for end in ("", *SIDE_FILES):
            with suppress(FileNotFoundError):
                os.rename(path + end, moved + end)
    except OSError as error:
        raise StoreUnusable(path, f"it is damaged and cannot be renamed ({error.strerror})") from error
    return moved


def set_aside_before(path: str) -> str | None:
    """Where a damaged file of this name was moved to by an earlier call, if it was."""
    folder, name = os.path.split(path)
    found = sorted(str(file) for file in Path(folder).glob(f"{name}.damaged-*Z"))
    return found[-1] if found else None


def translated(error: sqlite3.Error | OSError, path: str) -> StoreError | Corrupt:
    """The store's own error for one of SQLite or of the system."""
    if isinstance(error, FileNotFoundError):
        return MissingJournal(path)
    if isinstance(error, OSError):
        return StoreFull(path) if _no_space(path) else StoreUnusable(path, str(error))
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:  # raised by Python's module itself, which gives a code only to errors of the library
        return Corrupt(str(error)) if "decode to UTF-8" in str(error) else StoreUnusable(path, str(error))
    match code & 0xFF:  # the low byte is the primary code
        case sqlite3.SQLITE_FULL:
            return StoreFull(path)
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED | sqlite3.SQLITE_PROTOCOL:
            return StoreBusy(path)
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return Corrupt(str(error))
        case sqlite3.SQLITE_CANTOPEN if not os.path.exists(path):
            return MissingJournal(path)
        case sqlite3.SQLITE_ERROR if "no such table" in str(error) or "no such column" in str(error):
            return Corrupt(str(error))
    # A log or its index that cannot be made or grow is reported as a general I/O error.
    return StoreFull(path) if _no_space(path) else StoreUnusable(path, str(error))


def _no_space(path: str) -> bool:
    try:
        disk = os.statvfs(os.path.dirname(path))
    except OSError:
        return False
    return disk.f_bavail == 0 or (disk.f_files > 0 and disk.f_favail == 0)
