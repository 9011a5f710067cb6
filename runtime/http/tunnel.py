"""WebSockets of clients: bytes from one connection to another, which only the two ends understand.

Whatever they agree on (subprotocols, compression, close codes) is theirs; the host reads no more than the two heads.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Protocol

import httptools

from .pausable import Pausable

if TYPE_CHECKING:
    from .ingress import Ingress


class Near(Protocol):
    """The client's end, as the Worker's end sees it."""

    def answered(self, status: int) -> None:
        """The Worker's answer begins: 101, or why not."""

    def give(self, data: bytes) -> None:
        """Bytes for the client."""

    def failed(self, failure: dict[str, Any]) -> None:
        """The Worker raised, in the form of `wire.messages.RequestFailed`; nothing follows."""

    def close(self) -> None:
        """All is said."""

    def pause_reading(self) -> None:
        """Take no more of the client for now."""

    def resume_reading(self) -> None:
        """Go on."""


class Far(Protocol):
    """The Worker's end, as the client's end sees it."""

    def take(self, data: bytes) -> None:
        """Bytes of the client."""

    def close(self) -> None:
        """The client is gone."""

    def pause_reading(self) -> None:
        """Take no more of the Worker for now."""

    def resume_reading(self) -> None:
        """Go on."""


class Upgrading(Protocol):
    """An isolate that takes upgrades."""

    async def upgrade(self, request: Mapping[str, Any], near: Near) -> Far:
        """Pass on a request for an upgrade, which is like `wire.messages.Request`; raises `OSError`."""


class Tunnel(Pausable):
    """A client's connection that has asked for a WebSocket; the form is that of uvicorn's WebSocket protocols."""

    def __init__(self, ingress: Ingress, config: Any, server_state: Any, app_state: Any) -> None:
        self._ingress = ingress
        self._connections: set[Any] = server_state.connections
        self._far: Far | None = None
        self._opening: asyncio.Task[None] | None = None
        self._scope: dict[str, Any] = {}
        self._began = time.monotonic()
        self._gone = False

    # --------------------------------------------------------------------------------------------------- the client

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._connections.add(self)

    def data_received(self, data: bytes) -> None:
        if self._far is not None:
            self._far.take(data)
        elif self._opening is None:  # the head, which uvicorn has put together again
            self.pause_reading()
            self._scope = _scope(data, self._transport)
            self._opening = asyncio.get_running_loop().create_task(self._open())

    async def _open(self) -> None:
        far = await self._ingress.upgrade(self._scope, self)
        if far is None or self._gone:
            if far is not None:
                far.close()
            return
        self._far = far
        self.resume_reading()

    def pause_writing(self) -> None:
        if self._far is not None:
            self._far.pause_reading()

    def resume_writing(self) -> None:
        if self._far is not None:
            self._far.resume_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        self._gone = True
        self._connections.discard(self)
        self._ingress.tunnels.discard(self)
        if self._far is not None:
            self._far.close()

    def shutdown(self) -> None:
        """The server is about to exit."""
        self.close()

    # --------------------------------------------------------------------------------------------------- the Worker

    def answered(self, status: int) -> None:
        self._ingress.answered_upgrade(self._scope, status, time.monotonic() - self._began)

    def give(self, data: bytes) -> None:
        self._put(data)

    def failed(self, failure: dict[str, Any]) -> None:
        self._ingress.failed_upgrade(failure)
        self.refuse(500, failure["traceback"])

    def refuse(self, status: int, text: str) -> None:
        """Say to the client why there will be no WebSocket."""
        body = f"{text}\n".encode()
        lines = [
            f"HTTP/1.1 {status} {HTTPStatus(status).phrase}",
            "content-type: text/plain; charset=utf-8",
            f"content-length: {len(body)}",
            "connection: close",
        ]
        self.answered(status)
        self.give("\r\n".join([*lines, "", ""]).encode() + body)
        self.close()

    def close(self) -> None:
        assert self._transport is not None
        self._transport.close()


def _scope(head: bytes, transport: asyncio.Transport | None) -> dict[str, Any]:
    """What ASGI would say of the request."""
    first, *lines = head.split(b"\r\n\r\n", 1)[0].split(b"\r\n")
    method, target, _ = first.split(b" ", 2)
    url = httptools.parse_url(target)
    headers = [(name, value.strip()) for name, _, value in (line.partition(b":") for line in lines)]
    return {
        "type": "websocket",
        "method": method.decode("ascii"),
        "scheme": "http",
        "http_version": "1.1",
        "path": "",
        "raw_path": url.path or b"/",
        "query_string": url.query or b"",
        "headers": headers,
        "server": transport.get_extra_info("sockname")[:2] if transport is not None else None,
        "client": transport.get_extra_info("peername")[:2] if transport is not None else None,
    }
