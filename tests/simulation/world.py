"""The host with everything around it, and its deaths: what the operations of `machine.py` act on."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from typing import Any, cast

from runtime import faults
from runtime.host.binding_rules import Refused
from runtime.host.clock import Alarm
from runtime.host.workflows import Workflow
from runtime.store import Key, MemoryStore
from tests.host.virtual_clock import VirtualClock, rest
from tests.host.world import Host
from tests.simulation.isolate import ScriptedIsolate
from tests.simulation.model import Model
from tests.simulation.programs import Program
from workers_shim.wire import devalue

FINISH_MS = 10_000  # what still runs on an isolate with the code before


class Killed(BaseException):
    """The host's process ends here."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What differs between simulated worlds."""

    late: bool = False  # commits happen in the next turn of the loop, and are lost when the host dies before it
    places: int = 256  # runs at once
    concurrency: int | None = None  # runs of the workflow at once
    repeats: int = 0  # replays on purpose, after each step


@dataclass(frozen=True, slots=True)
class Answer:
    """What a caller was told: a value, a refusal, or nothing, because the host died."""

    value: Any = None
    refusal: str | None = None
    told: bool = True

    @property
    def ok(self) -> bool:
        return self.told and self.refusal is None


class World:
    """A host over a store in memory that outlives it, and the isolates of its present life."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.clock = VirtualClock()
        self.programs: dict[str, Program] = {}
        self.fuse: int | None = None  # boundaries that are left until the host dies
        self.dead = False
        self.crashes = 0
        self.boundaries = 0
        self.problems: list[str] = []
        self.isolate: ScriptedIsolate | None = None  # the one on which new runs begin
        self.retired: dict[ScriptedIsolate, Alarm] = {}  # they may hold runs of the code before, until it rings
        self.store = MemoryStore(late=setting.late)
        self.model = Model(self.store.journals.committed)
        self._life = 0
        self.now_acts()
        asyncio.get_running_loop().set_exception_handler(self._unhandled)
        faults._armed = cast(Any, self)

    def now_acts(self) -> None:
        """The task that calls this is the one that moves the world: no crash ends it."""
        self._main = asyncio.current_task()

    # ----------------------------------------------------------------------------------------------------- lives

    async def begin(self) -> None:
        """A host starts over what the last one left, as often as it dies while it does."""
        while True:
            try:
                self._new_host()
                await self.host.recover()
                await self.clock.advance(0)  # a timer whose time has passed rings at once
            except Killed:
                pass
            if not self.dead:
                return
            await self._bury()

    def _new_host(self) -> None:
        self._life += 1
        life = self._life

        def hook(point: str, key: Key | None) -> None:
            if point == "delete.after_file" and key is not None and life == self._life and not self.dead:
                self.model.forget(key)
            self._boundary(life)

        self.store.journals._hook = self.store.catalog._hook = hook
        self.store.journals.limit = self.setting.places
        self.host = Host(self.store, self.clock)
        self.host.instances.report = lambda key, error: self._reported(life, key, error)
        self.host.declare(Workflow("wf", "Wf", concurrency=self.setting.concurrency))
        self.host.runs.repeats = self.setting.repeats
        self.serve()

    def serve(self) -> None:
        """An isolate has loaded the code."""
        self.isolate = ScriptedIsolate(self.host.dispatch, self.programs, self.model)
        self.model.isolates.append(self.isolate)
        self.host.runs.serve(self.isolate, self.host.workflows, ["Wf"])

    def lose(self, isolate: ScriptedIsolate) -> None:
        """An isolate's process is gone."""
        self.model.isolates.remove(isolate)
        for run, known in self.model.runs.items():
            if known.isolate is isolate and known.life.run == run:
                known.life.run = None
        if isolate is self.isolate:
            self.isolate = None
        else:
            self.retired.pop(isolate).cancel()
        isolate.dies()

    def retire(self, isolate: ScriptedIsolate) -> None:
        """An isolate whose code was replaced holds no run any more."""
        self.retired.pop(isolate).cancel()
        self.model.isolates.remove(isolate)

    def reload(self, old: ScriptedIsolate) -> None:
        """The code is loaded again: what does not end on the old isolate in time is cut off, as by the `Reloader`."""
        self.serve()
        self.host.runs.hold(old)
        self.retired[old] = self.clock.call_at(self.clock.now() + FINISH_MS, lambda: self.lose(old))

    def passed(self, point: str) -> None:
        """One of `runtime.faults`' named points."""
        self._boundary(self._life)

    def _boundary(self, life: int) -> None:
        """A place where the host may die: before and after each commit, and before what follows from it."""
        if life != self._life or self.dead:
            raise Killed
        self.boundaries += 1
        if self.fuse is not None:
            self.fuse -= 1
            if self.fuse < 0:
                self._die()
                raise Killed

    def _die(self) -> None:
        self.dead, self.fuse = True, None
        self._left = self.store.crash()

    async def crash(self) -> None:
        """The host is killed here and now; a new one starts."""
        if not self.dead:
            self._die()
        await self._bury()
        await self.begin()

    async def _bury(self) -> None:
        """Nothing of a dead host goes on, and nothing that it still does counts."""
        self.crashes += 1
        self.clock.alarms.clear()
        for task in asyncio.all_tasks() - {self._main}:
            task.cancel()
        await rest()
        self.clock.alarms.clear()
        self.isolate = None
        self.retired.clear()
        self.store = self._left
        self.model.host_died(self.store.journals.committed)
        self.dead = False

    async def stop_and_start(self) -> None:
        """The host ends in an orderly way, and another one starts."""
        with contextlib.suppress(Killed):
            await self.host.stop()
        if not self.dead:
            self._die()
        self.crashes -= 1
        await self._bury()
        await self.begin()

    # -------------------------------------------------------------------------------------------------- problems

    def _unhandled(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if not self.dead and not isinstance(error, Killed):
            self.problems.append(f"{context['message']}: {error!r}")

    def _reported(self, life: int, key: Key, error: Exception) -> None:
        if life == self._life and not self.dead:
            self.last_report = error
            self.problems.append(f"{key} is stopped: {error!r}")

    # -------------------------------------------------------------------------------------------------- requests

    def request(self, operation: str, *args: Any) -> asyncio.Task[Answer]:
        """Somebody calls a method of the binding or of a handle."""
        return asyncio.create_task(self._request(operation, args))

    async def _request(self, operation: str, args: tuple[Any, ...]) -> Answer:
        try:
            text = await self.host.bindings.call("wf", operation, devalue.stringify(list(args)))
        except Refused as refused:
            return Answer(refusal=refused.failure.message, told=not self.dead)
        return Answer(devalue.parse(text), told=not self.dead)

    async def answers(self, *tasks: asyncio.Task[Answer]) -> list[Answer]:
        """What the callers were told, at the latest when everything has come to rest."""
        await rest()
        return [self._answer(task) for task in tasks]

    def _answer(self, task: asyncio.Task[Answer]) -> Answer:
        if self.dead:
            if task.done() and not task.cancelled() and task.exception() is None:
                return task.result()
            return Answer(told=False)
        assert task.done(), "deadlock: a request is not answered"
        return task.result()

    async def ask(self, operation: str, *args: Any) -> Answer:
        """One request and its answer."""
        return (await self.answers(self.request(operation, *args)))[0]
