"""Code that does not give the isolate's one thread back: found, named, and ended when it must be."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workers_shim.wire.messages import Pulse

from .clock import Clock
from .instance import Instance
from .isolates import Isolates, Loaded
from .roles import has
from .run import Run
from .runs import Runs

LOOK = 1.0  # seconds between two looks at an isolate that has work
UNHEARD = 1.0  # seconds that a given-up or ended attempt may still block
OUTSIDE = 30.0  # seconds that code outside steps may block


@dataclass(slots=True)
class Silence:
    """An isolate that does not answer."""

    since: int  # ms of the first look that was not answered
    attempts: bool = False  # whether an attempt was running in it


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
        report: Callable[[Loaded, str, bool], None],
        failed: Callable[[Exception], None],
        kills: bool = True,
    ) -> None:
        self._isolates = isolates
        self._runs = runs
        self._clock = clock
        self._has_requests = has_requests
        self._printed = printed
        self._report = report
        self._failed = failed
        self._kills = kills  # else what blocks is only named: a debugger may hold it, which cannot be seen from here
        self._silent: dict[int, Silence] = {}  # by pid
        self._given_up: dict[int, int] = {}  # by pid: when (ms) code was given up that has not been seen to stop
        self._look_now = asyncio.Event()

    def look_now(self, run: Run) -> None:
        """An attempt was given up: see at once whether its code has stopped."""
        self._given_up[run.isolate.pid] = self._clock.now()
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
            for loaded in dict.fromkeys(self._isolates.current.values()):
                if loaded is not None and self._has_work(loaded):
                    try:
                        await self._look(loaded)
                    except Exception as error:
                        # Were this task to end, nothing that blocks would be ended any more.
                        self._failed(error)

    def _has_work(self, loaded: Loaded) -> bool:
        runs = has(loaded.role, "work") and self._runs.busy(loaded.isolate)
        return runs or (has(loaded.role, "front") and self._has_requests())

    async def _look(self, loaded: Loaded) -> None:
        pulse = await loaded.isolate.pulse()
        if loaded not in self._isolates.current.values():
            return
        if pulse is None:
            reason = self._silent_reason(loaded)
        else:
            self._silent.pop(loaded.isolate.pid, None)
            self._given_up.pop(loaded.isolate.pid, None)
            self._printed(pulse.get("log", ()))
            reason = None if pulse.get("debugger") else self._reason(pulse)
        if reason is not None:
            self._silent.pop(loaded.isolate.pid, None)
            self._given_up.pop(loaded.isolate.pid, None)
            self._report(loaded, reason, self._kills)
            if self._kills:
                loaded.isolate.kill()

    def _silent_reason(self, loaded: Loaded) -> str | None:
        """Not even the watch thread gets a turn: native code holds the interpreter lock.

        Which code does cannot be told. Attempts keep their time, which counts from here if they have not said that
        they began; once the last of them is given up, it must have been one of them.
        """
        now = self._clock.now()
        silence = self._silent.setdefault(loaded.isolate.pid, Silence(now))
        attempts = self._begin_attempts(loaded, silence.since)
        silence.attempts |= attempts
        if loaded.role == "both":
            return self._blocked_reason(loaded, silence, attempts, now)
        limit = UNHEARD if silence.attempts else OUTSIDE
        if attempts or now - silence.since < limit * 1000:
            return None
        return f"native code has held the interpreter for {(now - silence.since) / 1000:.0f} s"

    def _blocked_reason(self, loaded: Loaded, silence: Silence, attempts: bool, now: int) -> str | None:
        """`_silent_reason` where one thread does everything: what blocks may be any code that has begun.

        Code whose time is over counts as the one that does, also while others have time left: they cannot use it.
        """
        seconds = (now - silence.since) / 1000
        given_up = self._given_up.get(loaded.isolate.pid)
        if given_up is not None and now - given_up >= UNHEARD * 1000:
            return f"a step that was given up still blocks, for {seconds:.0f} s now"
        if attempts or seconds < (UNHEARD if silence.attempts else OUTSIDE):
            return None
        return f"the code has blocked for {seconds:.0f} s"

    def _begin_attempts(self, loaded: Loaded, since: int) -> bool:
        """Let the time of every attempt on the isolate count; whether there is any."""
        found = False
        for run in self._runs.on(loaded.isolate):
            instance = self._runs.owner(run.id)
            assert instance is not None
            for step in list(instance.state.live):
                found = True
                instance.attempt_began(run, step, instance.state.records[step].attempt, since)
            if instance.state.rollback is not None and instance.state.rollback.live:
                found = True
                instance.undo_began(run, since)
        return found

    def _reason(self, pulse: Pulse) -> str | None:
        """Why the isolate has to end, None while its code may go on."""
        blocked, place = pulse["blocked"], pulse.get("code", "native code")
        if "attempt" not in pulse:
            return None if blocked < OUTSIDE else f"code outside steps has blocked for {blocked:.0f} s: {place}"
        instance = self._runs.owner(pulse["run"])
        run = instance.run if instance is not None else None
        if "call" not in pulse:
            return self._undo_reason(pulse, instance, run)
        step = run.calls.get(pulse["call"]) if run is not None else None
        if instance is not None and run is not None and step is not None:
            record = instance.state.open.get(step)
            if record is not None and record.live and record.attempt == pulse["attempt"]:
                # It may block before it could say that it began; its time counts all the same.
                instance.attempt_began(run, step, record.attempt, self._clock.now() - round(blocked * 1000))
                return None
        return None if blocked < UNHEARD else f"a step that was given up still blocks: {place}"

    def _undo_reason(self, pulse: Pulse, instance: Instance | None, run: Run | None) -> str | None:
        """`_reason` for an attempt that belongs to no call: an undo function's."""
        blocked, place = pulse["blocked"], pulse.get("code", "native code")
        if instance is not None and run is not None:
            undo = instance.state.rollback
            if undo is not None and undo.live and undo.attempt == pulse["attempt"]:
                instance.undo_began(run, self._clock.now() - round(blocked * 1000))
                return None
        return None if blocked < UNHEARD else f"an undo function that was given up still blocks: {place}"
