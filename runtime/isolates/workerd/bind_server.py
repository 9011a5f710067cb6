"""Where the bridge brings what user code asks of the host: an ASGI application on a port of its own."""

from __future__ import annotations

import asyncio
import hmac
import itertools
import socket
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import msgspec

from runtime.http.exchange import ResponseCut
from runtime.isolates.streams import StreamStore

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
# seconds; workerd drops a connection that it has not used for 5, and must be the one that does: a question that meets
# our end of it would be lost
KEEP_ALIVE = 3600

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode


class BindServer:
    """Takes calls of bindings, which become `bind` messages; `bound` answers them."""

    def __init__(
        self,
        token: str,
        streams: StreamStore | None,
        say: Callable[[dict[str, Any]], None],
        mapped: Callable[[int, str], str],
    ) -> None:
        self._token = token.encode()
        self._streams = streams
        self._mapped = mapped
        self._say = say
        self._numbers = itertools.count(1)
        self._asked: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._read = asyncio.get_running_loop().create_future()  # done when all calls so far are read, or broken off
        self._read.set_result(None)
        self._server: asyncio.Server | None = None
        self._connections: set[Any] = set()
        self.address = ""

    async def open(self, sock: socket.socket) -> None:
        """Serve what comes to a socket that listens already."""
        self.address = "{}:{}".format(*sock.getsockname())
        import uvicorn
        from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
        from uvicorn.server import ServerState

        config = uvicorn.Config(
            self,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            date_header=False,
            timeout_keep_alive=KEEP_ALIVE,
        )
        config.load()
        state = ServerState()
        self._connections = state.connections
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: HttpToolsProtocol(config, state, {}), sock=sock)

    def close(self) -> None:
        """Listen no more; whoever waits for an answer gets none."""
        if self._server is not None:
            self._server.close()
        for connection in list(self._connections):
            connection.transport.abort()
        for number in list(self._asked):
            self.answer({"id": number, "error": {"name": "Error", "message": "The isolate has ended."}})

    def answer(self, message: dict[str, Any]) -> None:
        """The host's `bound`."""
        asked = self._asked.get(message["id"])
        if asked is not None and not asked.done():
            asked.set_result(message)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        if not self._knows(scope):
            await _respond(send, 403, b"{}")
        elif scope["path"] == "/bind":
            await self._bind(receive, send)
        elif scope["path"] == "/stream" and self._streams is not None:
            from .stream_routes import stream_route

            await stream_route(self._streams, self._mapped, scope, receive, send)
        else:
            await _respond(send, 404, b"{}")

    def _knows(self, scope: Scope) -> bool:
        """Whether the token is with the request: any program on the machine can come to the port."""
        tokens = [value for name, value in scope["headers"] if name == b"celld-token"]
        return len(tokens) == 1 and hmac.compare_digest(tokens[0], self._token)

    async def _bind(self, receive: Receive, send: Send) -> None:
        call = await self._in_turn(receive)
        number = next(self._numbers)
        asked = self._asked[number] = asyncio.get_running_loop().create_future()
        try:
            self._say({"t": "bind", "id": number, "workflow": call["workflow"], "op": call["op"], "args": call["args"]})
            bound = await asked
        finally:
            del self._asked[number]
        await _respond(send, 200, _encode({key: bound[key] for key in ("value", "error") if key in bound}))

    async def _in_turn(self, receive: Receive) -> dict[str, Any]:
        """A call, when those that began before it are read: code may send a large event, and a small one at once."""
        before, here = self._read, asyncio.get_running_loop().create_future()
        self._read = here
        try:
            call: dict[str, Any] = _decode(await _whole(receive))
            await asyncio.shield(before)
            return call
        finally:
            before.add_done_callback(lambda _: here.set_result(None))


async def _whole(receive: Receive) -> bytes:
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ResponseCut  # the code that called was ended
        body += message.get("body", b"")
        if not message.get("more_body", False):
            return bytes(body)


async def _respond(send: Send, status: int, body: bytes) -> None:
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
