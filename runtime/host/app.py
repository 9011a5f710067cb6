"""`celld-py dev`, from the configuration to the last goodbye. This file is the story; the parts are beside it."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import signal
from collections.abc import Callable
from functools import partial
from typing import Any

from runtime.cli.terminal import Terminal
from runtime.http.ingress import Ingress
from runtime.http.scheduled import Application, Scheduled
from runtime.http.tunnel import Tunnel
from runtime.store import Store, StoreError

from . import banner, lints
from .clock import Clock
from .crons import Crons, triggers_of
from .errors import CelldError
from .failures import FailureReports
from .front import FrontDoor
from .isolates import Isolates, Loaded
from .recovery import recover
from .reload import Reloader
from .roles import has
from .runs import REPEATS
from .schedules import Schedules, entries_of
from .server import http_server
from .shell import Shell
from .sources import Sources
from .start import Start
from .stuck import StuckWatch
from .workflows import Workflow, workflows_of

CLOCK_OFFSET = "clock_offset_ms"  # the catalog's name for the user's offset
ATTEMPTS_FINISH = 5.0  # seconds that running attempts have after the first Ctrl-C
RESPONSES_FINISH = 5.0  # seconds that responses have after it
FORCED = 130  # exit status after the second


async def serve(start: Start, terminal: Terminal) -> int:
    """Run the project until it is interrupted; gives the exit status. Raises what the person can put right."""
    try:
        store = await Store.over(start.folder)
        try:
            return await DevServer(start, store, terminal).run()
        finally:
            await store.close()
    except StoreError as error:
        raise CelldError(str(error), code="state") from error
    finally:
        for sock in start.sockets:
            sock.close()


class DevServer(Shell):
    """The parts of a running project: the shell, with isolates, an HTTP server and hot reload around it."""

    def __init__(self, start: Start, store: Store, terminal: Terminal) -> None:
        self.start, self.store = start, store
        self.options = start.options
        self.up = asyncio.Event()  # the server accepts connections
        grace_ms = round(self.options.hibernate_after * 1000)
        watched = self.options.watch
        super().__init__(Clock(), store.catalog, store.journals, terminal, grace_ms=grace_ms, watched=watched)
        self.instances.on_events = FailureReports(terminal).happened
        self.dispatch.mismatches.strict = self.options.strict_replay
        self.runs.repeats = REPEATS if self.options.replay_every_step else 0
        self.schedules = Schedules(
            self.clock,
            store.catalog,
            self.instances,
            [entry for project in start.projects if self.options.schedules for entry in entries_of(project)],
            missed=self.reports.missed,
            failed=self.reports.not_fired,
        )
        self.join_isolates()

    def join_isolates(self) -> None:
        """The parts that live with the isolates: requests, the watch over blocking code, hot reload."""
        self.isolates = self.dispatch.isolates = Isolates(
            self.start.launcher,
            self.dispatch,
            self.streams,
            on_serving=self.serving,
            on_lost=self.reports.isolate_lost,
            on_problem=self.reports.problem,
        )
        front = FrontDoor(self.isolates)
        self.ingress = self.dispatch.ingress = Ingress(
            front, log=self.reports.request, failed=self.reports.request_failed
        )
        triggers = triggers_of(self.start.projects) if self.options.schedules else ()
        self.crons = Crons(self.clock, triggers, self.start.project.name, front, self.terminal)
        self.stuck = StuckWatch(
            self.isolates,
            self.runs,
            self.clock,
            has_requests=lambda: self.ingress.busy > 0,
            printed=self.dispatch.printed,
            report=self.reports.stuck,
            failed=self.reports.error,
            kills=not self.options.inspect,
        )
        self.instances.on_given_up = self.stuck.look_now
        self.reloader = Reloader(
            Sources(self.start.projects, self.store.folder.path, self.start.launcher.inputs),
            self.isolates,
            self.runs,
            self.terminal,
            requests=self.ingress.on,
            reloaded=self.reloaded,
        )

    # ---------------------------------------------------------------------------------------------------- the story

    async def run(self) -> int:
        """Bring everything up, serve, and take everything down."""
        self.clock.offset_ms = int(await self.store.catalog.get_meta(CLOCK_OFFSET) or 0)
        self.instances.declare(self.workflows())
        background: list[asyncio.Task[None]] = []
        try:
            server = http_server(self.application(), self.terminal, self.ready, self.websocket())
            recovered = await recover(self.store.catalog, self.store.journals, self.instances)
            banner.show(self.terminal, self.start, self.store, recovered)
            await self.schedules.open()
            banner.show_schedules(self.terminal, self.start, self.schedules.next)
            banner.show_triggers(self.terminal, self.crons.start())
            if not await self.isolates.begin() and not self.options.watch:
                return 1
            if self.isolates.problem is None and (missing := self.missing_classes()):
                raise missing
            background.append(asyncio.create_task(self.stuck.watch()))
            if self.options.watch:
                background.append(asyncio.create_task(self.reloader.watch(self.start.loaded_at)))
            background.append(asyncio.create_task(self.show_lints()))
            self.wakeups.start()
            self.sweeper.start()
            self.schedules.start()
            with self.signals(server):
                await server.serve(self.start.sockets)
            return 0
        finally:
            for task in background:
                task.cancel()
            await self.close()

    def ready(self) -> None:
        """The server accepts connections."""
        gc.freeze()  # what is loaded stays: collections took 3 % of the time of 200 instances looking at it again
        url = banner.url(self.options.ip, self.start.sockets[0].getsockname()[1])
        self.terminal.line(f"Ready on {url}")
        self.terminal.event("ready", url=url)
        self.up.set()

    @contextlib.contextmanager
    def signals(self, server: Any) -> Any:
        """The first Ctrl-C (or SIGTERM) drains, the second forces."""
        loop = asyncio.get_running_loop()

        def stop() -> None:
            if server.should_exit:
                self.isolates.kill()
                os._exit(FORCED)
            self.terminal.line("Stopping: requests and running attempts may finish; press Ctrl-C again to force.")
            server.should_exit = True
            self.isolates.stop()
            self.runs.stop_serving()
            self.runs.hold()
            loop.call_later(RESPONSES_FINISH, self.ingress.stop)

        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stop)
        yield

    async def close(self) -> None:
        """Let what runs come to a good place, then leave everything as the journals have it."""
        self.crons.close()
        await self.schedules.close()
        await self.wakeups.close()
        await self.sweeper.close()
        await self.runs.drain(ATTEMPTS_FINISH)
        await self.instances.close()
        await self.isolates.close()

    # --------------------------------------------------------------------------------------------------- the parts

    def workflows(self) -> list[Workflow]:
        """The Workflows of all projects."""
        projects = self.start.projects
        return [workflow for project in projects for workflow in workflows_of(project, self.options.target)]

    def application(self) -> Application:
        """What answers requests."""
        javascript = self.start.project.language == "javascript"
        return Scheduled(self.ingress, self.crons.by_hand) if javascript else self.ingress

    def websocket(self) -> Callable[..., asyncio.Protocol] | None:
        """What a connection that asks for a WebSocket becomes. To a Python Worker it is a request like any other."""
        return partial(Tunnel, self.ingress) if self.start.project.language == "javascript" else None

    def serving(self, loaded: Loaded) -> None:
        """An isolate has loaded the code."""
        if loaded.isolate.inspector is not None:
            self.terminal.line(f"  Inspector on {loaded.isolate.inspector}: see chrome://inspect")
        if has(loaded.role, "work"):
            self.runs.serve(loaded.isolate, self.workflows(), loaded.workflows, loaded.code)

    async def show_lints(self) -> None:
        """Print once what the code gets wrong for certain."""
        for project in self.start.projects:
            await lints.show_errors(project, self.options.target, self.terminal, self.up)

    def missing_classes(self) -> Exception | None:
        """The error that names Workflows whose class the code does not have."""
        up = self.isolates.current["work"] or self.isolates.current["front"]  # both have the same code
        known = up.workflows if up is not None else frozenset()
        found = (banner.missing_classes(project, known) for project in self.start.projects if up is not None)
        return next((error for error in found if error is not None), None)

    def reloaded(self) -> None:
        """New code serves: say what of the configuration it no longer has."""
        missing = self.missing_classes()
        if missing is not None:
            self.reports.error(missing)
