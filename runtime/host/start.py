"""The first moments of `celld-py dev`: read the configuration, take the state folder, start what runs the code.

This comes before the rest of the host is imported, which takes as long as the isolate needs to import the project's
code: so both happen side by side, and a start takes as long as the longer of the two. Keep this module's imports few.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from runtime.cli.terminal import Terminal
from runtime.store import StateFolder, StoreError
from wrangler_compat import Project

from .errors import CelldError, UsageError
from .launcher import Launcher
from .listen import listen
from .options import Options
from .projects import open_projects


@dataclass(frozen=True, slots=True)
class Start:
    """Everything that is there before the event loop runs."""

    options: Options
    projects: tuple[Project, ...]  # the first one answers requests; only JavaScript knows others
    sockets: list[socket.socket]
    folder: StateFolder
    launcher: Launcher  # which has begun
    loaded_at: float  # seconds since the epoch: what is edited after it is not in the isolates

    @property
    def project(self) -> Project:
        """The one that answers requests."""
        return self.projects[0]


def begin(options: Options, terminal: Terminal) -> Start:
    """Read, choose, listen, lock and launch, in this order; raises what the person can put right."""
    projects = open_projects(options)
    choose = _python if projects[0].language == "python" else _javascript
    launcher_over = choose(options, projects, terminal)
    sockets = listen(options.ip, options.port)
    try:
        folder = StateFolder.open(state_folder(options, projects[0]), options.durability)
    except StoreError as error:
        raise CelldError(str(error), code="state") from error
    loaded_at = time.time()
    launcher = launcher_over(folder)
    launcher.begin()
    return Start(options, projects, sockets, folder, launcher, loaded_at)


def state_folder(options: Options, project: Project) -> Path:
    """Where the project's instances are kept."""
    return (options.persist_to or project.root / ".celld" / "state").absolute()


def _python(options: Options, projects: Sequence[Project], terminal: Terminal) -> Callable[[StateFolder], Launcher]:
    """Choose what a Python project runs on."""
    from .interpreter import choose_interpreter
    from .python_launcher import PythonLauncher

    if options.inspect:
        hint = "For Python, start a debugger such as debugpy in the Worker's code."
        raise UsageError("--inspect is for JavaScript and TypeScript projects.", hint=hint)
    (project,) = projects
    interpreter = choose_interpreter(project.root, options.python, terminal.note)
    return lambda folder: PythonLauncher(project, interpreter, folder, options.target)


def _javascript(options: Options, projects: Sequence[Project], terminal: Terminal) -> Callable[[StateFolder], Launcher]:
    """Find what JavaScript projects are built and run with."""
    from runtime.javascript.tools import find_tools

    from .javascript_launcher import JavaScriptLauncher

    tools = find_tools(projects[0].root, terminal.note)
    return lambda folder: JavaScriptLauncher(
        projects, tools, folder, options, lambda notice: terminal.warning(notice.text, notice.hint)
    )
