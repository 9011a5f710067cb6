"""Code that does not give the isolate's one thread back: found, named, and ended when it must be."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from workers_shim.wire.messages import Pulse

from .clock import Clock
from .isolates import Isolates, Loaded
from .run import Run
from .runs import Runs

LOOK = 1.0  # seconds between two looks at an isolate that has work
UNHEARD = 1.0  # seconds that a given-up or ended attempt may still block
OUTSIDE = 30.0  # seconds that code outside steps may block


class StuckWatch:
    """Asks each busy isolate for its pulse, and kills one whose code blocks after it has been given up."""

    def __init__(
        self,
        isolates: Isolates,
        runs: Runs,
        clock: Clock,
        *,
        has_requests: Callable[[], bool],
        printed: Callable[[Sequence[Mapping[str, Any]]], None],
        report: Callable[[Loaded, str], None],
    ) -> None:
        self._isolates = isolates
        self._runs = runs
        self._clock = clock
        self._has_requests = has_requests
        self._printed = printed
        self._report = report
        self._silent: dict[int, float] = {}
        self._look_now = asyncio.Event()

    def look_now(self, run: Run) -> None:
        """An attempt was given up: see at once whether its code has stopped."""
        self._look_now.set()

    async def watch(self) -> None:
        """Look again and again, for as long as the host runs."""
        while True:
            self._look_now.clear()
            try:
                async with asyncio.timeout(LOOK):
                    await self._look_now.wait()
            except TimeoutError:
                pass
            for loaded in list(self._isolates.current.values()):
                if loaded is not None and self._has_work(loaded):
                    await self._look(loaded)

    def _has_work(self, loaded: Loaded) -> bool:
        return self._runs.busy(loaded.isolate) if loaded.role == "work" else self._has_requests()

    async def _look(self, loaded: Loaded) -> None:
        pulse = await loaded.isolate.pulse()
        if self._isolates.current[loaded.role] is not loaded:
            return
        if pulse is None:
            # Not even the watch thread gets a turn: native code holds the interpreter lock.
            silent = self._silent.get(loaded.isolate.pid, 0) + LOOK
            pulse = Pulse(blocked=silent)
        self._silent[loaded.isolate.pid] = pulse["blocked"]
        self._printed(pulse.get("log", ()))
        if pulse.get("debugger"):
            return
        reason = self._reason(pulse)
        if reason is not None:
            self._report(loaded, reason)
            loaded.isolate.kill()

    def _reason(self, pulse: Pulse) -> str | None:
        """Why the isolate has to end, None while its code may go on."""
        blocked, place = pulse["blocked"], pulse.get("code", "native code")
        if "attempt" not in pulse:
            return None if blocked < OUTSIDE else f"code outside steps has blocked for {blocked:.0f} s: {place}"
        instance = self._runs.owner(pulse["run"])
        run = instance.run if instance is not None else None
        step = run.calls.get(pulse["call"]) if run is not None else None
        if instance is not None and run is not None and step is not None:
            record = instance.state.open.get(step)
            if record is not None and record.live and record.attempt == pulse["attempt"]:
                # It may block before it could say that it began; its time counts all the same.
                instance.attempt_began(run, step, record.attempt, self._clock.now() - round(blocked * 1000))
                return None
        return None if blocked < UNHEARD else f"a step that was given up still blocks: {place}"
