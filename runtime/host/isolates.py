"""The project's two isolates: ``front`` takes requests, ``work`` runs workflows. Start, watch, restart, replace."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from runtime.isolates.child import Child
from runtime.isolates.process import ProcessIsolate
from runtime.isolates.transport import Listener

from .errors import CelldError
from .roles import ROLES, Role

FIRST_BACKOFF = 0.1  # seconds; doubled with each early death
LAST_BACKOFF = 5.0
EARLY = 10.0  # an isolate that lived longer than this died of something new
IMPORT_LOOK = 2.0  # seconds between looks at an isolate that is importing
IMPORT_LIMIT = 30.0  # seconds that an import may block
LINGER = 1.0  # seconds between hanging up on an isolate and killing it


@dataclass(frozen=True, slots=True)
class Problem:
    """Why an isolate cannot serve: what its code raised, and where."""

    name: str
    message: str
    traceback: str
    file: str | None = None
    line: int | None = None

    @property
    def place(self) -> str | None:
        """Where it is, as an editor takes it."""
        return None if self.file is None else f"{self.file}:{self.line}"


@dataclass(slots=True, eq=False)
class Loaded:
    """An isolate that has imported the project's code."""

    isolate: ProcessIsolate
    role: Role
    workflows: frozenset[str]
    entrypoints: frozenset[str]
    handlers: frozenset[str]
    python: str
    code: str  # digest of the sources that it has imported
    since: float = field(default_factory=time.monotonic)
    drained: asyncio.Event = field(default_factory=asyncio.Event)
    retired: bool = False


Launch = Callable[[Role], Child]


class Isolates:
    """Keeps both roles served. What happens to them is told through the three ``on_`` callbacks."""

    def __init__(
        self,
        launch: Launch,
        load: Callable[[Role], Mapping[str, Any]],
        listener: Listener,
        *,
        on_serving: Callable[[Loaded], None],
        on_lost: Callable[[Loaded, int], None],
        on_problem: Callable[[Role, Problem], None],
        ended: Callable[[int], None],
    ) -> None:
        self.current: dict[Role, Loaded | None] = dict.fromkeys(ROLES)
        self.problem: Problem | None = None  # of the last load that failed, until one succeeds
        self._told: Problem | None = None  # the last one reported
        self.changed = asyncio.Condition()
        self._launch = launch
        self._load = load
        self._listener = listener
        self._on_serving = on_serving
        self._on_lost = on_lost
        self._on_problem = on_problem
        self._ended = ended
        self._loading: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._all: dict[int, Loaded] = {}
        self._connected: set[ProcessIsolate] = set()
        self._early_deaths: dict[Role, int] = dict.fromkeys(ROLES, 0)
        self._tasks: set[asyncio.Task[None]] = set()
        self._stopping = False  # deaths are expected, and nobody is replaced

    # ------------------------------------------------------------------------------------------------------- start

    async def begin(self, role: Role, child: Child) -> bool:
        """Load a role from a process that is there already, then the other; False when the code does not load.

        One after the other, because the host is being imported meanwhile and most machines are small. When ``front`` is
        first, ``work`` follows while the first requests are answered.
        """
        first = await self._bring_up(role, child)
        if first is None:
            return False
        await self._serve(first)
        if role == "front":
            self._spawn(self._restore("work", 0))
            return True
        second = await self._bring_up("front", self._launch("front"))
        if second is None:
            return False
        await self._serve(second)
        return True

    async def start(self, children: Mapping[Role, Child]) -> list[Loaded] | None:
        """Load both roles; gives the isolates that they replace, None when the code does not load (see `problem`)."""
        self._told = None
        loaded = await asyncio.gather(*(self._bring_up(role, child) for role, child in children.items()))
        up = [one for one in loaded if one is not None]
        if len(up) < len(loaded) or self._stopping:
            for one in up:
                self.retire(one)
            return None
        self.problem = None
        replaced = [self.current[one.role] for one in up]
        for one in up:
            await self._serve(one)
        return [one for one in replaced if one is not None]

    async def replace(self) -> list[Loaded] | None:
        """Start new isolates on the code as it is now; gives the ones they replaced, None when it does not load."""
        return await self.start({role: self._launch(role) for role in ROLES})

    async def _bring_up(self, role: Role, child: Child) -> Loaded | None:
        isolate = await ProcessIsolate.connect(child, self._listener)
        self._connected.add(isolate)
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._loading[isolate.pid] = answer
        isolate.send(self._load(role))
        try:
            message = await self._answer(isolate, answer)
        finally:
            del self._loading[isolate.pid]
        if message["t"] == "loaded":
            loaded = self._all[isolate.pid] = Loaded(
                isolate,
                role,
                frozenset(message["workflows"]),
                frozenset(message["entrypoints"]),
                frozenset(message["handlers"]),
                message["python"],
                message["code"],
            )
            return loaded
        problem = _problem(message)
        self.problem = problem
        if self._told != problem:  # both roles import the same code: one message is enough
            self._told = problem
            self._on_problem(role, problem)
        self._spawn(self._end(isolate))
        return None

    async def _answer(self, isolate: ProcessIsolate, answer: asyncio.Future[dict[str, Any]]) -> dict[str, Any]:
        """What the isolate says to its `load`; an import that blocks for too long is ended, and named."""
        while not (await asyncio.wait([answer], timeout=IMPORT_LOOK))[0]:
            pulse = await isolate.pulse()
            if pulse is None or pulse.get("debugger") or pulse["blocked"] < IMPORT_LIMIT:
                continue
            text = (
                f"The import of the code has blocked for {pulse['blocked']:.0f} s: {pulse.get('code', 'native code')}"
            )
            if not answer.done():
                answer.set_result(_failed_load("ImportError", text))
            isolate.kill()
        return await answer

    async def _serve(self, loaded: Loaded) -> None:
        if loaded.isolate.lost:  # while the other role was still importing
            self._all.pop(loaded.isolate.pid, None)
            self.current[loaded.role] = None
            self._spawn(self._restore(loaded.role, self._backoff(loaded)))
            return
        self.current[loaded.role] = loaded
        self._on_serving(loaded)
        async with self.changed:
            self.changed.notify_all()

    # ------------------------------------------------------------------------------------------- what they tell us

    def answered(self, isolate: Any, message: dict[str, Any]) -> None:
        """An isolate said `loaded`, `load_failed` or `drained`."""
        if message["t"] == "drained":
            loaded = self._all.get(isolate.pid)
            if loaded is not None:
                loaded.drained.set()
            return
        waiting = self._loading.get(isolate.pid)
        if waiting is not None and not waiting.done():
            waiting.set_result(message)

    def lost(self, isolate: Any) -> None:
        """An isolate's connection is gone."""
        self._connected.discard(isolate)
        waiting = self._loading.get(isolate.pid)
        if waiting is not None and not waiting.done():
            waiting.set_result(_failed_load("SystemExit", "The isolate ended while it imported the project's code."))
        loaded = self._all.pop(isolate.pid, None)
        if loaded is not None:
            loaded.drained.set()
        missed = loaded is not None and not loaded.retired and self.current[loaded.role] is loaded
        if missed and loaded is not None:
            self.current[loaded.role] = None
            isolate.kill()  # it may live on without its connection, and what it runs is about to run elsewhere
        self._spawn(self._bury(isolate, loaded if missed and not self._stopping else None))

    async def _bury(self, isolate: ProcessIsolate, missed: Loaded | None) -> None:
        """Reap the process, and put another in its place if it is missed."""
        status = await isolate.wait()
        with contextlib.suppress(OSError):  # a full disk: the record of children only helps the next host
            self._ended(isolate.pid)
        if missed is not None:
            self._on_lost(missed, status)
            await self._restore(missed.role, self._backoff(missed))

    async def _restore(self, role: Role, delay: float) -> None:
        """Start a role's isolate until one serves: this one, or one that a reload has brought meanwhile."""
        await asyncio.sleep(delay)
        while self.current[role] is None and not self._stopping:
            again = await self._launched(role)
            if again is not None and self.current[role] is None:
                self.problem = None
                await self._serve(again)
                return
            if again is not None:
                self.retire(again)
                return
            await asyncio.sleep(LAST_BACKOFF)

    async def _launched(self, role: Role) -> Loaded | None:
        try:
            child = self._launch(role)
        except CelldError as error:  # the interpreter went away, perhaps to be made anew
            problem = Problem(error.code, error.message, error.detail or error.message)
            if self._told != problem:
                self._told = problem
                self._on_problem(role, problem)
            return None
        return await self._bring_up(role, child)

    def _backoff(self, loaded: Loaded) -> float:
        if time.monotonic() - loaded.since > EARLY:
            self._early_deaths[loaded.role] = 0
            return 0
        deaths = self._early_deaths[loaded.role]
        self._early_deaths[loaded.role] = deaths + 1
        return 0 if deaths == 0 else min(LAST_BACKOFF, FIRST_BACKOFF * 2.0 ** (deaths - 1))

    # --------------------------------------------------------------------------------------------------------- end

    async def drain(self, loaded: Loaded, seconds: float) -> None:
        """Let an isolate finish its responses and wait_until work, then end it."""
        loaded.retired = True
        loaded.isolate.send({"t": "drain"})
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await loaded.drained.wait()
        await self._end(loaded.isolate)

    def retire(self, loaded: Loaded) -> None:
        """End an isolate that serves no longer."""
        loaded.retired = True
        self._spawn(self._end(loaded.isolate))

    async def _end(self, isolate: ProcessIsolate) -> None:
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
    return Problem(error["name"], error["message"], message["traceback"], message.get("file"), message.get("line"))
