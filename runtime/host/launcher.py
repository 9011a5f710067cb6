"""The seam between the host and a language: what has to be started for a project's code to run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from runtime.isolates.streams import StreamStore
from runtime.isolates.transport import Isolate, Listener
from wrangler_compat import Project

from .roles import Kind


class RunningIsolate(Isolate, Protocol):
    """An isolate with a process of its own."""

    @property
    def inspector(self) -> str | None:
        """The address on which a debugger is welcome."""

    async def wait(self) -> int:
        """Wait for the process to end; gives its exit status."""


class Launcher(Protocol):
    """Starts the isolates of a project."""

    @property
    def kinds(self) -> Sequence[Kind]:
        """One isolate of each kind serves the project; the first to be started stands first."""

    @property
    def exclusive(self) -> bool:
        """Whether an old isolate must be dead before a new one is there: they would have the same objects open."""

    def begin(self) -> None:
        """Start what the first isolate needs, long before there is an event loop; raises `CelldError`."""

    async def launch(
        self, kind: Kind, listener: Listener, streams: StreamStore, *, trial: bool = False
    ) -> RunningIsolate:
        """Start an isolate on the code as it is now, which will say `loaded` or `load_failed`.

        One on ``trial`` will not serve: it only shows whether the code loads, and the next one is of the same code.
        Raises `CelldError` or `DoesNotLoad` when it cannot be started.
        """

    def ended(self, pid: int) -> None:
        """The process of an isolate has ended, and is reaped."""

    def inputs(self) -> frozenset[Path] | None:
        """The files that the last build read; None when none was made, or it failed."""

    def engine(self) -> str:
        """What runs the code, for the terminal: name, version, and where it comes from."""

    def served(self, project: Project) -> Sequence[str]:
        """What of the project is served besides Workflows and variables, a line each."""

    def advice(self) -> str | None:
        """In what it differs from what the project is deployed to, where that may matter."""
