"""HTTP/1.1 on a connection: uvicorn's, with a bounded head and a sign that the client has left."""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from .ingress import GONE

MAX_HEAD = 144 * 1024  # bytes: Cloudflare takes 16 KB of URL and 128 KB of headers


class Connection(HttpToolsProtocol):
    """One client's connection.

    uvicorn tells an application that its client left only when it asks for more of the request's body, which an
    application that waits for something else does not do; and it collects a head of any size.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._gone: asyncio.Future[None] = self.loop.create_future()
        self._head: int | None = None  # bytes of an unfinished head, without its first read, which a body may precede
        self.app_state = {**self.app_state, GONE: self._gone}

    def data_received(self, data: bytes) -> None:
        before = self._head
        super().data_received(data)
        if before is None or self._head is None or self.transport.is_closing():
            return
        self._head = before + len(data)
        if self._head > MAX_HEAD:
            self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if not self._gone.done():
            self._gone.set_result(None)

    def _refuse(self, status: HTTPStatus) -> None:
        head = f"HTTP/1.1 {status.value} {status.phrase}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
        self.transport.write(head.encode())
        self.transport.close()

    # ---------------------------------------------------------------------------------------------------- the parser

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._head = 0

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._head is not None:  # after the head they are trailers, which Workers do not get
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._head = None
        super().on_headers_complete()

    def _unsupported_upgrade_warning(self) -> None:
        """A request for a WebSocket is a plain request; uvicorn would advise to install a library."""
