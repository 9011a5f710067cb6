"""The Response of the web platform."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, overload

from workers_shim.web.body import Body
from workers_shim.web.errors import not_served, range_error, type_error
from workers_shim.web.headers import Headers
from workers_shim.web.json_text import stringify
from workers_shim.web.proxy import jsnull, member
from workers_shim.web.url import parsed

_NULL_BODY = (101, 204, 205, 304)
_REDIRECTS = (301, 302, 303, 307, 308)


class ByClassOrInstance:
    """A name that is one function on the class and another on an instance: ``Response.json``."""

    def __init__(self, on_class: Callable[..., Any], on_instance: Callable[[Any], Awaitable[Any]]) -> None:
        self._on_class, self._on_instance = on_class, on_instance

    @overload
    def __get__(self, instance: None, owner: type) -> Callable[..., Any]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> Callable[..., Awaitable[Any]]: ...
    def __get__(self, instance: object, owner: type) -> Callable[..., Any]:
        if instance is None:
            return lambda *args, **options: self._on_class(owner, *args, **options)
        return lambda **options: self._on_instance(instance, **options)


class Response(Body):
    """An answer: status, headers and body."""

    _redirected = False
    _url = ""
    _type = "default"

    def __init__(self, body: Any = None, init: Any = None) -> None:
        self._status = _status(member(init, "status", 200))
        self._status_text = str(member(init, "statusText", ""))
        self._headers = Headers.new(member(init, "headers"))
        if _given(member(init, "webSocket")):
            raise NotImplementedError(not_served("A response with a WebSocket"))
        if self._status in _NULL_BODY and _given(body):
            raise type_error("Response with null body status (101, 204, 205, or 304) cannot have a body.")
        self._hold(body)

    @property
    def status(self) -> int:
        return self._status

    @property
    def statusText(self) -> str:
        return self._status_text

    @property
    def ok(self) -> bool:
        return 200 <= self._status <= 299

    @property
    def url(self) -> str:
        return self._url

    @property
    def redirected(self) -> bool:
        return self._redirected

    @property
    def type(self) -> str:
        return self._type

    def clone(self) -> Response:
        twin: Response = Response.new(None, {"headers": self._headers, "statusText": self._status_text})
        twin._status, twin._url, twin._redirected, twin._type = self._status, self._url, self._redirected, self._type
        twin._hold(self._divide())
        return twin

    @staticmethod
    def redirect(url: Any, status: int = 302) -> Response:
        if status not in _REDIRECTS:
            raise range_error(f"{status} is not a redirect status code.")
        target = parsed(url)
        if target is None:
            raise type_error(f"Unable to parse URL: {url}")
        made: Response = Response.new(None, {"status": status, "headers": [("Location", target.href)]})
        return made

    @staticmethod
    def error() -> Response:
        made: Response = Response.new()
        made._status, made._type = 0, "error"
        return made

    def _json_of(cls: Any, data: Any, init: Any = None, **options: Any) -> Response:
        made: Response = Response.new(stringify(data), options or init)
        if not Headers.new(member(options or init, "headers")).has("content-type"):
            made._headers.set("Content-Type", "application/json")
        return made

    json = ByClassOrInstance(_json_of, Body.json)  # type: ignore[assignment]


def _given(value: Any) -> bool:
    return value is not None and value is not jsnull


def _status(value: Any) -> int:
    try:
        status = int(value)
    except (TypeError, ValueError):
        status = 0
    if not 200 <= status <= 599 and status != 101:
        raise range_error("Responses may only be constructed with status codes in the range 200 to 599, inclusive.")
    return status


def received(status: int, headers: Headers, body: Any, url: str, redirected: bool) -> Response:
    """The response of a server, which may have any status."""
    made: Response = Response.new()
    made._headers = headers
    made._status, made._url, made._redirected = status, url, redirected
    made._hold(body)
    return made
