"""Places in the user's code: which frame of a stack, a coroutine or a traceback is theirs."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Iterator
from functools import cache
from types import CodeType, FrameType, TracebackType
from typing import Any, NamedTuple

_OURS = os.path.dirname(os.path.abspath(__file__)) + os.sep
_STDLIB = tuple(sysconfig.get_path(name) + os.sep for name in ("stdlib", "platstdlib"))
_PACKAGES = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")


class Place(NamedTuple):
    """A line of the user's code."""

    file: str
    line: int
    function: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line} in {self.function}"


@cache
def is_user_file(file: str) -> bool:
    """Whether the file is the user's own: not the interpreter's, not an installed package's, not this one's."""
    if file.startswith(("<", _OURS, *_STDLIB)):
        return False
    return not any(part in file for part in _PACKAGES)


def of_stack(frame: FrameType | None) -> Place | None:
    """The innermost user frame of a running stack."""
    while frame is not None:
        if is_user_file(frame.f_code.co_filename):
            return _of_frame(frame)
        frame = frame.f_back
    return None


def of_caller() -> Place | None:
    """Where user code called into the shim."""
    return of_stack(sys._getframe(1))


def of_coroutine(coroutine: Any) -> Place | None:
    """Where in the user's code a suspended coroutine waits."""
    places = [_of_frame(frame) for frame in await_chain(coroutine) if is_user_file(frame.f_code.co_filename)]
    return places[-1] if places else None


def of_function(function: Any) -> Place | None:
    """Where a function is defined."""
    code = getattr(function, "__code__", None)
    if not isinstance(code, CodeType) or not is_user_file(code.co_filename):
        return None
    return Place(code.co_filename, code.co_firstlineno, code.co_qualname)


def of_error(error: BaseException) -> Place | None:
    """The innermost user line that an error came through; for a SyntaxError the line that it complains about."""
    if isinstance(error, SyntaxError) and error.filename and is_user_file(error.filename):
        return Place(error.filename, error.lineno or 1, "<module>")
    found = None
    for frame, line in _traceback_frames(error.__traceback__):
        if is_user_file(frame.f_code.co_filename):
            found = Place(frame.f_code.co_filename, line, frame.f_code.co_qualname)
    return found


def await_chain(coroutine: Any) -> Iterator[FrameType]:
    """The frames of a suspended coroutine and of what it awaits, outermost first."""
    while coroutine is not None:
        frame = (
            getattr(coroutine, "cr_frame", None)
            or getattr(coroutine, "gi_frame", None)
            or getattr(coroutine, "ag_frame", None)
        )
        if frame is not None:
            yield frame
        coroutine = (
            getattr(coroutine, "cr_await", None)
            or getattr(coroutine, "gi_yieldfrom", None)
            or getattr(coroutine, "ag_await", None)
        )


def _of_frame(frame: FrameType) -> Place:
    return Place(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_qualname)


def _traceback_frames(traceback: TracebackType | None) -> Iterator[tuple[FrameType, int]]:
    while traceback is not None:
        yield traceback.tb_frame, traceback.tb_lineno
        traceback = traceback.tb_next
