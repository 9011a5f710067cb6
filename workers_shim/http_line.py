"""One HTTP exchange over the standard library's client, whose blocking calls run in a few threads."""

from __future__ import annotations

import asyncio
import http.client
import socket
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import TypeVar, TypeVarTuple
from urllib.parse import urlsplit

from workers_shim.threads import Threads

MAX_THREADS = 16
HEADERS_TIMEOUT = 100.0  # seconds; Cloudflare gives an origin as long to begin its answer
_CHUNK = 64 * 1024
# Headers that belong to this connection, also when a client's request is passed on: as on Workers, the host is the
# URL's, and what is accepted is what can be decoded.
_OURS = ("accept-encoding", "connection", "content-length", "host", "transfer-encoding")

_threads = Threads(MAX_THREADS, "fetch")
T = TypeVar("T")
Ts = TypeVarTuple("Ts")

RequestBody = bytes | AsyncIterator[bytes] | None


@dataclass(frozen=True)
class Outbound:
    """A request to send."""

    method: str
    url: str
    headers: list[tuple[str, str]]
    body: RequestBody = None
    redirect: str = "follow"


class Line:
    """A connection for one request. `talk` and `read` block, so they run in a thread, through `run`."""

    def __init__(self, url: str) -> None:
        self._http = _connection(url)
        self._socket: socket.socket | None = None
        self._answer: http.client.HTTPResponse | None = None
        self._busy = self._given_up = False

    async def run(self, function: Callable[[*Ts], T], *args: *Ts) -> T:
        """Call one of the functions below in a thread."""
        self._busy = True
        return await _threads.run(self._guarded, function, *args)

    def _guarded(self, function: Callable[[*Ts], T], *args: *Ts) -> T:
        try:
            if self._given_up:
                raise OSError("Network connection lost: the request was given up")
            return function(*args)
        finally:
            self._busy = False
            if self._given_up:
                self._close()

    def give_up(self) -> None:
        """End the connection. A thread that is at work on it is woken, and closes it itself."""
        self._given_up = True
        if self._busy and self._socket is not None:
            with suppress(OSError):  # the other side may have ended it first
                self._socket.shutdown(socket.SHUT_RDWR)
        if not self._busy:
            self._close()

    def _close(self) -> None:
        if self._answer is not None:
            self._answer.close()
        self._http.close()

    def talk(self, request: Outbound, loop: asyncio.AbstractEventLoop) -> http.client.HTTPResponse:
        """Send everything, and wait for the headers of the answer."""
        self._http.connect()
        self._socket = self._http.sock
        self._send_head(request)
        self._send_body(request.body, loop)
        self._answer = answer = self._http.getresponse()
        if not answer.isclosed():
            self._socket.settimeout(None)  # a stream of events may be silent for as long as it likes
        return answer

    def _send_head(self, request: Outbound) -> None:
        target = urlsplit(request.url)._replace(scheme="", netloc="", fragment="").geturl() or "/"
        self._http.putrequest(request.method, target, skip_accept_encoding=True)
        for name, value in request.headers:
            if name.lower() not in _OURS:
                self._http.putheader(name, value.encode())
        self._http.putheader("Accept-Encoding", "gzip, deflate")
        self._http.putheader("Connection", "close")
        if isinstance(request.body, bytes) or (request.body is None and request.method in ("POST", "PUT", "PATCH")):
            self._http.putheader("Content-Length", str(len(request.body or b"")))
        elif request.body is not None:
            self._http.putheader("Transfer-Encoding", "chunked")
        self._http.endheaders()

    def _send_body(self, body: RequestBody, loop: asyncio.AbstractEventLoop) -> None:
        if isinstance(body, bytes):
            self._http.send(body)
        elif body is not None:
            while chunk := asyncio.run_coroutine_threadsafe(_next(body), loop).result():
                self._http.send(b"%x\r\n%b\r\n" % (len(chunk), chunk))
            self._http.send(b"0\r\n\r\n")

    def read(self) -> bytes:
        """Wait for the next part of the body; nothing at its end."""
        answer = self._answer
        assert answer is not None
        try:
            chunk = answer.read1(_CHUNK)
        except (http.client.HTTPException, ValueError) as error:  # ValueError: a chunk's size that is no number
            raise OSError(f"Network connection lost: {error!r}") from error
        if not chunk and answer.length:
            # read1 takes a connection that ended too early for the end of the body.
            raise OSError(f"Network connection lost: {answer.length} bytes of the body are missing")
        return chunk


async def _next(chunks: AsyncIterator[bytes]) -> bytes:
    """The next chunk that is not empty; nothing at the end."""
    async for chunk in chunks:
        if chunk:
            return chunk
    return b""


def _connection(url: str) -> http.client.HTTPConnection:
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    if parts.scheme == "https":
        return http.client.HTTPSConnection(host, timeout=HEADERS_TIMEOUT, context=_tls())
    if parts.scheme == "http":
        return http.client.HTTPConnection(host, timeout=HEADERS_TIMEOUT)
    raise OSError(f"Fetch API cannot load: {url}")


@cache
def _tls() -> ssl.SSLContext:
    return ssl.create_default_context()
