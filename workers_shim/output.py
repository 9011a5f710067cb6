"""What user code prints: whole lines, each with the run, step and attempt that wrote it."""

from __future__ import annotations

import io
import sys
import threading
from collections.abc import Callable
from typing import Any, Literal, TextIO, cast

from workers_shim import current

Stream = Literal["stdout", "stderr"]
Origin = tuple[int, str | None, int | None] | None
Emit = Callable[[Stream, str, Origin], None]

PARTIAL_AFTER = 0.1  # seconds until a line without its end is shown
LONGEST_LINE = 64 * 1024  # characters; longer ones are broken, so that a writer without line ends costs no memory


class Lines(io.TextIOBase):
    """A text stream that gives whole lines, kept apart by who writes them."""

    def __init__(self, name: Stream, emit: Emit, later: Callable[[], None]) -> None:
        self._name: Stream = name
        self._emit = emit
        self._later = later
        self._partial: dict[Origin, str] = {}
        self._lock = threading.RLock()
        self._buffer = io.BufferedWriter(_Bytes(self), 1)

    @property
    def name(self) -> str:
        """As the interpreter names it."""
        return f"<{self._name}>"

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """Always UTF-8."""
        return "utf-8"

    @property
    def errors(self) -> str:  # type: ignore[override]
        """How bytes that are not UTF-8 are shown."""
        return "backslashreplace"

    @property
    def buffer(self) -> io.BufferedIOBase:
        """The stream for bytes."""
        return self._buffer

    def writable(self) -> bool:
        """It is."""
        return True

    def isatty(self) -> bool:
        """Never: the terminal is the host's."""
        return False

    def write(self, text: str, /) -> int:
        """Take text; whole lines go out at once."""
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        origin = current.ORIGIN.get()
        with self._lock:
            *lines, rest = (self._partial.pop(origin, "") + text).split("\n")
            for line in lines:
                self._emit(self._name, line.removesuffix("\r"), origin)
            while len(rest) > LONGEST_LINE:
                self._emit(self._name, rest[:LONGEST_LINE], origin)
                rest = rest[LONGEST_LINE:]
            if rest:
                self._partial[origin] = rest
        if rest:
            self._later()
        return len(text)

    def flush_partial(self, origin: Origin) -> None:
        """Show the line that this writer has not ended."""
        if not self._partial:
            return
        with self._lock:
            rest = self._partial.pop(origin, None)
            if rest is not None:
                self._emit(self._name, rest, origin)

    def flush_all(self) -> None:
        """Show all lines that are not ended."""
        for origin in list(self._partial):
            self.flush_partial(origin)


class _Bytes(io.RawIOBase):
    """The bytes side of a `Lines`, undecodable bytes shown escaped."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        text = bytes(data)
        self._lines.write(text.decode("utf-8", "backslashreplace"))
        return len(text)


def install(emit: Emit, later: Callable[[], None]) -> None:
    """Put the two streams in the place of the interpreter's. ``later`` must call `flush_all` after `PARTIAL_AFTER`."""
    sys.stdout = cast(TextIO, Lines("stdout", emit, later))
    sys.stderr = cast(TextIO, Lines("stderr", emit, later))


def flush() -> None:
    """Show the unfinished lines of the current task."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, Lines):
            stream.flush_partial(current.ORIGIN.get())


def flush_all() -> None:
    """Show the unfinished lines of all."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, Lines):
            stream.flush_all()
