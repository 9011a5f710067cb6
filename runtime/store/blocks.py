"""The bytes of streams, in blocks beside the lines of a journal.

Few instances return a stream, so the table is made with an instance's first block: a file without one stays as it is,
and a file of an earlier celld-py needs no migration.
"""

from __future__ import annotations

import sqlite3
import zlib

from runtime.store.sqlite import Corrupt
from runtime.store.types import Stream

_TABLE = """CREATE TABLE IF NOT EXISTS blocks (
    step INTEGER NOT NULL, attempt INTEGER NOT NULL, number INTEGER NOT NULL, data BLOB NOT NULL,
    sum INTEGER NOT NULL, -- CRC-32 of the numbers, joined by line feeds and with one behind them, and of the data
    PRIMARY KEY (step, attempt, number)
)"""


def has_table(db: sqlite3.Connection) -> bool:
    """Whether the file has ever held a block."""
    return db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'blocks'").fetchone() is not None


def put(db: sqlite3.Connection, stream: Stream, number: int, data: bytes, *, new_table: bool) -> None:
    """Commit one block."""
    db.execute("BEGIN IMMEDIATE")
    if new_table:
        db.execute(_TABLE)
    row = (*stream, number, data, _checksum(stream, number, data))
    db.execute("INSERT INTO blocks VALUES (?, ?, ?, ?, ?)", row)
    db.execute("COMMIT")


def read(db: sqlite3.Connection, stream: Stream, number: int) -> bytes | None:
    """One block, verified; None when there is none of this number."""
    query = "SELECT data, sum FROM blocks WHERE step = ? AND attempt = ? AND number = ?"
    row = db.execute(query, (*stream, number)).fetchone()
    if row is None:
        return None
    data: bytes = row[0]
    if _checksum(stream, number, data) != row[1]:
        raise Corrupt(f"block {number} of step {stream.step} does not match its checksum")
    return data


def streams(db: sqlite3.Connection) -> set[Stream]:
    """All streams of which there is a block."""
    return {Stream(*row) for row in db.execute("SELECT DISTINCT step, attempt FROM blocks")}


def drop(db: sqlite3.Connection, stream: Stream) -> None:
    """Delete all blocks of a stream."""
    # Some systems build SQLite to overwrite what is deleted, and with that 1 GiB less is 1 GiB more in the log.
    db.execute("PRAGMA secure_delete = FAST")
    db.execute("DELETE FROM blocks WHERE step = ? AND attempt = ?", stream)


def _checksum(stream: Stream, number: int, data: bytes) -> int:
    return zlib.crc32(data, zlib.crc32(f"{stream.step}\n{stream.attempt}\n{number}\n".encode()))
