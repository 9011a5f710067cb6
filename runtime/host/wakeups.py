"""One timer for all sleepers: 100,000 of them cost disk and this."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from runtime.engine import commands as cmd
from runtime.faults import fault
from runtime.store.types import CatalogStore, Key, Row

from .clock import Alarm, Clock
from .instances import Instances, NotFound

RETRY = 5_000  # ms until those who could not be woken are tried again
WOKEN_AT_ONCE = 32  # instances opened side by side when many come due at once


class Wakeups:
    """Wakes hibernated instances when their time comes, the longest overdue first."""

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
        instances.on_settled = self._settled

    def start(self) -> None:
        """Begin to watch the time."""
        self._task = asyncio.create_task(self._watch())
        self._rung.set()

    async def close(self) -> None:
        """Wake nobody any more."""
        if self._alarm is not None:
            self._alarm.cancel()
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    def _settled(self, wake_at: int | None) -> None:
        """An instance went to sleep."""
        if wake_at is not None and (self._alarm is None or wake_at < self._alarm.at):
            self._arm(wake_at)

    def _arm(self, at: int) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
        self._alarm = self._clock.call_at(at, self._ring)

    def _ring(self) -> None:
        self._alarm = None
        self._rung.set()

    async def _watch(self) -> None:
        while True:
            await self._rung.wait()
            self._rung.clear()
            try:
                wake_at = await self._wake_all()
            except Exception as error:
                # Were this task to end, nobody would wake any more.
                self._failed(None, error)
                wake_at = self._clock.now() + RETRY
            if wake_at is not None and (self._alarm is None or wake_at < self._alarm.at):
                self._arm(wake_at)

    async def _wake_all(self) -> int | None:
        """Wake all who are due; gives the time of the next look."""
        asleep: set[Key] = set()
        while rows := await self._catalog.due(self._clock.now(), WOKEN_AT_ONCE):
            if asleep.issuperset(row.key for row in rows):
                return self._clock.now() + RETRY
            woken = await asyncio.gather(*map(self._wake, rows))
            asleep.update(row.key for row, awake in zip(rows, woken, strict=True) if not awake)
        return await self._catalog.next_wake()

    async def _wake(self, row: Row) -> bool:
        """The instance's due sleep or wait ends; if code is to run now, it gets or queues for a place.

        False when it could not be woken; if its row could not even be marked dirty, as on a full disk, it stays due.
        """
        fault("wake.before_command")
        try:
            await self._instances.ask(row.key, cmd.TimerDue(run=False))
        except NotFound:
            pass  # deleted while it was being woken
        except Exception as error:
            self._failed(row, error)
            return False
        return True
