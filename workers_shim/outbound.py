"""Requests to the outside: redirects, compression, and the body as it comes."""

from __future__ import annotations

import asyncio
import http.client
import zlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from urllib.parse import urljoin, urlsplit

from workers_shim.http_line import Line, Outbound

MAX_REDIRECTS = 20  # of the fetch standard
_REDIRECTS = (301, 302, 303, 307, 308)
_BODY_HEADERS = ("content-type", "content-length", "content-encoding", "content-language", "content-location")


@dataclass(frozen=True)
class Answer:
    """What a server said; ``body`` is read from the connection as it is asked for."""

    status: int
    reason: str
    headers: list[tuple[str, str]]
    url: str
    redirected: bool
    body: AsyncIterator[bytes] | None = field(repr=False)


async def send(request: Outbound) -> Answer:
    """Send a request, following redirects as the fetch standard says. What fails on the network is an OSError."""
    for hops in range(MAX_REDIRECTS + 1):
        line = Line(request.url)
        answer = await _exchange(line, request)
        target = answer.getheader("location")
        if answer.status not in _REDIRECTS or target is None or request.redirect == "manual":
            return _answer(line, request, answer, redirected=hops > 0)
        line.give_up()
        if request.redirect == "error":
            raise OSError(f"{request.url} answered with a redirect, and redirect is 'error'")
        request = _redirected(request, answer.status, target)
    raise OSError(f"Too many redirects (more than {MAX_REDIRECTS}), the last one to {request.url}")


async def _exchange(line: Line, request: Outbound) -> http.client.HTTPResponse:
    try:
        return await line.run(line.talk, request, asyncio.get_running_loop())
    except (http.client.HTTPException, ValueError) as error:
        line.give_up()
        raise OSError(f"{request.method} {request.url} failed: {type(error).__name__}: {error}") from error
    except BaseException:
        line.give_up()
        raise


def _redirected(request: Outbound, status: int, target: str) -> Outbound:
    url = urljoin(request.url, target)
    headers = request.headers
    if urlsplit(url).netloc != urlsplit(request.url).netloc:
        headers = _without(headers, ("authorization", "cookie", "host"))
    becomes_get = status == 303 and request.method not in ("GET", "HEAD")
    if becomes_get or (status in (301, 302) and request.method == "POST"):
        return replace(request, method="GET", url=url, headers=_without(headers, _BODY_HEADERS), body=None)
    if request.body is not None and not isinstance(request.body, bytes):
        raise OSError(f"{request.url} answered with a redirect, and the request's body is a stream that is used up")
    return replace(request, url=url, headers=headers)


def _without(headers: list[tuple[str, str]], names: tuple[str, ...]) -> list[tuple[str, str]]:
    return [header for header in headers if header[0].lower() not in names]


def _answer(line: Line, request: Outbound, answer: http.client.HTTPResponse, redirected: bool) -> Answer:
    headers = answer.getheaders()
    decoded = (answer.getheader("content-encoding") or "").lower() in ("gzip", "deflate")
    if decoded:  # the body is given decoded, so what described it no longer holds
        headers = _without(headers, ("content-encoding", "content-length"))
    has_body = request.method != "HEAD" and answer.status not in (204, 304)
    if not has_body:
        line.give_up()
    return Answer(
        answer.status, answer.reason, headers, request.url, redirected, Body(line, decoded) if has_body else None
    )


class Body:
    """The chunks of an answer's body. Dropping it, or closing it, ends the connection."""

    def __init__(self, line: Line, compressed: bool) -> None:
        self._line = line
        self._inflate = zlib.decompressobj(wbits=47) if compressed else None  # 47: gzip or zlib, by its header

    def __aiter__(self) -> Body:
        return self

    async def __anext__(self) -> bytes:
        try:
            while chunk := await self._line.run(self._line.read):
                if data := self._decoded(chunk):
                    return data
        except BaseException:
            self._line.give_up()
            raise
        self._line.give_up()
        raise StopAsyncIteration

    def _decoded(self, chunk: bytes) -> bytes:
        try:
            return chunk if self._inflate is None else self._inflate.decompress(chunk)
        except zlib.error as error:
            raise OSError(f"The body's compression is broken: {error}") from error

    async def aclose(self) -> None:
        self._line.give_up()

    def __del__(self) -> None:
        self._line.give_up()
