"""Pyodide's bridge between Python and JavaScript, where both sides are Python."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, TypeVar

from workers_shim.errors import ConversionError, JsException
from workers_shim.not_served import explain_missing
from workers_shim.web.buffers import ArrayBuffer, TypedArray
from workers_shim.web.convert import to_js
from workers_shim.web.proxy import Array as JsArray
from workers_shim.web.proxy import JsNull, JsProxy, jsnull
from workers_shim.web.proxy import Map as JsMap

__all__ = [
    "ConversionError",
    "JsArray",
    "JsBuffer",
    "JsException",
    "JsMap",
    "JsNull",
    "JsProxy",
    "can_run_sync",
    "create_once_callable",
    "create_proxy",
    "destroy_proxies",
    "jsnull",
    "run_sync",
    "to_js",
]

JsBuffer = (ArrayBuffer, TypedArray)
T = TypeVar("T")


class _Proxy:
    """A Python object as JavaScript holds it: callable if the object is, with the object's attributes."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def __call__(self, *args: Any, **options: Any) -> Any:
        return self._value(*args, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._value, name)

    def destroy(self) -> None:
        """Let JavaScript's hold on the object go; here there is none."""

    def copy(self) -> _Proxy:
        return _Proxy(self._value)

    def unwrap(self) -> Any:
        return self._value


def create_proxy(value: Any, /, *, capture_this: bool = False, roundtrip: bool = True) -> Any:
    """Wrap an object so that JavaScript may keep it."""
    return value if isinstance(value, JsProxy) else _Proxy(value)


def create_once_callable(function: Callable[..., Any], /, **_: Any) -> Any:
    """A callable for JavaScript that may be called one time."""
    left = [function]

    def once(*args: Any, **options: Any) -> Any:
        if not left:
            raise RuntimeError("OnceProxy can only be called once")
        return left.pop()(*args, **options)

    return _Proxy(once)


def destroy_proxies(proxies: Iterable[Any], /) -> None:
    """Let go of proxies that a `to_js` call made."""
    for proxy in proxies:
        if isinstance(proxy, _Proxy):
            proxy.destroy()


def can_run_sync() -> bool:
    """Whether `run_sync` works where it is called."""
    return False


def run_sync(awaitable: Awaitable[T], /) -> T:
    """Block until the awaitable is done; plain CPython cannot do that on the thread of the event loop."""
    if inspect.iscoroutine(awaitable):
        awaitable.close()
    raise RuntimeError(
        "run_sync is not served by celld-py yet: CPython's event loop cannot wait inside a synchronous call. "
        "Make the function async and await the value instead."
    )


explain_missing(__name__)
