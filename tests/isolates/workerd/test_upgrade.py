from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from runtime.http.ingress import Ingress, Unavailable
from runtime.http.protocol import Connection
from runtime.http.tunnel import Tunnel
from runtime.isolates.workerd.isolate import WorkerdIsolate
from runtime.javascript.tools import Tools

from .world import Heard, running

pytestmark = pytest.mark.asyncio

ECHO = """
export default { fetch(request) {
  if (request.headers.get("upgrade") !== "websocket") return new Response("a request", { status: 426 });
  if (request.url.endsWith("/throw")) throw new TypeError("no socket for you");
  if (request.url.endsWith("/no")) return new Response("not here", { status: 403 });
  const [theirs, ours] = Object.values(new WebSocketPair());
  ours.accept();
  ours.addEventListener("message", ({ data }) => ours.send(data === "url" ? request.url : data));
  ours.addEventListener("close", ({ code, reason }) => { console.log("closed", code, reason); ours.close(code); });
  return new Response(null, { status: 101, webSocket: theirs, headers: { "sec-websocket-protocol": "chat" } });
} };
"""
HEAD = (
    "GET {path} HTTP/1.1\r\nHost: example.com\r\nConnection: keep-alive, Upgrade\r\nUpgrade: {upgrade}\r\n"
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: chat\r\n\r\n"
)
TEXT, CLOSE = 0x81, 0x88


class Front:
    """Where requests go, in a test."""

    def __init__(self, isolate: WorkerdIsolate, *, closed: bool) -> None:
        self._isolate = isolate
        self._closed = closed

    async def isolate(self) -> WorkerdIsolate:
        if self._closed:
            raise Unavailable("The Worker is being started again.")
        return self._isolate


class Client:
    """A client's connection to the server in front of an isolate."""

    def __init__(self, isolate: WorkerdIsolate, heard: Heard, front: Front) -> None:
        self.isolate, self.heard = isolate, heard
        self.ingress = Ingress(front, log=self._log, failed=self._failed)
        self.logged: list[tuple[str, str, int]] = []
        self.failures: list[dict[str, Any]] = []
        self.reader: asyncio.StreamReader
        self.writer: asyncio.StreamWriter

    def _log(self, method: str, path: str, status: int, seconds: float) -> None:
        self.logged.append((method, path, status))

    def _failed(self, failure: dict[str, Any]) -> None:
        self.failures.append(failure)

    async def ask(self, path: str = "/chat?a=%20b", upgrade: str = "websocket") -> str:
        """Ask for an upgrade; gives the head of the answer."""
        self.writer.write(HEAD.format(path=path, upgrade=upgrade).encode())
        return (await self.reader.readuntil(b"\r\n\r\n")).decode()

    def send(self, opcode: int, payload: bytes) -> None:
        """Send a frame, masked with zeros."""
        self.writer.write(bytes((opcode, 0x80 | 126)) + len(payload).to_bytes(2, "big") + b"\0\0\0\0" + payload)

    async def frame(self) -> tuple[int, bytes]:
        """The next frame."""
        opcode, length = await self.reader.readexactly(2)
        if length == 126:
            length = int.from_bytes(await self.reader.readexactly(2), "big")
        return opcode, await self.reader.readexactly(length)


@asynccontextmanager
async def client_of(tools: Tools, folder: Path, *, closed: bool = False) -> AsyncIterator[Client]:
    """A client that is connected to a server with the Worker above."""
    async with running(tools, folder, ECHO) as (isolate, heard):
        client = Client(isolate, heard, Front(isolate, closed=closed))
        sock = socket.create_server(("127.0.0.1", 0))
        port = sock.getsockname()[1]
        websocket: Any = partial(Tunnel, client.ingress)
        config = uvicorn.Config(client.ingress, ws=websocket, lifespan="off", log_config=None)
        config.load()
        state = ServerState()
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: Connection(config, state, {}), sock=sock)
        client.reader, client.writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            yield client
        finally:
            client.writer.close()
            server.close()
            await server.wait_closed()
            while state.connections:
                await asyncio.sleep(0)


async def test_a_websocket_is_between_the_client_and_the_worker(tools: Tools, tmp_path: Path) -> None:
    async with client_of(tools, tmp_path) as client:
        head = await client.ask()
        assert head.startswith("HTTP/1.1 101 ")
        assert "sec-websocket-protocol: chat" in head.lower()
        assert client.ingress.busy == 1

        client.send(TEXT, b"url")
        assert await client.frame() == (TEXT, b"http://example.com/chat?a=%20b")
        client.send(TEXT, b"x" * 60_000)
        assert await client.frame() == (TEXT, b"x" * 60_000)

        client.send(CLOSE, (4321).to_bytes(2, "big") + b"enough")
        assert await client.frame() == (CLOSE, (4321).to_bytes(2, "big") + b"enough")
        await client.heard.until(lambda: "closed 4321 enough" in client.heard.printed())
        assert client.logged == [("GET", "/chat", 101)]


async def test_the_worker_hears_when_the_client_is_gone(tools: Tools, tmp_path: Path) -> None:
    async with client_of(tools, tmp_path) as client:
        await client.ask()
        client.writer.close()

        await client.heard.until(lambda: any(line.startswith("closed 1006") for line in client.heard.printed()))
        assert client.ingress.busy == 0


async def test_a_worker_may_refuse_a_websocket(tools: Tools, tmp_path: Path) -> None:
    async with client_of(tools, tmp_path) as client:
        assert (await client.ask("/no")).startswith("HTTP/1.1 403 ")
        assert await client.reader.read() == b"not here"
        assert client.logged == [("GET", "/no", 403)]


async def test_what_the_worker_throws_is_told_and_refuses_the_client(tools: Tools, tmp_path: Path) -> None:
    async with client_of(tools, tmp_path) as client:
        assert (await client.ask("/throw")).startswith("HTTP/1.1 500 ")
        assert b"TypeError: no socket for you" in await client.reader.read()

        (failure,) = client.failures
        assert failure["error"] == {"name": "TypeError", "message": "no socket for you"}
        assert (failure["file"], failure["line"]) == ("index.js", 4)


async def test_a_client_is_turned_away_while_nothing_runs(tools: Tools, tmp_path: Path) -> None:
    async with client_of(tools, tmp_path, closed=True) as client:
        assert (await client.ask()).startswith("HTTP/1.1 503 ")


async def test_the_end_of_workerd_ends_its_websockets(tools: Tools, tmp_path: Path) -> None:
    async with client_of(tools, tmp_path) as client:
        await client.ask()
        os.kill(client.isolate.pid, signal.SIGKILL)

        assert await client.reader.read() == b""
        await client.heard.until(lambda: client.heard.lost)


async def test_another_kind_of_upgrade_is_a_request_like_any_other(tools: Tools, tmp_path: Path) -> None:
    async with client_of(tools, tmp_path) as client:
        client.heard.answer = lambda isolate, message: _to_ingress(client, message)
        assert (await client.ask(upgrade="h2c")).startswith("HTTP/1.1 426 ")


def _to_ingress(client: Client, message: dict[str, Any]) -> None:
    if message["t"] in ("response", "request_failed", "credit"):
        client.ingress.on_message(message)
