"""The moment after one side has said something to the other, in which its event loop comes round without sleeping.

What a step needs of either side takes some 0.2 ms. A processor that has gone to sleep meanwhile takes a good part of
that to wake up, on a virtual machine above all: on one with two processors, workflows of steps that wait for nothing
made half as many. It costs little, because what does not sleep need not be woken; and after an answer that was slow the
loop sleeps at once, until one was prompt again.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from contextvars import Context

LIMIT = 0.0005  # seconds


class BusyPoll:
    """Keeps a loop awake for at most `LIMIT` after `said`, until `heard`."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        *,
        context: Context | None = None,
        now: Callable[[], float] = time.perf_counter,
        processors: int | None = None,
    ) -> None:
        self._loop = loop
        self._context = context  # of what it schedules
        self._now = now
        self._possible = (processors or _processors()) > 1  # with one, the other side would wait for this one to sleep
        self._since: float | None = None  # when something was said that has not been answered
        self._prompt = True  # the last answer was
        self._polling = False

    def said(self) -> None:
        """An answer may come."""
        self._since = self._now()
        if self._possible and self._prompt and not self._polling:
            self._polling = True
            self._loop.call_soon(self._poll, context=self._context)

    def heard(self) -> None:
        """Something has come."""
        if self._since is not None:
            self._prompt = self._now() - self._since < LIMIT
            self._since = None

    def _poll(self) -> None:
        if self._since is not None and self._now() - self._since < LIMIT:
            self._loop.call_soon(self._poll, context=self._context)
        else:
            self._polling = False


def _processors() -> int:
    """How many this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS
        return os.cpu_count() or 1
