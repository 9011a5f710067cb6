"""Finds what code outside steps does to the outside world: by what a test can observe, and by what Python audits.

Such code runs again with every replay, so what it does happens again, too.
"""

from __future__ import annotations

import linecache
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

from runtime.isolates.in_process import outside_steps

WRITES = frozenset(
    {
        "open", "os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.link", "os.symlink", "os.truncate",
        "socket.connect", "subprocess.Popen", "os.system", "os.posix_spawn", "sqlite3.connect",
    }
)  # fmt: skip
_FOR_WRITING = os.O_WRONLY | os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_TRUNC

_watching: SideEffects | None = None
_hooked = False


class Line(NamedTuple):
    """A line of the project's code."""

    file: str
    number: int

    def __str__(self) -> str:
        return f"{self.file}:{self.number}: {linecache.getline(self.file, self.number).strip()}"


class SideEffects:
    """Watches a project's code while it runs outside steps."""

    def __init__(self, folder: Path, observe: Callable[[], object]) -> None:
        self.found: dict[Line, str] = {}  # what each line did
        self._folder = str(folder) + os.sep
        self._observe = observe
        self._observing = False
        self._seen = ""
        self._line: Line | None = None  # what has run since `_seen`

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Hear what Python audits. A hook cannot be taken back, so there is one in a process."""
        global _watching, _hooked
        if not _hooked:
            sys.addaudithook(_audit)
            _hooked = True
        _watching = self
        try:
            yield
        finally:
            _watching = None

    def told(self) -> list[str]:
        """Each line, and what it did."""
        return [f"{line}  ({what})" for line, what in self.found.items()]

    # -------------------------------------------------------------------------------------------- line by line

    def trace(self, frame: FrameType, event: str, arg: object) -> Callable[..., Any] | None:
        """The trace function of the Worker's thread: looks at the world around each line outside steps."""
        if not self._is_projects(frame.f_code.co_filename) or not self._concerned():
            return None
        self._look()
        self._line = None if event == "call" else _line_of(frame)
        if event == "return":
            caller = frame.f_back
            ours = caller is not None and self._is_projects(caller.f_code.co_filename)
            self._line = _line_of(caller) if caller is not None and ours else None
        return self.trace

    def _concerned(self) -> bool:
        return outside_steps()

    def _look(self) -> None:
        self._observing = True
        try:
            now = repr(self._observe())
        finally:
            self._observing = False
        if now != self._seen and self._line is not None:
            change = f"{shortened(self._seen)} -> {shortened(now)}"
            self.found.setdefault(self._line, f"changes what can be observed: {change}")
        self._seen = now

    def _is_projects(self, file: str) -> bool:
        # An environment may lie in the same folder.
        return file.startswith(self._folder) and f"{os.sep}site-packages{os.sep}" not in file

    # ------------------------------------------------------------------------------------------------------ audited

    def hear(self, event: str, args: tuple[Any, ...]) -> None:
        """Python is about to do something; note it if code of the project outside steps wants it."""
        if self._observing or event not in WRITES or not outside_steps() or not _writes(event, args):
            return
        frame: FrameType | None = sys._getframe(2)
        while frame is not None and not self._is_projects(frame.f_code.co_filename):
            frame = frame.f_back
        if frame is not None:
            self.found.setdefault(_line_of(frame), f"{event}({', '.join(map(repr, args[:2]))})")


def _audit(event: str, args: tuple[Any, ...]) -> None:
    if _watching is not None:
        _watching.hear(event, args)


def _writes(event: str, args: tuple[Any, ...]) -> bool:
    if event != "open":
        return True
    path, _, flags = args
    # Importing a module for the first time writes its compiled form.
    return bool(isinstance(flags, int) and flags & _FOR_WRITING) and ".pyc" not in str(path)


def _line_of(frame: FrameType) -> Line:
    return Line(frame.f_code.co_filename, frame.f_lineno)


def shortened(text: str) -> str:
    """The beginning of a long text."""
    return text if len(text) <= 60 else f"{text[:57]}..."
