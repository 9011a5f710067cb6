"""Deletes instances whose retention is over, in the background."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from runtime.store.types import CatalogStore, Row

from .clock import Alarm, Clock
from .instances import Instances, NotFound

AT_ONCE = 8  # instances deleted side by side; others have the disk and the loop in between
RETRY = 60_000  # ms until what could not be deleted is tried again


class Sweeper:
    """One alarm for all finished instances: 100,000 of them cost disk and this."""

    def __init__(
        self, clock: Clock, catalog: CatalogStore, instances: Instances, failed: Callable[[Row | None, Exception], None]
    ) -> None:
        self._clock = clock
        self._catalog = catalog
        self._instances = instances
        self._failed = failed
        self._alarm: Alarm | None = None
        self._rung = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._closing = False
        self._unfinished: list[Row] = []  # rows that may be half-deleted: `expired` does not give those
        instances.on_ended = self._ended

    def start(self) -> None:
        """Begin to watch the time."""
        self._task = asyncio.create_task(self._watch())

    async def close(self) -> None:
        """Delete nothing any more, but finish what is begun."""
        self._closing = True
        if self._alarm is not None:
            self._alarm.cancel()
        if self._task is not None:
            self._rung.set()
            await asyncio.wait([self._task])

    def _ended(self, expires_at: int | None) -> None:
        """An instance was put away, and expires at this time if it has ended."""
        if self._task is not None:
            self._look_at(expires_at)

    def _look_at(self, at: int | None) -> None:
        if at is None or self._closing or (self._alarm is not None and self._alarm.at <= at):
            return
        if self._alarm is not None:
            self._alarm.cancel()
        self._alarm = self._clock.call_at(at, self._ring)

    def _ring(self) -> None:
        self._alarm = None
        self._rung.set()

    async def _watch(self) -> None:
        while not self._closing:
            self._rung.clear()
            try:
                again = await self._sweep()
            except Exception as error:
                # Were this task to end, nothing would expire any more.
                self._failed(None, error)
                again = self._clock.now() + RETRY
            self._look_at(again)
            await self._rung.wait()

    async def _sweep(self) -> int | None:
        """Delete all that has expired; gives the time of the next look."""
        rows, self._unfinished = self._unfinished, []
        while not self._closing and (rows or (rows := await self._catalog.expired(self._clock.now(), AT_ONCE))):
            await asyncio.gather(*map(self._delete, rows))
            rows = []
            if self._unfinished:
                return self._clock.now() + RETRY
        return await self._catalog.next_expiry()

    async def _delete(self, row: Row) -> None:
        try:
            await self._instances.expire(row.key)
        except NotFound:
            pass  # it was deleted or restarted meanwhile
        except Exception as error:
            self._failed(row, error)
            self._unfinished.append(row)
