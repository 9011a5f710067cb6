"""Python: two isolates in the project's own interpreter, ``front`` and ``work``.

Imported before the event loop is: keep its imports few.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from runtime.isolates.child import Child
from runtime.isolates.streams import StreamStore
from runtime.isolates.transport import Listener
from runtime.store import StateFolder
from wrangler_compat import Project

from .errors import InterpreterError
from .interpreter import Interpreter, version_note
from .launcher import RunningIsolate
from .roles import Kind


class PythonLauncher:
    """`Launcher` for a Python project."""

    exclusive = False

    def __init__(self, project: Project, interpreter: Interpreter, folder: StateFolder, target: str) -> None:
        self._project = project
        self._interpreter = interpreter
        self._folder = folder
        self._target = target
        # After a kill there are instances to be taken up; else somebody is waiting for the first answer.
        self.kinds: Sequence[Kind] = ("work", "front") if folder.unclean else ("front", "work")
        self._first: Child | None = None

    def begin(self) -> None:
        self._first = self._child(self.kinds[0])

    async def launch(
        self, kind: Kind, listener: Listener, streams: StreamStore, *, trial: bool = False
    ) -> RunningIsolate:
        from runtime.isolates.process import ProcessIsolate

        from .workflows import load_message

        child, self._first = self._first or self._child(kind), None
        isolate = await ProcessIsolate.connect(child, listener)
        isolate.send(load_message(self._project, kind, self._target))
        return isolate

    def ended(self, pid: int) -> None:
        self._folder.forget_child(pid)

    def inputs(self) -> frozenset[Path] | None:
        return None  # nothing is built

    def engine(self) -> str:
        return f"Python {self._interpreter.version}: {self._interpreter.source}"

    def served(self, project: Project) -> Sequence[str]:
        return ()

    def advice(self) -> str | None:
        project = self._project
        return version_note(self._interpreter, project.compatibility_date, project.compatibility_flags)

    def _child(self, role: Kind) -> Child:
        """A process that inherits the lock of the state folder."""
        interpreter = self._interpreter
        command = [str(interpreter.path), *interpreter.arguments]
        try:
            child = Child(command, role, self._project.root, keep=[self._folder.lock])
        except OSError as error:
            reason = f"{interpreter.path}: {error.strerror or error}"
            hint = "If its environment was being made anew, save a file to try again; or pass --python."
            raise InterpreterError("The project's Python cannot be started.", detail=reason, hint=hint) from error
        self._folder.add_child(child.process.pid)
        return child
