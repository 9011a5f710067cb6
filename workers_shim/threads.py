"""A few daemon threads for calls that block.

The standard library's pool is not used: it joins its threads when the interpreter ends, so a server that never
answers would keep an isolate alive.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from typing import Any, TypeVar, TypeVarTuple

T = TypeVar("T")
Ts = TypeVarTuple("Ts")
_IDLE_SECONDS = 10.0

Job = tuple[Callable[[], Any], "asyncio.Future[Any]", asyncio.AbstractEventLoop]


class Threads:
    """At most ``limit`` threads, started when needed and ended when idle."""

    def __init__(self, limit: int, name: str) -> None:
        self._limit, self._name = limit, name
        self._jobs: deque[Job] = deque()
        self._work = threading.Condition()
        self._count = self._idle = 0

    async def run(self, function: Callable[[*Ts], T], *args: *Ts) -> T:
        """Call the function in a thread. A call that is given up still runs to its end, unheard."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        with self._work:
            self._jobs.append((lambda: function(*args), future, loop))
            if self._idle >= len(self._jobs):
                self._work.notify()
            elif self._count < self._limit:
                self._count += 1
                threading.Thread(target=self._serve, name=self._name, daemon=True).start()
        return await future

    def _serve(self) -> None:
        while (job := self._take()) is not None:
            call, future, loop = job
            try:
                result, error = call(), None
            except BaseException as raised:
                result, error = None, raised
            try:
                loop.call_soon_threadsafe(_settle, future, result, error)
            except RuntimeError:
                return  # the loop is closed: nobody is left to hear it
            del call, future, loop, job, result, error

    def _take(self) -> Job | None:
        with self._work:
            self._idle += 1
            try:
                if not self._jobs and not self._work.wait_for(lambda: self._jobs, _IDLE_SECONDS):
                    self._count -= 1
                    return None
                return self._jobs.popleft()
            finally:
                self._idle -= 1


def _settle(future: asyncio.Future[Any], result: Any, error: BaseException | None) -> None:
    if future.done():
        return  # given up meanwhile
    if error is None:
        future.set_result(result)
    else:
        future.set_exception(error)
