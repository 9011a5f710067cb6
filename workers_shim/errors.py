"""Errors as Worker code sees them, and as they cross the wire."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from traceback import TracebackException
from types import TracebackType

from workers_shim.wire.messages import ErrorData

# Names that keep their class over RPC: the constructors that V8's serializer knows, and the one DOMException that the
# engine meets.
KEPT_NAMES = frozenset(
    {
        "Error",
        "EvalError",
        "RangeError",
        "ReferenceError",
        "SyntaxError",
        "TypeError",
        "URIError",
        "DataCloneError",
    }
)

LONGEST = 1024 * 1024  # characters of a message or traceback; the middle of a longer one is left out

_ORIGIN = "__celld_error__"  # attribute of a revived exception: the ErrorData it was made from
_OUR_NOTES = "__celld_notes__"  # attribute: the texts among its notes that are ours
_HIDDEN = tuple(f"{Path(file).parent}/" for file in (__file__, asyncio.__file__))
_NATIVE = re.compile(r"(TypeError|ValueError)(?::.*)?")


class JsException(Exception):
    """A JavaScript error. ``str()`` is ``"Name: message"``."""

    # Tracebacks show pyodide's name, because that is what they show on Cloudflare.
    __module__ = "pyodide.ffi"

    def __init__(self, name: str, message: str = "", stack: str = "") -> None:
        super().__init__(name, message, stack)
        self.name = name
        self.message = message
        self.stack = stack

    def __str__(self) -> str:
        return f"{self.name}: {self.message}" if self.message else self.name


class DataCloneError(JsException):
    """A value that cannot be cloned: a `JsException` named DataCloneError."""

    __module__ = "pyodide.ffi"
    __qualname__ = "JsException"  # pyodide has no class of its own for it

    def __init__(self, message: str, *_: str) -> None:
        super().__init__("DataCloneError", message)
        self.args = (message,)


class ConversionError(Exception):
    """A value that has no counterpart on the other side, such as a tuple as a key."""

    __module__ = "pyodide.ffi"


class NonRetryableError(Exception):
    """Raise it in a step to give the step up without a retry."""

    __module__ = "workers.workflows"


def over_rpc(error: ErrorData) -> ErrorData:
    """Give an error the form in which JavaScript code meets it after an RPC hop."""
    name, message = error["name"], error["message"]
    if name in KEPT_NAMES:
        return {"name": name, "message": message}
    return {"name": "Error", "message": f"{name}: {message}" if message else name}


def describe(error: BaseException) -> ErrorData:
    """Give the form in which an exception of user code is sent and stored.

    One that `revive` made and that is raised on unchanged is described as what it was made from.
    """
    origin: ErrorData | None = getattr(error, _ORIGIN, None)
    if origin is not None:
        return {"name": origin["name"], "message": origin["message"]}
    if isinstance(error, JsException):
        return over_rpc({"name": error.name, "message": shortened(error.message)})
    if type(error).__name__ == "NonRetryableError":  # by name and exactly, as Cloudflare's SDK does
        message = message_of(error)
        return {"name": "NonRetryableError", "message": "" if "\n" in message else message}
    return {"name": "PythonError", "message": user_traceback(error)}


def report(error: BaseException) -> ErrorData:
    """`describe`, and for the developer the traceback with our notes, unless the error was only passed on."""
    data = describe(error)
    if data["name"] != "PythonError" and not hasattr(error, _ORIGIN):
        data["detail"] = user_traceback(error)
    return data


def revive(error: ErrorData) -> Exception:
    """Give the exception that Python code meets where a step or a call failed with this error."""
    name, message = error["name"], error["message"]
    revived: Exception
    if name == "NonRetryableError":
        revived = NonRetryableError(message)
    elif name == "PythonError":
        revived = _revive_python(message)
    else:
        revived = JsException(name, message)
    setattr(revived, _ORIGIN, {"name": name, "message": message})
    return revived


def _revive_python(text: str) -> Exception:
    foreign = JsException("PythonError", text)
    last = text.rstrip("\n").rpartition("\n")[2]
    native = _NATIVE.fullmatch(last)
    if native is None:
        return foreign
    # Only these two come back as themselves, and with the traceback's line as their message.
    revived = (TypeError if native[1] == "TypeError" else ValueError)(last)
    revived.__cause__ = foreign
    return revived


def add_detail(error: BaseException, text: str) -> None:
    """Add a note that tells more than Cloudflare's message; `user_traceback` shows it above the last line.

    An ordinary note is the traceback's last line, and by that line TypeError and ValueError are known again.
    """
    error.add_note(text)
    setattr(error, _OUR_NOTES, (*getattr(error, _OUR_NOTES, ()), text))


def user_traceback(error: BaseException) -> str:
    """Format an exception with its causes, showing only frames of user code and of the user's libraries."""
    shown = TracebackException.from_exception(error)
    for part in _parts(shown):
        part.stack[:] = [frame for frame in part.stack if not is_hidden(frame.filename)]
    ours = getattr(error, _OUR_NOTES, ())
    if not ours or shown.__notes__ is None:
        return shortened("".join(shown.format()).rstrip("\n"))
    shown.__notes__ = [note for note in shown.__notes__ if note not in ours]
    lines = list(shown.format())
    last = len(lines) - len(list(shown.format_exception_only()))
    lines[last:last] = [f"  {note}\n" for note in ours]
    return shortened("".join(lines).rstrip("\n"))


def message_of(error: BaseException) -> str:
    """Give ``str(error)``, whatever the error's class makes of that."""
    try:
        return shortened(str(error))
    except Exception:
        return "<exception str() failed>"  # the words of the traceback module


def shortened(text: str) -> str:
    """Give the text with no more of it than an error has use for: its beginning and its end."""
    left_out = len(text) - LONGEST
    if left_out <= 0:
        return text
    half = LONGEST // 2
    return f"{text[:half]} [... {left_out} characters ...] {text[-half:]}"


def user_frame(trace: TracebackType | None) -> tuple[str, int] | None:
    """Give file and line of the innermost frame of user code, if there is one."""
    found = None
    while trace is not None:
        if not is_hidden(trace.tb_frame.f_code.co_filename):
            found = (trace.tb_frame.f_code.co_filename, trace.tb_lineno)
        trace = trace.tb_next
    return found


def is_hidden(filename: str) -> bool:
    """Whether a file is part of the machinery under user code: this package or asyncio."""
    return filename.startswith(_HIDDEN) or filename.startswith("<frozen ")


def _parts(shown: TracebackException) -> Iterator[TracebackException]:
    """An exception with all that its traceback shows beside it."""
    waiting = [shown]
    while waiting:
        part = waiting.pop()
        yield part
        beside = [part.__cause__, part.__context__, *(part.exceptions or ())]
        waiting += [other for other in beside if other is not None]
