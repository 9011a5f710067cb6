"""The runs that live in this isolate."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from workers_shim.rest import busy
from workers_shim.run import Run, broken
from workers_shim.scope import NEUTRAL, Scope
from workers_shim.wire.messages import Release, Start

Send = Callable[[Mapping[str, Any]], None]

FAREWELL = 1.0  # seconds that a released run's code has for its own clean-up before it is called deaf
LOOK = 0.02


class Runs:
    """All runs by number."""

    def __init__(self, send: Send, loop: asyncio.AbstractEventLoop) -> None:
        self._send = send
        self._loop: Any = loop
        self._runs: dict[int, Run] = {}

    def start(self, message: Start, entrypoint: type[Any], ctx: Any) -> None:
        """Run an instance from the top."""
        run = self._runs[message["run"]] = Run(message, self._send, self._loop)
        run.begin(entrypoint, ctx)

    def get(self, number: int) -> Run | None:
        """A run, unless it was released; the host may not know yet."""
        return self._runs.get(number)

    def all(self) -> list[Run]:
        """The runs that were not released."""
        return list(self._runs.values())

    def muted(self, number: int) -> bool:
        """Whether a run's output outside steps is the echo of a replay."""
        run = self._runs.get(number)
        return run is not None and (run.replay.muted or run.undoing)

    def fail(self, number: int, error: Exception) -> None:
        """End a run that the isolate cannot serve; all others go on."""
        run = self._runs.get(number)
        if run is not None:
            run.fail(error)
        else:
            self._send(broken(number, error, self._send))

    def release(self, message: Release) -> None:
        """Drop a run, and say so when nothing of it is left."""
        run = self._runs.pop(message["run"], None)
        if run is None:
            self._send({"t": "released", "run": message["run"]})
            return
        run.release()
        self._loop.call_soon(self._farewell, run, self._loop.time() + FAREWELL, context=NEUTRAL)

    def _farewell(self, run: Run, until: float) -> None:
        def mine(scope: Scope) -> bool:
            return scope.run is run

        alive = any(not task.done() for task in run.tasks)
        if not alive:
            self._send({"t": "released", "run": run.number})
        elif busy(self._loop, mine) and self._loop.time() < until:
            self._loop.call_soon(self._farewell, run, until, context=NEUTRAL)
        elif self._loop.time() < until:
            self._loop.call_later(LOOK, self._farewell, run, until, context=NEUTRAL)
        else:
            self._send({"t": "released", "run": run.number, "deaf": True})
