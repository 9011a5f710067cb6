"""JavaScript and TypeScript: one workerd for all projects of a start, which takes requests and runs workflows.

Imported before the event loop is: keep its imports few.
"""

from __future__ import annotations

import asyncio
import itertools
import shutil
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from runtime.isolates.streams import StreamStore
from runtime.isolates.transport import Listener
from runtime.isolates.workerd.spawn import Launch, Spawned, plan_of, spawn
from runtime.javascript.build import build
from runtime.javascript.compatibility import newest_date
from runtime.javascript.failures import BuildFailed
from runtime.javascript.pins import ESBUILD_VERSION, WORKERD_VERSION
from runtime.javascript.plan import Worker
from runtime.javascript.tools import Tools
from runtime.store import StateFolder
from wrangler_compat import Notice, Project

from .errors import ProjectError
from .launcher import RunningIsolate
from .options import Options
from .problem import DoesNotLoad, Problem
from .roles import Kind

ANY_PORT = "127.0.0.1:0"  # of the inspector: the workerds of a reload are there at the same time


class JavaScriptLauncher:
    """`Launcher` for JavaScript projects."""

    kinds: Sequence[Kind] = ("both",)

    def __init__(
        self,
        projects: Sequence[Project],
        tools: Tools,
        folder: StateFolder,
        options: Options,
        notice: Callable[[Notice], None],
    ) -> None:
        self._projects = projects
        self._tools = tools
        self._folder = folder
        self._options = options
        self._notice = notice
        self._builds = folder.path / "build"
        self._numbers = itertools.count(1)
        self._threads = ThreadPoolExecutor(1, "build")
        self._first: Future[Spawned] | None = None
        self._tried: Launch | None = None  # what was started on trial, and is to be started next
        self._inputs: frozenset[Path] | None = None
        self._running: dict[int, Path] = {}  # by pid: the build that a process runs
        self._noticed: set[Notice] = set()

    @property
    def exclusive(self) -> bool:
        """Two workerds would each have a Durable Object of their own where there must be one.

        Also one that nobody asks anything: at its start it calls `alarm()` of every object whose time has come.
        """
        from wrangler_compat.durable_objects import read_durable_objects

        return any(read_durable_objects(each.resolved, each.name).classes for each in self._projects)

    def begin(self) -> None:
        shutil.rmtree(self._builds, ignore_errors=True)  # what a host that was killed has left
        self._first = self._threads.submit(self._start)

    async def launch(
        self, kind: Kind, listener: Listener, streams: StreamStore, *, trial: bool = False
    ) -> RunningIsolate:
        from runtime.isolates.workerd.launch import attach

        spawned = await self._spawned(trial)
        pid = spawned.started.pid
        self._running[pid] = spawned.what.folder
        try:
            self._folder.add_child(pid)
            self._tell(spawned)
            isolate = await attach(spawned, listener, streams, mute=trial)
        except BaseException:
            spawned.kill()
            self.ended(pid)
            raise
        self._tried = spawned.what if trial else None
        return isolate

    def ended(self, pid: int) -> None:
        """Forget a process, and what it ran."""
        folder = self._running.pop(pid, None)
        tried = self._tried.folder if self._tried is not None else None
        if folder is not None and folder != tried and folder not in self._running.values():
            shutil.rmtree(folder, ignore_errors=True)
        self._folder.forget_child(pid)

    # ----------------------------------------------------------------------------------------- in the build's thread

    async def _spawned(self, trial: bool) -> Spawned:
        if trial:
            self._tried = None
        spawning, self._first = self._first or self._threads.submit(self._start, trial), None
        try:
            spawned = await asyncio.wrap_future(spawning)
        except BuildFailed as failure:
            self._inputs = None
            raise DoesNotLoad(problem_of(failure)) from failure
        except OSError as error:
            raise ProjectError("workerd cannot be started.", detail=str(error), code="workerd") from error
        self._inputs = frozenset(path for worker in spawned.what.workers for path in _read(worker))
        return spawned

    def _start(self, trial: bool = False) -> Spawned:
        """Build all projects, and start a workerd on them."""
        objects = self._folder.path / "durable-objects"
        if self._tried is not None and not trial:
            return spawn(replace(self._tried, storage=objects))
        folder = self._builds / str(next(self._numbers))
        try:
            return spawn(self._launch_of(folder, folder / "durable-objects" if trial else objects))
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise

    def _launch_of(self, folder: Path, storage: Path) -> Launch:
        """What is to be started: all projects, built into a folder."""
        try:
            workers = tuple(
                Worker(project, build(project, self._tools, folder / str(number)))
                for number, project in enumerate(self._projects)
            )
        except OSError as error:
            raise ProjectError("The project cannot be built.", detail=str(error), code="build") from error
        return Launch(
            workers=workers,
            workerd=self._tools.workerd,
            newest_date=newest_date(WORKERD_VERSION),
            folder=folder,
            storage=storage,
            inspector=ANY_PORT if self._options.inspect else None,
            keep=[self._folder.lock],
        )

    def _tell(self, spawned: Spawned) -> None:
        """Say what of the projects will not work, each thing once."""
        from runtime.javascript.notices import notices

        for notice in notices(plan_of(spawned.what, "", "", "")):
            if notice not in self._noticed:
                self._noticed.add(notice)
                self._notice(notice)

    # -------------------------------------------------------------------------------------------------- for the host

    def inputs(self) -> frozenset[Path] | None:
        return self._inputs

    def engine(self) -> str:
        return f"workerd {WORKERD_VERSION}, built with esbuild {ESBUILD_VERSION}"

    def served(self, project: Project) -> Sequence[str]:
        from .served import served

        return tuple(served(project))

    def advice(self) -> str | None:
        return None


def _read(worker: Worker) -> Iterator[Path]:
    """The files that a worker was made of, and what says how its assets are served, which is read at its start."""
    yield from worker.bundle.inputs
    if worker.assets is not None:
        yield from worker.assets.control_files.values()


def problem_of(failure: BuildFailed) -> Problem:
    """A build's first error for the headline, all of them with their lines of code in the text."""
    first = failure.errors[0]
    text = "\n".join(map(str, failure.errors))
    return Problem("BuildFailed", first.text, text, first.file, first.line)
