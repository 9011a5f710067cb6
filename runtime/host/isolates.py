"""The project's isolates, which take requests and run workflows: start, watch, restart, replace.

Python has two of them, one for each role; JavaScript has one for both.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from runtime.isolates.streams import StreamStore
from runtime.isolates.transport import Isolate, Listener

from .errors import CelldError
from .launcher import Launcher, RunningIsolate
from .problem import DoesNotLoad, Problem
from .roles import ROLES, Kind, Role, roles_of

FIRST_BACKOFF = 0.1  # seconds; doubled with each early death
LAST_BACKOFF = 5.0
EARLY = 10.0  # an isolate that lived longer than this died of something new
IMPORT_LOOK = 2.0  # seconds between looks at an isolate that is importing
IMPORT_LIMIT = 30.0  # seconds that an import may block
LINGER = 1.0  # seconds between hanging up on an isolate and killing it


@dataclass(slots=True, eq=False)
class Loaded:
    """An isolate that has imported the project's code."""

    isolate: RunningIsolate
    role: Kind
    workflows: frozenset[str]
    entrypoints: frozenset[str]
    handlers: frozenset[str]
    code: str  # digest of the sources that it has imported
    since: float = field(default_factory=time.monotonic)
    drained: asyncio.Event = field(default_factory=asyncio.Event)
    retired: bool = False


class Isolates:
    """Keeps both roles served. What happens to them is told through the three ``on_`` callbacks."""

    def __init__(
        self,
        launcher: Launcher,
        listener: Listener,
        streams: StreamStore,
        *,
        on_serving: Callable[[Loaded], None],
        on_lost: Callable[[Loaded, int], None],
        on_problem: Callable[[Problem], None],
    ) -> None:
        self.current: dict[Role, Loaded | None] = dict.fromkeys(ROLES)
        self.problem: Problem | None = None  # of the last load that failed, until one succeeds
        self._told: Problem | None = None  # the last one reported
        self.changed = asyncio.Condition()
        self._launcher = launcher
        self._listener = listener
        self._streams = streams
        self._on_serving = on_serving
        self._on_lost = on_lost
        self._on_problem = on_problem
        self._loading: dict[Isolate, asyncio.Future[dict[str, Any]]] = {}
        self._all: dict[int, Loaded] = {}
        self._connected: set[RunningIsolate] = set()
        self._early_deaths: dict[Kind, int] = dict.fromkeys(launcher.kinds, 0)
        self._tasks: set[asyncio.Task[None]] = set()
        self._stopping = False  # deaths are expected, and nobody is replaced

    @property
    def exclusive(self) -> bool:
        """Whether those that serve have to be dead before others are admitted."""
        return self._launcher.exclusive

    # ------------------------------------------------------------------------------------------------------- start

    async def begin(self) -> bool:
        """Load what the launcher has begun, then the rest; False when the code does not load.

        One after the other, because the host is being imported meanwhile and most machines are small. When ``front`` is
        first, ``work`` follows while the first requests are answered.
        """
        first, *others = self._launcher.kinds
        if not await self._begin(first):
            return False
        for kind in others:
            if kind == "work":
                self._spawn(self._restore(kind, 0))
            elif not await self._begin(kind):
                return False
        return True

    async def _begin(self, kind: Kind) -> bool:
        loaded = await self._launched(kind)
        if loaded is not None:
            await self._serve(loaded)
        return loaded is not None

    async def prepare(self, *, trial: bool = False) -> list[Loaded] | None:
        """Isolates on the code as it is now, which do not serve yet; None when it does not load (see `problem`).

        Those on ``trial`` never will. Raises `CelldError` when they cannot even be started.
        """
        self._told = None
        starting = (self._bring_up(kind, trial) for kind in self._launcher.kinds)
        loaded = await asyncio.gather(*starting, return_exceptions=True)
        up = [one for one in loaded if isinstance(one, Loaded)]
        if len(up) == len(loaded) and not self._stopping:
            return up
        for one in up:
            self.retire(one)
        for failure in loaded:
            if isinstance(failure, BaseException):
                raise failure
        return None

    async def admit(self, fresh: list[Loaded]) -> list[Loaded]:
        """Let prepared isolates serve; gives the ones that they replace."""
        self.problem = None
        replaced = {self.current[role] for one in fresh for role in roles_of(one.role)}
        for one in fresh:
            await self._serve(one)
        return [one for one in replaced if one is not None]

    def withdraw(self) -> list[Loaded]:
        """Let nothing new begin anywhere until others are admitted; gives the isolates that served."""
        serving = {one for one in self.current.values() if one is not None}
        self.current = dict.fromkeys(ROLES)
        for one in serving:
            one.retired = True
        return list(serving)

    def restore(self) -> None:
        """Bring up what does not serve, again and again until it does."""
        for kind in self._launcher.kinds:
            self._spawn(self._restore(kind, LAST_BACKOFF))

    async def _launched(self, kind: Kind) -> Loaded | None:
        """`_bring_up`, where it makes a `problem` too that nothing can be started."""
        try:
            return await self._bring_up(kind)
        except CelldError as error:  # the interpreter went away, perhaps to be made anew
            self._found(Problem(error.code, error.message, error.detail or error.message))
            return None

    async def _bring_up(self, kind: Kind, trial: bool = False) -> Loaded | None:
        """An isolate that has loaded the code; None when there is a `problem`."""
        try:
            isolate = await self._launcher.launch(kind, self._listener, self._streams, trial=trial)
        except DoesNotLoad as failure:
            self._found(failure.problem)
            return None
        self._connected.add(isolate)
        message = await self._answer(isolate)
        if message["t"] == "loaded":
            loaded = self._all[isolate.pid] = Loaded(
                isolate,
                kind,
                frozenset(message["workflows"]),
                frozenset(message["entrypoints"]),
                frozenset(message["handlers"]),
                message["code"],
            )
            return loaded
        self._found(_problem(message))
        self._spawn(self._end(isolate))
        return None

    def _found(self, problem: Problem) -> None:
        self.problem = problem
        if self._told != problem:  # both roles import the same code: one message is enough
            self._told = problem
            self._on_problem(problem)

    async def _answer(self, isolate: RunningIsolate) -> dict[str, Any]:
        """What the isolate says of its code; an import that blocks for too long is ended, and named."""
        answer = self._answer_of(isolate)
        try:
            while not (await asyncio.wait([answer], timeout=IMPORT_LOOK))[0]:
                pulse = await isolate.pulse()
                if pulse is None or pulse.get("debugger") or pulse["blocked"] < IMPORT_LIMIT:
                    continue
                blocking = f"{pulse['blocked']:.0f} s: {pulse.get('code', 'native code')}"
                if not answer.done():
                    answer.set_result(_failed_load("ImportError", f"The import of the code has blocked for {blocking}"))
                isolate.kill()
            return await answer
        finally:
            del self._loading[isolate]

    def _answer_of(self, isolate: Isolate) -> asyncio.Future[dict[str, Any]]:
        """Where the answer of an isolate goes, whether it is awaited yet or not."""
        return self._loading.setdefault(isolate, asyncio.get_running_loop().create_future())

    async def _serve(self, loaded: Loaded) -> None:
        if loaded.isolate.lost:  # while the other role was still importing
            self._all.pop(loaded.isolate.pid, None)
            self._set_current(loaded.role, None)
            self._spawn(self._restore(loaded.role, self._backoff(loaded)))
            return
        self._set_current(loaded.role, loaded)
        self._on_serving(loaded)
        async with self.changed:
            self.changed.notify_all()

    def _set_current(self, kind: Kind, loaded: Loaded | None) -> None:
        self.current |= dict.fromkeys(roles_of(kind), loaded)

    def _served(self, kind: Kind) -> bool:
        return self.current[roles_of(kind)[0]] is not None

    # ------------------------------------------------------------------------------------------- what they tell us

    def answered(self, isolate: Any, message: dict[str, Any]) -> None:
        """An isolate said `loaded`, `load_failed` or `drained`."""
        if message["t"] == "drained":
            loaded = self._all.get(isolate.pid)
            if loaded is not None:
                loaded.drained.set()
            return
        answer = self._answer_of(isolate)
        if not answer.done():
            answer.set_result(message)

    def lost(self, isolate: Any) -> None:
        """An isolate's connection is gone."""
        known = isolate in self._connected
        self._connected.discard(isolate)
        loaded = self._all.pop(isolate.pid, None)
        if loaded is not None:
            loaded.drained.set()
        elif (isolate in self._loading or not known) and not (answer := self._answer_of(isolate)).done():
            answer.set_result(_failed_load("SystemExit", "The isolate ended while it imported the project's code."))
        missed = loaded is not None and not loaded.retired and loaded in self.current.values()
        if missed and loaded is not None:
            self._set_current(loaded.role, None)
            isolate.kill()  # it may live on without its connection, and what it runs is about to run elsewhere
        self._spawn(self._bury(isolate, loaded if missed and not self._stopping else None))

    async def _bury(self, isolate: RunningIsolate, missed: Loaded | None) -> None:
        """Reap the process, and put another in its place if it is missed."""
        status = await isolate.wait()
        with contextlib.suppress(OSError):  # a full disk: the record of children only helps the next host
            self._launcher.ended(isolate.pid)
        if missed is not None:
            self._on_lost(missed, status)
            await self._restore(missed.role, self._backoff(missed))

    async def _restore(self, kind: Kind, delay: float) -> None:
        """Start an isolate of this kind until one serves: this one, or one that a reload has brought meanwhile."""
        await asyncio.sleep(delay)
        while not self._served(kind) and not self._stopping:
            again = await self._launched(kind)
            if again is not None and not self._served(kind):
                self.problem = None
                await self._serve(again)
                return
            if again is not None:
                self.retire(again)
                return
            await asyncio.sleep(LAST_BACKOFF)

    def _backoff(self, loaded: Loaded) -> float:
        if time.monotonic() - loaded.since > EARLY:
            self._early_deaths[loaded.role] = 0
            return 0
        deaths = self._early_deaths[loaded.role]
        self._early_deaths[loaded.role] = deaths + 1
        return 0 if deaths == 0 else min(LAST_BACKOFF, FIRST_BACKOFF * 2.0 ** (deaths - 1))

    # --------------------------------------------------------------------------------------------------------- end

    async def drain(self, loaded: Loaded, seconds: float) -> None:
        """Let an isolate finish its responses and wait_until work."""
        loaded.retired = True
        loaded.isolate.send({"t": "drain"})
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await loaded.drained.wait()

    async def end(self, loaded: Loaded) -> None:
        """End an isolate that serves no longer, and wait for that."""
        loaded.retired = True
        await self._end(loaded.isolate)

    def retire(self, loaded: Loaded) -> None:
        """End an isolate that serves no longer."""
        loaded.retired = True
        self._spawn(self._end(loaded.isolate))

    async def _end(self, isolate: RunningIsolate) -> None:
        isolate.close()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LINGER):
                await isolate.wait()
                return
        isolate.kill()
        await isolate.wait()

    def stop(self) -> None:
        """The host is about to exit: an isolate that ends is not missed any more."""
        self._stopping = True

    async def close(self) -> None:
        """End all isolates."""
        self.stop()
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        await asyncio.gather(*map(self._end, list(self._connected)))

    def kill(self) -> None:
        """End all isolates at once."""
        self.stop()
        for isolate in self._connected:
            isolate.kill()

    def _spawn(self, work: Any) -> None:
        task: asyncio.Task[None] = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _failed_load(name: str, text: str) -> dict[str, Any]:
    """A `load_failed` that the isolate did not live to send."""
    return {"t": "load_failed", "error": {"name": name, "message": text}, "traceback": text}


def _problem(message: dict[str, Any]) -> Problem:
    error = message["error"]
    place = message.get("file"), message.get("line")
    return Problem(error["name"], error["message"], message["traceback"], *place, message.get("in_settings", False))
