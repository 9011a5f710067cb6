"""One life of the host process under test: a thread of its own with an event loop, until it is closed or stands still.

The loop belongs to the session alone, so a test may be asynchronous itself, or not.
"""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any, TypeVar

from .errors import WorkerTestError
from .host import Host
from .kept import Trace

T = TypeVar("T")

FAREWELL = 1.0  # seconds that cancelled user code has for its own clean-up

CLOSING = 10.0  # seconds that the end may take

_left: list[object] = []  # what must not be collected: that would run the code of those that stand still


class Died(Exception):
    """The life came to a standstill before an answer was there."""


class Life:
    """A thread in which a host lives."""

    def __init__(self, make: Callable[[], Host], trace: Trace | None) -> None:
        self.host: Host
        self._make = make
        self._trace = trace
        self._loop = asyncio.SelectorEventLoop()  # the shim reads the queues of asyncio's own loop
        self._frozen: Future[None] = Future()
        self._ready: Future[None] = Future()
        self._thread = threading.Thread(target=self._live, name="worker under test", daemon=True)

    def begin(self) -> None:
        """Start; raises what keeps the host from it."""
        self._thread.start()
        self._ready.result()

    def _live(self) -> None:
        if self._trace is not None:
            sys.settrace(self._trace)
        try:
            self._loop.run_until_complete(self._begin())
        except BaseException as error:
            self._end()
            self._ready.set_exception(error)
            return
        self._ready.set_result(None)
        self._loop.run_forever()
        self._end()

    async def _begin(self) -> None:
        self.host = self._make()
        await self.host.begin()

    def call(self, work: Callable[[], Awaitable[T]]) -> T:
        """Do something in the thread and wait for what it gives; `Died` when the life ends meanwhile."""

        async def act() -> T:
            return await work()

        future = asyncio.run_coroutine_threadsafe(act(), self._loop)
        either: list[Future[Any]] = [future, self._frozen]
        wait(either, return_when=FIRST_COMPLETED)
        if self._frozen.done() and not future.done():
            self._close_descriptors()
            raise Died
        return future.result()

    # -------------------------------------------------------------------------------------------------------- end

    def freeze(self) -> None:
        """Let everything stop in the middle of whatever it does, as a killed process does."""
        self._loop.call_soon_threadsafe(self.stand_still)
        self._frozen.result()
        self._close_descriptors()

    def stand_still(self) -> None:
        """Stop here, in this thread, for ever: no ``finally`` of user code runs, and no callback comes back."""
        _left.append((self, asyncio.all_tasks(self._loop)))
        self._frozen.set_result(None)
        threading.Event().wait()

    def _close_descriptors(self) -> None:
        """Those of a loop that never goes on are of no more use."""
        loop: Any = self._loop
        loop._selector.close()
        for end in (loop._ssock, loop._csock):
            end.close()

    def close(self) -> None:
        """End in an orderly way. A thread that user code does not give back is left behind."""
        ended = asyncio.run_coroutine_threadsafe(self.host.end(), self._loop)
        try:
            ended.result(CLOSING)
        except TimeoutError:
            _left.append(self)
            raise WorkerTestError(
                f"The Worker's code did not give its thread back within {CLOSING:g} seconds; it is left running."
            ) from None
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _end(self) -> None:
        """Cancel what is left. Code that does not end is left behind as it is."""
        loop: Any = self._loop
        tasks = asyncio.all_tasks(loop)
        for task in tasks:
            task.cancel()
        if tasks:
            _, deaf = loop.run_until_complete(asyncio.wait(tasks, timeout=FAREWELL))
            if deaf:
                _left.append((self, deaf))
        loop.run_until_complete(loop.shutdown_asyncgens())
        if loop._default_executor is not None:
            loop._default_executor.shutdown(wait=False, cancel_futures=True)
        loop.close()
