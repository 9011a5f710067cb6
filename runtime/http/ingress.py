"""Requests to the Worker: an ASGI application in front, the ``front`` isolate behind, both bodies streaming."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import re
import time
from collections.abc import Callable, MutableMapping
from typing import Any, Protocol, cast

from runtime.isolates.transport import Isolate

from .error_page import error_response, refusal
from .exchange import ClientLeft, Exchange, Receive, Send, is_status
from .tunnel import Far, Tunnel, Upgrading

Scope = MutableMapping[str, Any]

HOST = re.compile(r"(?:[\w.~-]+|\[[0-9A-Fa-f:.]+\])(?::(?P<port>[0-9]{0,5}))?", re.ASCII)
MAX_PORT = 65535
GONE = "gone"  # in a scope's state: a future that is done when the client has left
CLIENT_LEFT = 499  # the status that logs of web servers show for it; nobody receives it


class Unavailable(Exception):
    """Nothing can take the request now: a reload, a restart, or code that does not load."""


class BadRequest(Exception):
    """The request cannot be given to a Worker; with the reason, for the client."""


class Front(Protocol):
    """Where requests go."""

    async def isolate(self) -> Isolate:
        """The front isolate, as soon as there is one; raises `Unavailable` or `WorkerFailed`."""


class WorkerFailed(Exception):
    """The Worker's code raised; with what a developer needs to see."""

    def __init__(self, failure: dict[str, Any]) -> None:
        super().__init__(failure["error"]["message"])
        self.failure = failure


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
        self.tunnels: set[Tunnel] = set()  # WebSockets, open or about to be

    @property
    def busy(self) -> int:
        """How many requests are being answered."""
        return len(self._exchanges) + len(self.tunnels)

    def on(self, isolate: Isolate) -> int:
        """How many requests an isolate is answering."""
        return sum(exchange.isolate is isolate for exchange in self._exchanges.values())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._http(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1011, "reason": "WebSockets are not served yet"})

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        began = time.monotonic()
        try:
            status = await self._exchange(scope, receive, send)
        except BadRequest as error:
            status = await refusal(scope, send, 400, str(error))
        except WorkerFailed as error:
            self._failed(error.failure)
            status = await error_response(scope, send, error.failure)
        except Unavailable as error:
            status = await refusal(scope, send, 503, str(error))
        except ClientLeft:
            status = CLIENT_LEFT
        self._log(scope["method"], _path(scope), status, time.monotonic() - began)

    async def _exchange(self, scope: Scope, receive: Receive, send: Send) -> int:
        url = _url(scope)
        isolate = await self._front.isolate()
        exchange = Exchange(next(self._ids), isolate, scope["method"])
        self._exchanges[exchange.id] = exchange
        isolate.send(_request(exchange.id, url, scope))
        stay = _when_gone(scope, exchange.left)
        upload = asyncio.create_task(exchange.upload(receive))
        try:
            return await exchange.download(send)
        finally:
            stay()
            upload.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await upload
            del self._exchanges[exchange.id]

    # ------------------------------------------------------------------------------------------------- WebSockets

    async def upgrade(self, scope: Scope, tunnel: Tunnel) -> Far | None:
        """The Worker's end for a client that asks for a WebSocket; None when there is none, which it is told."""
        self.tunnels.add(tunnel)
        try:
            url = _url(scope)
            isolate = cast(Upgrading, await self._front.isolate())
            return await isolate.upgrade(_request(0, url, scope), tunnel)
        except BadRequest as error:
            tunnel.refuse(400, str(error))
        except WorkerFailed as error:
            tunnel.failed(error.failure)
        except (Unavailable, ConnectionError) as error:
            tunnel.refuse(503, str(error))
        return None

    def answered_upgrade(self, scope: Scope, status: int, seconds: float) -> None:
        """The client hears whether there will be a WebSocket."""
        self._log(scope["method"], _path(scope), status, seconds)

    def failed_upgrade(self, failure: dict[str, Any]) -> None:
        """The Worker raised instead of taking a WebSocket."""
        self._failed(failure)

    # ------------------------------------------------------------------------------------- what the isolate says

    def on_message(self, message: dict[str, Any]) -> None:
        """Take `response`, `request_failed` or `credit`; an exchange that is over hears nothing."""
        exchange = self._exchanges.get(message["id"])
        if exchange is None:
            return
        if message["t"] == "response":
            self._answered(exchange, message)
        elif message["t"] == "credit":
            exchange.credit(message["bytes"])
        elif message.get("refused"):
            exchange.fail(Unavailable("The Worker is being started again. Try once more in a moment."))
        elif not exchange.fail(WorkerFailed(message)):
            self._failed(message)

    def _answered(self, exchange: Exchange, head: dict[str, Any]) -> None:
        if is_status(head["status"]):
            exchange.begin(head)
        else:
            text = f"The Worker answered with status {head['status']!r}. It must be a whole number from 200 to 599."
            exchange.refuse(WorkerFailed(_failure(text)))

    def on_data(self, stream: int, data: bytes) -> None:
        exchange = self._exchanges.get(stream)
        if exchange is not None:
            exchange.data(data)

    def on_end(self, stream: int) -> None:
        exchange = self._exchanges.get(stream)
        if exchange is not None:
            exchange.end()

    def lost(self, isolate: Isolate) -> None:
        """An isolate is gone; so are the answers it owed."""
        failure = _failure("The isolate that answered this request ended before it was done.")
        for exchange in self._exchanges.values():
            if exchange.isolate is isolate:
                exchange.fail(WorkerFailed(failure))

    def stop(self) -> None:
        """End all that is still being answered: the host is about to exit."""
        for exchange in self._exchanges.values():
            exchange.fail(Unavailable("celld-py is stopping."))


def _failure(text: str) -> dict[str, Any]:
    """What we say ourselves, in the form of `wire.messages.RequestFailed`."""
    return {"error": {"name": "Error", "message": text}, "traceback": text}


def _when_gone(scope: Scope, act: Callable[[], None]) -> Callable[[], None]:
    """Call ``act`` when the client of a scope leaves; the result takes that back."""
    gone: asyncio.Future[None] | None = scope.get("state", {}).get(GONE)
    if gone is None:
        return lambda: None

    def left(_: asyncio.Future[None]) -> None:
        act()

    gone.add_done_callback(left)

    def withdraw() -> None:
        gone.remove_done_callback(left)

    return withdraw


def _request(id: int, url: str, scope: Scope) -> dict[str, Any]:
    request = {
        "t": "request",
        "id": id,
        "method": scope["method"],
        "url": url,
        "headers": [(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]],
        "http_version": scope["http_version"],
    }
    if scope.get("client"):
        request["client"] = list(scope["client"])
    return request


def _url(scope: Scope) -> str:
    """The address that the client asked for; raises `BadRequest` when its parts do not make one."""
    hosts = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
    host = next(iter(hosts), "") or _server(scope)
    match = HOST.fullmatch(host)
    if len(hosts) > 1 or match is None or int(match["port"] or 0) > MAX_PORT:
        raise BadRequest("The Host header does not name a host.")
    path, query = _path(scope), scope["query_string"].decode("latin-1")
    if not path.startswith("/"):
        raise BadRequest("The request is not for a path.")
    return f"{scope['scheme']}://{host}{path}{'?' if query else ''}{query}"


def _path(scope: Scope) -> str:
    """The path as the client sent it: decoded it may hold line ends and terminal controls."""
    path: bytes = scope.get("raw_path") or scope["path"].encode()
    return path.decode("latin-1")


def _server(scope: Scope) -> str:
    name, port = scope.get("server") or ("localhost", None)
    return name if port is None else f"{name}:{port}"
