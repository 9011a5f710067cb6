"""The one clock of the host: all durable time flows from it (I11)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

MAX_NAP = 10.0  # seconds; timers are armed anew at least this often, so that a suspend delays none for longer

# CLOCK_BOOTTIME counts through a suspend of the machine, which CLOCK_MONOTONIC does not (clock_gettime(2)).
_BOOTTIME = getattr(time, "CLOCK_BOOTTIME", None)


def _steady_ns() -> int:
    return time.monotonic_ns() if _BOOTTIME is None else time.clock_gettime_ns(_BOOTTIME)


class Clock:
    """Wall time at start plus a clock that only moves forward, plus the user's offset.

    A jump of the wall clock while the host runs neither loses nor doubles a wake-up.
    """

    def __init__(self, offset_ms: int = 0) -> None:
        self._start = time.time_ns() - _steady_ns()
        self.offset_ms = offset_ms

    def now(self) -> int:
        """ms since the epoch."""
        return (self._start + _steady_ns()) // 1_000_000 + self.offset_ms

    def call_at(self, at: int, callback: Callable[[], None]) -> Alarm:
        """Call ``callback`` once, not before ``at`` (ms since the epoch); must be called on the event loop."""
        return Alarm(self, at, callback)


class Alarm:
    """A timer on a `Clock`."""

    def __init__(self, clock: Clock, at: int, callback: Callable[[], None]) -> None:
        self.at = at
        self._clock = clock
        self._callback = callback
        self._loop = asyncio.get_running_loop()
        self._arm()

    def _arm(self) -> None:
        left = (self.at - self._clock.now()) / 1000
        self._handle = self._loop.call_later(min(max(left, 0), MAX_NAP), self._ring)

    def _ring(self) -> None:
        if self._clock.now() < self.at:
            self._arm()
        else:
            self._callback()

    def cancel(self) -> None:
        """Do not ring."""
        self._handle.cancel()
