"""The first moments of `celld-py dev`: read the configuration, take the state folder, start the first isolate.

This comes before the rest of the host is imported, which takes as long as the isolate needs to import the project's
code: so both happen side by side, and a start takes as long as the longer of the two. Keep this module's imports few.
"""

from __future__ import annotations

import socket
import time
from dataclasses import dataclass
from pathlib import Path

from runtime.cli.terminal import Terminal
from runtime.isolates.child import Child
from runtime.store import StateFolder, StoreError
from wrangler_compat import Project

from .errors import CelldError, InterpreterError
from .interpreter import Interpreter, choose_interpreter
from .listen import listen
from .options import Options
from .projects import open_project
from .roles import Role


@dataclass(frozen=True, slots=True)
class Start:
    """Everything that is there before the event loop runs."""

    options: Options
    project: Project
    interpreter: Interpreter
    sockets: list[socket.socket]
    folder: StateFolder
    role: Role  # of the first isolate
    child: Child  # its process
    loaded_at: float  # seconds since the epoch: what is edited after it is not in the isolates

    def launch(self, role: Role) -> Child:
        """Start an isolate's process."""
        return launch(role, self.project, self.interpreter, self.folder)


def begin(options: Options, terminal: Terminal) -> Start:
    """Read, choose, listen, lock and launch, in this order; raises what the person can put right."""
    project = open_project(options)
    interpreter = choose_interpreter(project.root, options.python, terminal.note)
    sockets = listen(options.ip, options.port)
    try:
        folder = StateFolder.open(state_folder(options, project), options.durability)
    except StoreError as error:
        raise CelldError(str(error), code="state") from error
    loaded_at = time.time()
    # After a kill there are instances to be taken up; else somebody is waiting for the first answer.
    role: Role = "work" if folder.unclean else "front"
    child = launch(role, project, interpreter, folder)
    return Start(options, project, interpreter, sockets, folder, role, child, loaded_at)


def state_folder(options: Options, project: Project) -> Path:
    """Where the project's instances are kept."""
    return (options.persist_to or project.root / ".celld" / "state").absolute()


def launch(role: Role, project: Project, interpreter: Interpreter, folder: StateFolder) -> Child:
    """Start an isolate's process, which inherits the folder's lock."""
    command = [str(interpreter.path), *interpreter.arguments]
    try:
        child = Child(command, role, project.root, keep=[folder.lock])
    except OSError as error:
        reason = f"{interpreter.path}: {error.strerror or error}"
        hint = "If its environment was being made anew, save a file to try again; or pass --python."
        raise InterpreterError("The project's Python cannot be started.", detail=reason, hint=hint) from error
    folder.add_child(child.process.pid)
    return child
