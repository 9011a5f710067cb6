"""When workerd is asked to collect its garbage.

A run, and a request too, holds memory outside of V8's heap: sockets, pipes, buffers. It comes back when V8 collects the
small objects that refer to it, and V8 sees no reason to: after 3,000 runs workerd had 280 MB, and never gave them back.
Asked now and then it stays at 120 MB.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

EVERY = 64  # ended runs and requests
QUIET = 1.0  # seconds after which fewer are worth it
SHARE = 50  # times as long as a collection took (5 ms with little code) is a pause: 2 % of the time, whatever the heap


class Garbage:
    """Counts what leaves garbage behind, and calls ``collect`` for it."""

    def __init__(
        self, collect: Callable[[], Awaitable[object]], spawn: Callable[[Coroutine[Any, Any, None]], None]
    ) -> None:
        self._collect = collect
        self._spawn = spawn
        self._loop = asyncio.get_running_loop()
        self._left = 0  # of what has not been collected
        self._timer: asyncio.TimerHandle | None = None
        self._running = self._stopped = False
        self._not_before = 0.0

    def left(self) -> None:
        """Something has ended."""
        self._left += 1
        if self._running:
            return
        if self._left >= EVERY and self._loop.time() >= self._not_before:
            self._begin()
        else:
            self._wait()

    def stop(self) -> None:
        """The isolate is gone."""
        self._running = self._stopped = True
        self._cancel()

    def _cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _begin(self) -> None:
        self._cancel()
        self._running, self._left = True, 0
        self._spawn(self._run())

    async def _run(self) -> None:
        began = self._loop.time()
        with contextlib.suppress(ConnectionError):  # then the process is gone, or about to be
            await self._collect()
        ended = self._loop.time()
        self._not_before = ended + SHARE * (ended - began)
        if not self._stopped:
            self._running = False
            self._wait()

    def _wait(self) -> None:
        if self._left and self._timer is None:
            self._timer = self._loop.call_at(max(self._loop.time() + QUIET, self._not_before), self._begin)
