"""HTTP connections to the bridge: requests go out byte for byte, responses come in as they are.

Not a client library's, because those add headers, decode bodies, mend paths and follow redirects; and importing one
takes longer than workerd needs to start.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Protocol

import httptools

from runtime.http.pausable import Pausable

Headers = Sequence[tuple[str, str]]

IDLE = 3.0  # seconds that a connection is kept; workerd closes idle ones after 5
BODILESS = frozenset({204, 304})
_AT_ONCE = 64 << 10


class Answering(Protocol):
    """Who hears the answer to a request. After `ended` or `broken` nothing follows."""

    def headed(self, status: int, headers: Headers) -> None:
        """The head is here."""

    def body(self, data: bytes) -> None:
        """A piece of the body is here."""

    def ended(self) -> None:
        """All of it is here."""

    def broken(self, reason: str) -> None:
        """There will be no (more) answer."""

    def writable(self) -> None:
        """More of the request's body can be taken."""


class Connection(Pausable):
    """One connection, for one request after another."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._parser = httptools.HttpResponseParser(self)
        self._answering: Answering | None = None
        self._headers: list[tuple[str, str]] = []
        self._bodiless = False
        self._uploading = False
        self._lasts = True
        self.full = False  # it takes no more of a body now
        self.idle_since = 0.0

    @property
    def usable(self) -> bool:
        """Whether another request can go out."""
        return self._transport is not None and not self._transport.is_closing()

    # ------------------------------------------------------------------------------------------------------ to it

    def begin(self, head: bytes, answering: Answering, *, method: str, has_body: bool) -> None:
        """Send a request's head."""
        assert self._answering is None and self._transport is not None
        self._answering = answering
        self._bodiless = method == "HEAD"
        self._uploading = has_body
        self._lasts = True
        self._headers = []
        self._transport.write(head)

    def write(self, data: bytes) -> None:
        """Send a piece of its body, framed already."""
        self._put(data)

    def uploaded(self) -> None:
        """All of the body is sent."""
        self._uploading = False

    def abort(self) -> None:
        """Hang up: the request is over for the other side too."""
        self._answering = None
        if self._transport is not None:
            self._transport.abort()

    # ---------------------------------------------------------------------------------------------------- from it

    def data_received(self, data: bytes) -> None:
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserCallbackError:
            raise  # it is no fault of the answer's: the loop tells of it, and hangs up
        except httptools.HttpParserError as error:
            self._break(f"its answer cannot be read: {error}")

    def pause_writing(self) -> None:
        self.full = True

    def resume_writing(self) -> None:
        self.full = False
        if self._answering is not None:
            self._answering.writable()

    def connection_lost(self, exc: Exception | None) -> None:
        self._pool.forget(self)
        if exc is not None and self._answering is not None and self._transport is not None:
            # A Worker may answer without having read all of a large request. workerd then hangs up, and it is by
            # writing on that one notices, before the answer is read.
            for data in _unread(self._transport):
                self.data_received(data)
        self._break(str(exc) if exc is not None else "the connection ended")

    def _break(self, reason: str) -> None:
        answering, self._answering = self._answering, None
        if answering is not None:
            answering.broken(reason)
        self.abort()

    # ---------------------------------------------------------------------------------------------------- the parser

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers.append((name.decode("latin-1"), value.decode("latin-1")))

    def on_headers_complete(self) -> None:
        status = self._parser.get_status_code()
        if status < 200:  # an interim answer: the real one follows
            self._headers = []
            return
        if self._answering is not None:
            self._answering.headed(status, self._headers)
        if self._bodiless and status not in BODILESS:  # the parser waits for a body that does not come
            self._lasts = False
            self._over()

    def on_body(self, body: bytes) -> None:
        if self._answering is not None:
            self._answering.body(body)

    def on_message_complete(self) -> None:
        if self._parser.get_status_code() >= 200:
            self._lasts = self._lasts and self._parser.should_keep_alive()
            self._over()

    def _over(self) -> None:
        answering, self._answering = self._answering, None
        if answering is not None:
            answering.ended()
        if self._lasts and not self._uploading and self.usable:
            self.resume_reading()
            self._pool.keep(self)
        elif self._transport is not None:
            self._transport.close()


def _unread(transport: asyncio.Transport) -> Iterator[bytes]:
    """What has come on a connection that broke when something was written to it."""
    with (
        contextlib.suppress(OSError),  # there is no more
        socket.socket(fileno=os.dup(transport.get_extra_info("socket").fileno())) as ended,
    ):
        while data := ended.recv(_AT_ONCE, socket.MSG_DONTWAIT):
            yield data


class Pool:
    """The connections to one port, those that rest kept for the next request."""

    def __init__(self, port: int) -> None:
        self.port = port
        self._loop = asyncio.get_running_loop()
        self._all: set[Connection] = set()
        self._idle: deque[Connection] = deque()  # the longest idle first

    def idle(self) -> Connection | None:
        """A connection that is there already."""
        while self._idle:
            connection = self._idle.pop()
            if connection.usable and self._loop.time() - connection.idle_since < IDLE:
                return connection
            connection.abort()
        return None

    async def connect(self) -> Connection:
        """A new connection; raises `OSError`."""
        _, connection = await self._loop.create_connection(lambda: Connection(self), "127.0.0.1", self.port)
        self._all.add(connection)
        return connection

    def keep(self, connection: Connection) -> None:
        """It can take another request."""
        connection.idle_since = self._loop.time()
        self._idle.append(connection)
        while self._idle and self._loop.time() - self._idle[0].idle_since > IDLE:
            self._idle.popleft().abort()

    def forget(self, connection: Connection) -> None:
        """It is gone."""
        self._all.discard(connection)
        if connection in self._idle:
            self._idle.remove(connection)

    def close(self) -> None:
        """Hang up on all."""
        for connection in list(self._all):
            connection.abort()
