"""The host of a Worker under test: the shell of `runtime.host` over a store in memory, with the isolate beside it."""

from __future__ import annotations

import asyncio
import io
import sys
from collections.abc import Coroutine
from typing import Any, TextIO, cast

from runtime.cli.terminal import Terminal
from runtime.host.banner import missing_classes
from runtime.host.failures import FailureReports
from runtime.host.isolates import Isolates
from runtime.host.options import DEFAULT_HIBERNATE_AFTER, Options
from runtime.host.recovery import recover
from runtime.host.runs import REPEATS
from runtime.host.schedules import Schedules, entries_of
from runtime.host.shell import Shell
from runtime.host.workflows import load_message, workflows_of
from runtime.http.ingress import Ingress
from runtime.isolates.in_process import InProcessIsolate
from runtime.isolates.transport import Isolate
from runtime.store import Key, MemoryStore
from wrangler_compat import Project

from .errors import WorkerNotLoaded
from .kept import Kept
from .response import Response
from .witness import Witness

GRACE_MS = round(DEFAULT_HIBERNATE_AFTER * 1000)
LOOK = 0.002  # seconds between looks at code that awaits something of its own
SPIN = 5.0  # seconds after which code that only ever yields is taken to be at rest


class Host(Shell):
    """One life of the host process, on the running loop."""

    def __init__(self, project: Project, options: Options, store: MemoryStore, kept: Kept) -> None:
        streams = _spoken("stdout", kept.said), _spoken("stderr", kept.said)
        terminal = Terminal.over(*streams, environ={"NO_COLOR": "1"})
        super().__init__(kept.clock, store.catalog, store.journals, terminal, grace_ms=GRACE_MS)
        self.project, self.target, self.store = project, options.target, store
        self.dispatch.mismatches.strict = options.strict_replay
        self.runs.repeats = REPEATS if options.replay_every_step else 0
        self.schedules = Schedules(
            self.clock,
            store.catalog,
            self.instances,
            entries_of(project) if options.schedules else (),
            missed=self.reports.missed,
            failed=self.reports.not_fired,
        )
        self.instances.on_events = FailureReports(terminal).happened
        self.ingress = self.dispatch.ingress = Ingress(
            self, log=lambda *request: None, failed=self.reports.request_failed
        )
        self.dispatch.isolates = cast(Isolates, self)
        self.mocks = self.instances.modifications = kept.mocks
        self.instances.on_deleted = self._deleted
        self._loading: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._requests: set[object] = set()  # those that have no answer yet
        self._tired: frozenset[object] = frozenset()  # what was awaited for as long as patience lasts
        self.work = InProcessIsolate(Witness(self.dispatch, self.runs, kept.began))

    async def begin(self) -> None:
        """Load the code, take up what the store holds, and let it run."""
        workflows = workflows_of(self.project, self.target)
        self.instances.declare(workflows)
        await recover(self.store.catalog, self.store.journals, self.instances)
        self.work.send(load_message(self.project, self.work.role, self.target))
        answer = await self._loading
        if answer["t"] == "load_failed":
            raise WorkerNotLoaded(f"The Worker's code does not load:\n{answer['traceback']}")
        missing = missing_classes(self.project, answer["workflows"])
        if missing is not None:
            raise WorkerNotLoaded(f"{missing.message}\n{missing.detail}\n{missing.hint}")
        self.runs.serve(self.work, workflows, answer["workflows"], answer["code"])
        self.wakeups.start()
        self.sweeper.start()
        await self.schedules.open()
        self.schedules.start()

    def notify(self) -> None:
        """Say what of the configuration has no effect, or another one, as `dev` says it at its start."""
        for notice in self.project.warnings:
            self.terminal.warning(notice.text, notice.hint)

    async def end(self) -> None:
        """Let go of everything in an orderly way."""
        self.runs.stop_serving()
        await self.wakeups.close()
        await self.sweeper.close()
        await self.schedules.close()
        await self.instances.close()
        self.work.close()

    def _deleted(self, key: Key) -> None:
        self.subscriptions.deleted(key)
        self.mocks.forget(key)

    # ------------------------------------------------------------------ what `Dispatch` and `Ingress` ask of isolates

    def answered(self, isolate: Isolate, message: dict[str, Any]) -> None:
        """The isolate has loaded the code, or has not."""
        if not self._loading.done():
            self._loading.set_result(message)

    def lost(self, isolate: Isolate) -> None:
        """It is gone, on purpose."""

    async def isolate(self) -> Isolate:
        """The isolate that takes requests."""
        return self.work

    def sending(self, request: Coroutine[Any, Any, Response]) -> asyncio.Task[Response]:
        """Send a request, whose answer is waited for as long as patience lasts."""
        task = asyncio.ensure_future(request)
        self._requests.add(task)
        task.add_done_callback(self._requests.discard)
        return task

    # ------------------------------------------------------------------------------------------------------- time

    async def next_due(self) -> int | None:
        """When (ms) the next sleep, retry, deadline, timeout or schedule is due; None when nothing is."""
        times = [*self.instances.alarms(), *self.schedules.next.values()]
        asleep = await self.store.catalog.next_wake()
        return min(times if asleep is None else [*times, asleep], default=None)

    async def rest(self, patience: float) -> None:
        """Come back when nothing moves any more.

        That is: nothing is to be decided or committed, and no user code can go on. Code that awaits something of its
        own is given ``patience`` seconds, and none again for the same thing.
        """
        loop = asyncio.get_running_loop()
        began, idle_since = loop.time(), None
        while True:
            await asyncio.sleep(0)
            now = loop.time()
            if loop._ready and now - began < SPIN:  # type: ignore[attr-defined]  # asyncio has no public way to ask
                continue
            idle_since = idle_since or now
            awaited = self.work.awaited() | self._requests
            if awaited <= self._tired:
                return
            if now - idle_since >= patience:
                self._tired = awaited
                return
            await asyncio.sleep(LOOK)


def _spoken(name: str, said: list[str]) -> TextIO:
    return cast(TextIO, Spoken(name, said))


class Spoken(io.TextIOBase):
    """A stream that keeps what is written to it, and passes it on to whatever has the standard stream's name now."""

    def __init__(self, name: str, said: list[str]) -> None:
        self._name = name
        self._said = said

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """What texts are made for."""
        return "utf-8"

    def fileno(self) -> int:
        """None: it is no file."""
        raise io.UnsupportedOperation("fileno")

    def write(self, text: str, /) -> int:
        """Keep it and pass it on."""
        self._said.append(text)
        getattr(sys, self._name).write(text)
        return len(text)
