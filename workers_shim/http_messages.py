"""HTTP messages between the isolate's wire and the objects that Worker code handles."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from workers_shim.web.headers import Headers
from workers_shim.web.request import arrived
from workers_shim.web.response import Response as JsResponse
from workers_shim.web.streams import stream_of

if TYPE_CHECKING:
    from workers import Request

Body = bytes | AsyncIterator[bytes] | None

_BODILESS = (204, 304)


def incoming(method: str, url: str, headers: list[tuple[str, str]], body: AsyncIterator[bytes] | None) -> Request:
    """The Request that a handler is given; its body is read from the wire when the handler reads it."""
    from workers import Request

    stream = None if body is None else stream_of(body)
    return Request(arrived(method, url, Headers.of(headers), stream))


def outgoing(response: object, method: str = "GET") -> tuple[int, list[tuple[str, str]], Body]:
    """Status, header lines and body of what a handler returned."""
    answer = getattr(response, "js_object", response)
    if not isinstance(answer, JsResponse):
        raise TypeError(_unusable(response))
    if not 200 <= answer.status <= 599:  # Response.error() has 0, and what fetch() gave may have any
        raise ValueError(f"The handler returned a Response with status {answer.status}; it must be from 200 to 599.")
    lines, body = [(name, _latin(value)) for name, value in answer.headers.lines()], answer.detach()
    bodiless = method == "HEAD" or answer.status in _BODILESS
    return answer.status, lines if bodiless and body is None else _measured(lines, body), body


def _measured(lines: list[tuple[str, str]], body: Body) -> list[tuple[str, str]]:
    """The header lines with the body's true length. As on Cloudflare a stream has none, whatever its maker says."""
    others = [line for line in lines if line[0].lower() != "content-length"]
    if isinstance(body, AsyncIterator):
        return others
    return [*others, ("content-length", str(len(body or b"")))]


def _latin(value: str) -> str:
    """The value as the wire has it: latin-1 text. What does not fit travels as the bytes of its UTF-8."""
    try:
        value.encode("latin-1")
    except UnicodeEncodeError:
        return value.encode("utf-8", "replace").decode("latin-1")
    return value


def _unusable(returned: object) -> str:
    what = "nothing (None)" if returned is None else f"a {type(returned).__name__}: {repr(returned)[:80]}"
    hint = "; Response.json(...) makes one from data" if isinstance(returned, dict | list) else ""
    return f"The handler returned {what}. It must return a Response{hint}."
