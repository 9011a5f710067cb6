"""setTimeout and its family, on the isolate's event loop."""

from __future__ import annotations

import asyncio
import inspect
import itertools
from collections.abc import Callable
from typing import Any

_numbers = itertools.count(1)
_handles: dict[int, asyncio.TimerHandle] = {}
_running: set[asyncio.Future[Any]] = set()  # the loop itself holds tasks only weakly


def setTimeout(function: Callable[..., Any], ms: float = 0, *args: Any) -> int:
    """Call the function once, after so many milliseconds; the number takes it back."""
    number = next(_numbers)

    def due() -> None:
        del _handles[number]
        _call(function, args)

    _handles[number] = _later(ms, due)
    return number


def setInterval(function: Callable[..., Any], ms: float = 0, *args: Any) -> int:
    """Call the function again and again, every so many milliseconds."""
    number = next(_numbers)

    def due() -> None:
        _handles[number] = _later(ms, due)  # before the call, which may take it back
        _call(function, args)

    _handles[number] = _later(ms, due)
    return number


def clearTimeout(number: Any = None) -> None:
    """Take a timer back; an unknown number is no error."""
    handle = _handles.pop(number, None)
    if handle is not None:
        handle.cancel()


clearInterval = clearTimeout


def queueMicrotask(function: Callable[[], Any]) -> None:
    """Call the function when the code that runs now has come to rest."""
    asyncio.get_running_loop().call_soon(function)


def _later(ms: float, function: Callable[[], None]) -> asyncio.TimerHandle:
    return asyncio.get_running_loop().call_later(max(ms, 0) / 1000, function)


def _call(function: Callable[..., Any], args: tuple[Any, ...]) -> None:
    result = function(*args)
    if inspect.isawaitable(result):
        task = asyncio.ensure_future(result)
        _running.add(task)
        task.add_done_callback(_running.discard)
