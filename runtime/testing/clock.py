"""A clock that stands still until somebody moves it, and a way to know that the event loop has come to rest."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

from runtime.engine.durations import milliseconds, unknown_unit
from runtime.host.clock import Alarm, Clock

_resting: set[asyncio.AbstractEventLoop] = set()

NOW = 1_700_000_000_000  # ms since the epoch: when a clock that is told nothing else begins
MANY = 10_000  # alarms that ring at one moment


async def rest() -> None:
    """Come back when the event loop has nothing left to do but to wait for something outside of it."""
    loop = asyncio.get_running_loop()
    assert loop not in _resting, "two that wait for each other would never come back"
    _resting.add(loop)
    try:
        await asyncio.sleep(0)
        while loop._ready:  # type: ignore[attr-defined]  # noqa: ASYNC110 - asyncio has no public way to ask
            await asyncio.sleep(0)
    finally:
        _resting.discard(loop)


class VirtualClock(Clock):
    """Its alarms ring when `advance` reaches their time, in the order of their times; ``rest`` comes after each."""

    def __init__(self, now: int = NOW, rest: Callable[[], Awaitable[None]] = rest) -> None:
        super().__init__()
        self._now = now
        self.rest = rest
        self.alarms: list[VirtualAlarm] = []  # those that have neither rung nor been cancelled

    def now(self) -> int:
        """ms since the epoch."""
        return self._now + self.offset_ms

    def call_at(self, at: int, callback: Callable[[], None]) -> Alarm:
        """Call ``callback`` once, when time has been moved to ``at``."""
        return VirtualAlarm(self, at, callback)

    async def advance(self, ms: int) -> None:
        """Let time pass, and let everything come to rest after each alarm on the way."""
        end = self._now + ms
        rung = 0
        await self.rest()
        while (alarm := self._next(end)) is not None:
            rung = rung + 1 if alarm.at - self.offset_ms <= self._now else 0
            assert rung < MANY, "alarms ring again and again without time passing"
            self._now = max(self._now, alarm.at - self.offset_ms)
            alarm.ring()
            await self.rest()
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
        """Do not ring."""
        if self in self._clock.alarms:
            self._clock.alarms.remove(self)


def as_ms(duration: float | str | timedelta | None) -> int:
    """A duration in ms: a number of them, a text such as "7 days", or a timedelta."""
    ms = duration / timedelta(milliseconds=1) if isinstance(duration, timedelta) else milliseconds(duration)
    # Workflows takes None for 0 and "5 min" for 5 ms. A test that means that says it in ms.
    if duration is None or unknown_unit(duration) or not 0 <= ms < float("inf"):
        raise ValueError(f'{duration!r} is no duration; give ms, a timedelta, or a text like "7 days"')
    return round(ms)
