"""The floor under everything: what SQLite itself does on this machine at this moment."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

ROW = "x" * 120
GROUP = 100  # rows of one grouped commit

ONE = "one-row commits/s"
GROUPED = "grouped rows/s"


def measure(folder: Path, commits: int) -> dict[str, float]:
    """Commits of one row each, and rows in groups, into one file (WAL, synchronous=NORMAL)."""
    db = sqlite3.connect(folder / "raw.db", isolation_level=None)
    try:
        for pragma in ("journal_mode = WAL", "synchronous = NORMAL", "wal_autocheckpoint = 0"):
            db.execute(f"PRAGMA {pragma}").fetchall()
        db.execute("CREATE TABLE journal (seq INTEGER PRIMARY KEY, data TEXT NOT NULL)")
        return {ONE: commits / _timed(db, commits, 1), GROUPED: commits / _timed(db, commits, GROUP)}
    finally:
        db.close()


def _timed(db: sqlite3.Connection, rows: int, group: int) -> float:
    began = time.perf_counter()
    for first in range(0, rows, group):
        db.execute("BEGIN")
        for _ in range(min(group, rows - first)):
            db.execute("INSERT INTO journal (data) VALUES (?)", (ROW,))
        db.execute("COMMIT")
    return time.perf_counter() - began
