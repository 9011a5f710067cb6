"""A clock that stands still until a test moves it, and a way to know that the event loop has come to rest."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from runtime.host.clock import Alarm, Clock

_resting: set[asyncio.AbstractEventLoop] = set()

NOW = 1_700_000_000_000  # ms since the epoch: when every test begins
MANY = 10_000  # alarms that ring at one moment


async def rest() -> None:
    """Come back when the event loop has nothing left to do but to wait for something outside of it."""
    loop = asyncio.get_running_loop()
    assert loop not in _resting, "two that wait for each other would never come back"
    _resting.add(loop)
    try:
        await asyncio.sleep(0)
        while loop._ready:  # type: ignore[attr-defined]  # asyncio has no public way to ask
            await asyncio.sleep(0)
    finally:
        _resting.discard(loop)


class VirtualClock(Clock):
    """Its alarms ring when `advance` reaches their time, in the order of their times."""

    def __init__(self, now: int = NOW) -> None:
        super().__init__()
        self._now = now
        self.alarms: list[VirtualAlarm] = []  # those that have neither rung nor been cancelled

    def now(self) -> int:
        return self._now + self.offset_ms

    def call_at(self, at: int, callback: Callable[[], None]) -> Alarm:
        return VirtualAlarm(self, at, callback)

    async def advance(self, ms: int) -> None:
        """Let time pass, and let everything come to rest after each alarm on the way."""
        end = self._now + ms
        rung = 0
        await rest()
        while (alarm := self._next(end)) is not None:
            rung = rung + 1 if alarm.at - self.offset_ms <= self._now else 0
            assert rung < MANY, "alarms ring again and again without time passing"
            self._now = max(self._now, alarm.at - self.offset_ms)
            alarm.ring()
            await rest()
        self._now = end

    def _next(self, end: int) -> VirtualAlarm | None:
        due = [alarm for alarm in self.alarms if alarm.at - self.offset_ms <= end]
        return min(due, key=lambda alarm: alarm.at, default=None)


class VirtualAlarm(Alarm):
    """An alarm of a `VirtualClock`."""

    _clock: VirtualClock

    def _arm(self) -> None:
        self._clock.alarms.append(self)

    def ring(self) -> None:
        """Its time has come."""
        self._clock.alarms.remove(self)
        self._callback()

    def cancel(self) -> None:
        if self in self._clock.alarms:
            self._clock.alarms.remove(self)
