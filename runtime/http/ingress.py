"""Requests to the Worker: an ASGI application in front, the ``front`` isolate behind, both bodies streaming."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Protocol

from runtime.isolates.transport import Isolate
from workers_shim.wire.messages import MAX_FRAME, STREAM_CREDIT

from .error_page import error_response, unavailable_response

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Headers = list[tuple[bytes, bytes]]

PIECE = MAX_FRAME - 16  # bytes of a body that fit into one frame


class Unavailable(Exception):
    """Nothing can take the request now: a reload, a restart, or code that does not load."""


class Front(Protocol):
    """Where requests go."""

    async def isolate(self) -> Isolate:
        """The front isolate, as soon as there is one; raises `Unavailable` or `WorkerFailed`."""


class ResponseCut(Exception):
    """The response ends in the middle; the server closes the connection, and nothing needs to be said of it."""


class WorkerFailed(Exception):
    """The Worker's code raised; with what a developer needs to see."""

    def __init__(self, failure: dict[str, Any]) -> None:
        super().__init__(failure["error"]["message"])
        self.failure = failure


class Exchange:
    """One request and its response, on one isolate."""

    def __init__(self, id: int, isolate: Isolate) -> None:
        self.id = id
        self.isolate = isolate
        self.head: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self.body: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._credit = STREAM_CREDIT
        self._more_credit = asyncio.Event()
        self.cut = False  # the response ends in the middle

    # ---------------------------------------------------------------------------------------------------- upload

    async def upload(self, receive: Receive) -> None:
        """Send the request's body as far as the isolate takes it, then wait for the client to leave."""
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                self.isolate.send({"t": "disconnect", "id": self.id})
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
        head = await self.head
        headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in head["headers"]]
        await send({"type": "http.response.start", "status": head["status"], "headers": headers})
        while (piece := await self.body.get()) is not None:
            await send({"type": "http.response.body", "body": piece, "more_body": True})
            self.isolate.send({"t": "credit", "id": self.id, "bytes": len(piece)})
        if self.cut:
            # The client must not take what it has for the whole: the server closes the connection.
            raise ResponseCut
        await send({"type": "http.response.body", "body": b"", "more_body": False})
        status: int = head["status"]
        return status

    def fail(self, error: Exception) -> bool:
        """There will be no (more) answer; False when the response had already begun, which is then cut off."""
        if not self.head.done():
            self.head.set_exception(error)
            return True
        self.cut = True
        self.body.put_nowait(None)
        return False


class Ingress:
    """The ASGI application that uvicorn serves, and the listener of the front isolates' HTTP messages."""

    def __init__(
        self,
        front: Front,
        *,
        log: Callable[[str, str, int, float], None],
        failed: Callable[[dict[str, Any]], None],
    ) -> None:
        self._front = front
        self._log = log
        self._failed = failed
        self._ids = itertools.count(1)
        self._exchanges: dict[int, Exchange] = {}

    @property
    def busy(self) -> int:
        """How many requests are being answered."""
        return len(self._exchanges)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._http(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1011, "reason": "WebSockets are not served yet"})

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        began = time.monotonic()
        try:
            status = await self._exchange(scope, receive, send)
        except WorkerFailed as error:
            self._failed(error.failure)
            status = await error_response(scope, send, error.failure)
        except Unavailable as error:
            status = await unavailable_response(scope, send, str(error))
        self._log(scope["method"], scope["path"], status, time.monotonic() - began)

    async def _exchange(self, scope: Scope, receive: Receive, send: Send) -> int:
        isolate = await self._front.isolate()
        exchange = Exchange(next(self._ids), isolate)
        self._exchanges[exchange.id] = exchange
        isolate.send(_request(exchange.id, scope))
        upload = asyncio.create_task(exchange.upload(receive))
        try:
            return await exchange.download(send)
        finally:
            upload.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await upload
            del self._exchanges[exchange.id]

    # ------------------------------------------------------------------------------------- what the isolate says

    def on_message(self, message: dict[str, Any]) -> None:
        """Take `response`, `request_failed` or `credit`; an exchange that is over hears nothing."""
        exchange = self._exchanges.get(message["id"])
        if exchange is None:
            return
        if message["t"] == "response":
            if not exchange.head.done():
                exchange.head.set_result(message)
        elif message["t"] == "credit":
            exchange.credit(message["bytes"])
        elif not exchange.fail(WorkerFailed(message)):
            self._failed(message)

    def on_data(self, stream: int, data: bytes) -> None:
        exchange = self._exchanges.get(stream)
        if exchange is not None:
            exchange.body.put_nowait(data)

    def on_end(self, stream: int) -> None:
        exchange = self._exchanges.get(stream)
        if exchange is not None:
            exchange.body.put_nowait(None)

    def lost(self, isolate: Isolate) -> None:
        """An isolate is gone; so are the answers it owed."""
        text = "The isolate that answered this request ended before it was done."
        failure = {"error": {"name": "Error", "message": text}, "traceback": text}
        for exchange in self._exchanges.values():
            if exchange.isolate is isolate:
                exchange.fail(WorkerFailed(failure))

    def stop(self) -> None:
        """End all that is still being answered: the host is about to exit."""
        for exchange in self._exchanges.values():
            exchange.fail(Unavailable("celld-py is stopping."))


def _request(id: int, scope: Scope) -> dict[str, Any]:
    headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]]
    host = next((value for name, value in headers if name.lower() == "host"), None) or _server(scope)
    path = scope.get("raw_path") or scope["path"].encode()
    query = scope["query_string"]
    target = path.decode("latin-1") + (f"?{query.decode('latin-1')}" if query else "")
    request = {
        "t": "request",
        "id": id,
        "method": scope["method"],
        "url": f"{scope['scheme']}://{host}{target}",
        "headers": headers,
        "http_version": scope["http_version"],
    }
    if scope.get("client"):
        request["client"] = list(scope["client"])
    return request


def _server(scope: Scope) -> str:
    name, port = scope.get("server") or ("localhost", None)
    return name if port is None else f"{name}:{port}"
