"""One request on its way to an isolate, and its response on the way back."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from runtime.isolates.transport import Isolate
from workers_shim.wire.messages import MAX_FRAME, STREAM_CREDIT

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

PIECE = MAX_FRAME - 16  # bytes of a body that fit into one frame
BODILESS = frozenset({204, 304})
HOP_BY_HOP = frozenset({"connection", "keep-alive", "transfer-encoding", "upgrade"})  # the server's own affair


def is_status(status: object) -> bool:
    """Whether this can be the status of a response; after one below 200 the client would wait for another."""
    return type(status) is int and 200 <= status <= 599


class ResponseCut(Exception):
    """The response ends in the middle; the server closes the connection, and nothing needs to be said of it."""


class ClientLeft(Exception):
    """Nobody waits for the answer any more."""


class Exchange:
    """One request and its response, on one isolate."""

    def __init__(self, id: int, isolate: Isolate, method: str) -> None:
        self.id = id
        self.isolate = isolate
        self._head: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._method = method
        self._body: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._whole = False  # all of the response is here, whatever happens to the isolate
        self._cut: Exception | None = None  # why the response ends in the middle
        self._credit = STREAM_CREDIT
        self._more_credit = asyncio.Event()

    # ---------------------------------------------------------------------------------------------------- upload

    async def upload(self, receive: Receive) -> None:
        """Send the request's body as far as the isolate takes it, then wait for the client to leave."""
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                self.left()
                return
            await self._send(message.get("body", b""))
            if not message.get("more_body", False):
                self.isolate.send_end(self.id)

    async def _send(self, data: bytes) -> None:
        for start in range(0, len(data), PIECE):
            piece = data[start : start + PIECE]
            while self._credit < len(piece):
                self._more_credit.clear()
                await self._more_credit.wait()
            self._credit -= len(piece)
            self.isolate.send_data(self.id, piece)

    def credit(self, count: int) -> None:
        """The isolate has consumed some of the request's body."""
        self._credit += count
        self._more_credit.set()

    # -------------------------------------------------------------------------------------------------- download

    async def download(self, send: Send) -> int:
        """Send the response to the client as it comes; gives its status."""
        head = await self._head
        status: int = head["status"]
        await send({"type": "http.response.start", "status": status, "headers": _headers(head)})
        if self._method == "HEAD" or status in BODILESS:
            self.isolate.send({"t": "disconnect", "id": self.id})  # a stream that nobody will read is not made
        else:
            await self._stream(send)
        await send({"type": "http.response.body", "body": b"", "more_body": False})
        return status

    async def _stream(self, send: Send) -> None:
        while (piece := await self._body.get()) is not None:
            await send({"type": "http.response.body", "body": piece, "more_body": True})
            self.isolate.send({"t": "credit", "id": self.id, "bytes": len(piece)})
        if self._cut is not None:
            raise self._cut

    def begin(self, head: dict[str, Any]) -> None:
        """The head of the response is here."""
        if not self._head.done():
            self._head.set_result(head)

    def data(self, data: bytes) -> None:
        """A piece of the response is here."""
        self._body.put_nowait(data)

    def end(self) -> None:
        """All of the response is here."""
        self._whole = True
        self._body.put_nowait(None)

    # ------------------------------------------------------------------------------------------------------- end

    def left(self) -> None:
        """The client is gone: the isolate hears of it, and nobody waits for the rest."""
        self.isolate.send({"t": "disconnect", "id": self.id})
        self._end_early(ClientLeft(), ClientLeft())

    def refuse(self, error: Exception) -> None:
        """The isolate's answer cannot be given to the client; the isolate need not make the rest of it."""
        if not self._head.done():
            self._head.set_exception(error)
            self.isolate.send({"t": "disconnect", "id": self.id})

    def fail(self, error: Exception) -> bool:
        """There will be no (more) answer; False when the response had already begun, which is then cut off."""
        # The client must not take what it has for the whole: the server closes the connection.
        return self._whole or self._end_early(error, ResponseCut())

    def _end_early(self, error: Exception, cut: Exception) -> bool:
        if not self._head.done():
            self._head.set_exception(error)
            return True
        self._cut = cut
        self._body.put_nowait(None)
        return False


def _headers(head: dict[str, Any]) -> list[tuple[bytes, bytes]]:
    return [
        (name.encode("latin-1"), value.encode("latin-1"))
        for name, value in head["headers"]
        if name.lower() not in HOP_BY_HOP
    ]
