"""Writes of one connection, committed in groups: whatever waits when a commit ends goes into the next one.

At the price of one commit each, a thousand creates asked for at once would take a thousand commits; grouped they take
a few, and a single write still needs only one trip to the connection's thread.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import aiosqlite

from runtime.faults import fault
from runtime.store import sqlite
from runtime.store.errors import DamagedCatalog, StoreError
from runtime.store.sqlite import Corrupt

Values = Sequence[Any]


@dataclass(slots=True)
class _Write:
    statement: str
    values: list[Values]  # one execution each; exactly one when rows are wanted
    fetches: bool
    future: asyncio.Future[list[sqlite3.Row]]


class WriteGroups:
    """Commits the writes of a connection in groups, and keeps its reads apart from them."""

    def __init__(self, path: str, db: aiosqlite.Connection) -> None:
        self._path = path
        self._db = db
        self._waiting: list[_Write] = []
        self._drain: asyncio.Task[None] | None = None
        self._lock = asyncio.Lock()  # a read between two statements of a group would see what is not committed yet
        self._broken: StoreError | None = None

    async def run(self, statement: str, *values: Values) -> None:
        """Execute a statement once for each of the values, and return when that is committed."""
        if values:
            await self._put(statement, list(values), fetches=False)

    async def fetch(self, statement: str, values: Values) -> list[sqlite3.Row]:
        """Execute a statement that gives rows, and return them when it is committed."""
        return await self._put(statement, [values], fetches=True)

    async def read(self, query: str, values: Values = ()) -> list[sqlite3.Row]:
        """Run a query between two commits."""
        async with self._lock:
            try:
                await self._roll_back()
                return list(await self._db.execute_fetchall(query, values))
            except sqlite3.Error as error:
                raise self._known(error) from error

    async def close(self) -> None:
        """Commit what waits, and close the connection."""
        if self._drain is not None:
            await self._drain
        await self._db.close()

    def _put(self, statement: str, values: list[Values], *, fetches: bool) -> asyncio.Future[list[sqlite3.Row]]:
        loop = asyncio.get_running_loop()
        write = _Write(statement, values, fetches, loop.create_future())
        self._waiting.append(write)
        if self._drain is None:
            self._drain = loop.create_task(self._commit_all())
        return write.future

    async def _commit_all(self) -> None:
        group: list[_Write] = []
        try:
            while self._waiting:
                group, self._waiting = self._waiting, []
                async with self._lock:
                    await self._commit(group)
        except Exception as error:  # undoing has failed as well: what waits hears of it, what comes later tries anew
            group, self._waiting = group + self._waiting, []
            _fail(group, self._known(error))
        finally:
            self._drain = None

    async def _commit(self, group: list[_Write]) -> None:
        try:
            await self._roll_back()
            fault("catalog.before_commit")
            found = await self._in_one_transaction(group)
            fault("catalog.after_commit")
        except (ValueError, OverflowError) as error:  # a value that SQLite cannot keep
            await self._roll_back()
            await self._commit_one_by_one(group, error)
            return
        except Exception as error:
            await self._roll_back()
            _fail(group, self._known(error))
            return
        for write, rows in zip(group, found, strict=True):
            if not write.future.done():
                write.future.set_result(rows)

    async def _commit_one_by_one(self, group: list[_Write], error: Exception) -> None:
        """Let only the write fail that is to blame."""
        if len(group) > 1:
            for write in group:
                await self._commit([write])
        else:
            _fail(group, error)

    async def _in_one_transaction(self, group: list[_Write]) -> list[list[sqlite3.Row]]:
        if len(group) == 1 and len(group[0].values) == 1:  # one statement is a transaction by itself
            return [list(await self._db.execute_fetchall(group[0].statement, group[0].values[0]))]
        await self._db.execute("BEGIN IMMEDIATE")
        found = [rows for run in _runs(group) for rows in await self._execute(run)]
        await self._db.execute("COMMIT")
        return found

    async def _execute(self, run: list[_Write]) -> list[list[sqlite3.Row]]:
        if run[0].fetches:
            return [list(await self._db.execute_fetchall(run[0].statement, run[0].values[0]))]
        await self._db.executemany(run[0].statement, [values for write in run for values in write.values])
        return [[] for _ in run]

    async def _roll_back(self) -> None:
        """End what a failed group left open; asked for before the next use too, as it may have failed by itself."""
        if self._db.in_transaction:
            await self._db.execute("ROLLBACK")

    def _known(self, error: Exception) -> Exception:
        """The error to tell: one of SQLite in the store's words."""
        if self._broken is not None or not isinstance(error, sqlite3.Error):
            return self._broken or error
        known = sqlite.translated(error, self._path)
        if not isinstance(known, Corrupt):
            return known
        # Set aside now, while it is known to be damaged: the next start finds no catalog and rebuilds it.
        try:
            self._broken = DamagedCatalog(self._path, sqlite.set_aside(self._path), str(known))
        except StoreError as unmoved:
            return unmoved
        return self._broken


def _fail(group: Iterable[_Write], error: Exception) -> None:
    for write in group:
        if not write.future.done():
            write.future.set_exception(error)


def _runs(group: Iterable[_Write]) -> list[list[_Write]]:
    """Neighbours with the same statement, which one trip to the thread can execute."""
    runs: list[list[_Write]] = []
    for write in group:
        if runs and not write.fetches and runs[-1][0].statement == write.statement:
            runs[-1].append(write)
        else:
            runs.append([write])
    return runs
