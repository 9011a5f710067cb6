"""The catalog: one row per instance, for listing, for wake-ups, and for what start-up has to repair.

The journals are the truth. A row is marked dirty before the first write of an activation and clean again when it has
been brought up to its journal, so after an unclean stop only dirty rows need their journals opened.
"""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
from collections.abc import Collection, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import aiosqlite

from runtime.faults import fault
from runtime.store import catalog_sql as sql
from runtime.store import sqlite
from runtime.store.errors import DamagedCatalog
from runtime.store.groups import WriteGroups
from runtime.store.sqlite import Corrupt
from runtime.store.types import Durability, Key, NewRow, Row, Rows


class Catalog:
    """The catalog of one state folder; one connection, whose writes are committed in groups."""

    def __init__(self, path: str, db: aiosqlite.Connection) -> None:
        self.path = path
        self._db = db
        self._writes = WriteGroups(path, db)

    @classmethod
    async def open(cls, path: Path, durability: Durability = "process") -> Catalog:
        """Open the catalog, or make it where there is none; a damaged one is set aside and reported."""
        name = os.fspath(path)
        await asyncio.to_thread(_prepare, name, durability)
        db = await aiosqlite.connect(name, isolation_level=None, timeout=sqlite.LOCK_WAIT_MS / 1000)
        await db.execute(f"PRAGMA synchronous = {sqlite.synchronous(durability)}")
        return cls(name, db)

    async def create(self, rows: Sequence[NewRow]) -> set[Key]:
        """Add rows in state ``creating``, dirty; gives the keys that existed already and were left alone."""
        keys = [row.key for row in rows]
        assert len(set(keys)) == len(keys), "one call creates each id once"
        values = json.dumps([[*row.key, row.class_name, row.status, row.created] for row in rows])
        made = await self._writes.fetch(sql.CREATE, (values,))
        fault("catalog.after_creating")
        return set(keys) - {Key(*row) for row in made}

    async def confirm(self, keys: Collection[Key]) -> None:
        """Make created rows ``live``: their journals exist."""
        await self._writes.run(sql.CONFIRM, *keys)

    async def mark_dirty(self, key: Key) -> None:
        """Say, before the first write of an activation, that the row may soon be behind its journal."""
        await self._writes.run(sql.DIRTY, key)

    async def note(self, key: Key, *, status: str, updated: int, started: int | None) -> None:
        """Say what an active instance does, for lists; the row stays dirty."""
        await self._writes.run(sql.NOTE, (status, updated, started, *key))

    async def settle(
        self,
        key: Key,
        *,
        status: str,
        wake_at: int | None,
        updated: int,
        started: int | None,
        ended: int | None,
        expires_at: int | None = None,
    ) -> None:
        """Bring the row up to its journal: it is clean, and wakes or expires at the given time."""
        await self._writes.run(sql.SETTLE, (status, updated, started, ended, wake_at, expires_at, *key))

    async def begin_delete(self, keys: Collection[Key]) -> None:
        """Say that the journals of these rows are about to be removed."""
        await self._writes.run(sql.BEGIN_DELETE, *keys)
        fault("catalog.after_deleting")

    async def begin_expiry(self, key: Key, now: int) -> bool:
        """Begin to delete an instance, if it has expired and nothing has happened to it since; or go on deleting it."""
        begun = await self._writes.fetch(sql.BEGIN_EXPIRY, (*key, now))
        fault("catalog.after_deleting")
        return bool(begun)

    async def end_delete(self, keys: Collection[Key]) -> None:
        """Forget rows whose journals are gone, or were never made; their ids are free again."""
        await self._writes.run(sql.END_DELETE, *keys)

    async def restore(self, rows: Sequence[Row]) -> None:
        """Put rows into an empty catalog, as `rebuild` found them."""
        await self._writes.run(
            sql.RESTORE, *(tuple(getattr(row, name) for name in sql.COLUMNS.split(", ")) for row in rows)
        )

    async def get(self, key: Key) -> Row | None:
        """The row of one instance, in whatever state."""
        rows = await self._rows(sql.GET, *key)
        return rows[0] if rows else None

    async def list(
        self,
        workflow: str | None = None,
        *,
        status: str | None = None,
        limit: int = 100,
        after: int | None = None,
    ) -> Rows:
        """Live rows, newest first; ``after`` is the ``position`` of the last row of the page before."""
        wanted = {"workflow = ?": workflow, "status = ?": status, "position < ?": after}
        conditions = {text: value for text, value in wanted.items() if value is not None}
        where = " AND ".join(["state = 'live'", *conditions])
        return await self._rows(
            f"{sql.SELECT} WHERE {where} ORDER BY position DESC LIMIT ?", *conditions.values(), limit
        )

    async def counts(self) -> dict[str, dict[str, int]]:
        """How many live instances each workflow has in each status."""
        found: dict[str, dict[str, int]] = {}
        for workflow, status, count in await self._writes.read(sql.COUNTS):
            found.setdefault(workflow, {})[status] = count
        return found

    async def dirty_rows(self) -> Rows:
        """Live rows that may be behind their journals, oldest first."""
        return await self._rows(sql.DIRTY_ROWS)

    async def half_done(self) -> Rows:
        """Rows whose creation or deletion did not end, oldest first."""
        return await self._rows(sql.HALF_DONE)

    async def due(self, now: int, limit: int) -> Rows:
        """Clean rows whose wake-up time has come, the longest overdue first."""
        return await self._rows(sql.DUE, now, limit)

    async def next_wake(self) -> int | None:
        """The earliest wake-up time of all clean rows."""
        ((time,),) = await self._writes.read(sql.NEXT_WAKE)
        return None if time is None else int(time)

    async def expired(self, now: int, limit: int) -> Rows:
        """Clean rows whose retention is over, the longest expired first."""
        return await self._rows(sql.EXPIRED, now, limit)

    async def count_expired(self, now: int) -> int:
        """How many rows `expired` would give without a limit."""
        ((count,),) = await self._writes.read(sql.COUNT_EXPIRED, (now,))
        return int(count)

    async def next_expiry(self) -> int | None:
        """The earliest time at which a clean row expires."""
        ((time,),) = await self._writes.read(sql.NEXT_EXPIRY)
        return None if time is None else int(time)

    async def get_meta(self, name: str) -> str | None:
        """A value kept with the catalog, such as the clock's offset."""
        found = await self._writes.read(sql.GET_META, (name,))
        return str(found[0][0]) if found else None

    async def set_meta(self, name: str, value: str) -> None:
        """Keep a value with the catalog."""
        await self._writes.run(sql.SET_META, (name, value))

    async def close(self) -> None:
        """Commit what waits, and close."""
        await self._writes.close()

    async def _rows(self, query: str, *values: Any) -> Rows:
        return [_row(found) for found in await self._writes.read(query, values)]


def _row(found: sqlite3.Row) -> Row:
    values = dict(zip(sql.COLUMNS.split(", "), found, strict=True))
    return Row(**{**values, "dirty": bool(values["dirty"])})


def _prepare(path: str, durability: Durability) -> None:
    """Make, check and migrate the file before it is opened for good; blocking."""
    try:
        if not os.path.exists(path):
            with closing(sqlite.Template(sql.SCHEMA)) as template:
                sqlite.place(path, template.filled(lambda db: None), durability)
        thorough = sqlite.was_left_open(path)
        db = sqlite.connect(path, durability)
        try:
            sqlite.check(db, path, sql.SCHEMA, thorough=thorough)
            db.execute(sql.SELECT + "LIMIT 1").fetchall()
        finally:
            db.close()
    except (Corrupt, sqlite3.Error, OSError) as error:
        known = error if isinstance(error, Corrupt) else sqlite.translated(error, path)
        if isinstance(known, Corrupt):
            known = DamagedCatalog(path, sqlite.set_aside(path), str(known))
        raise known from error
