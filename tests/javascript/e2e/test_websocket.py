"""WebSockets through the real command: a Durable Object that sleeps between two messages, and a reload."""

from __future__ import annotations

import socket
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.dev import dev
from tests.javascript.e2e.typescript import write_typescript

pytestmark = [pytest.mark.usefixtures("tools"), pytest.mark.timeout(120)]

CODE = """
import { DurableObject } from "cloudflare:workers";

interface Env { ROOM: DurableObjectNamespace }

export class Room extends DurableObject {
  async fetch() {
    const [theirs, ours] = Object.values(new WebSocketPair());
    this.ctx.acceptWebSocket(ours);
    return new Response(null, { status: 101, webSocket: theirs });
  }

  async webSocketMessage(socket: WebSocket, message: string) {
    const count = ((await this.ctx.storage.get<number>("count")) ?? 0) + 1;
    await this.ctx.storage.put("count", count);
    for (const each of this.ctx.getWebSockets()) each.send(`${count}: ${message}`);
  }
}

export default {
  fetch: (request: Request, env: Env) => env.ROOM.get(env.ROOM.idFromName("it")).fetch(request),
};
"""
HEAD = (
    "GET / HTTP/1.1\r\nHost: {host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)


class Client:
    """A WebSocket to a server."""

    def __init__(self, url: str) -> None:
        address = urlsplit(url)
        assert address.hostname is not None
        self._socket = socket.create_connection((address.hostname, address.port or 80), timeout=30)
        self._socket.sendall(HEAD.format(host=address.netloc).encode())
        self._file = self._socket.makefile("rb")
        head = b"".join(iter(self._file.readline, b"\r\n"))
        assert head.startswith(b"HTTP/1.1 101 "), head

    def send(self, text: str) -> None:
        """Send a short text."""
        self._socket.sendall(bytes((0x81, 0x80 | len(text))) + b"\0\0\0\0" + text.encode())

    def receive(self) -> str:
        """The next short text; empty when the connection is over."""
        head = self._file.read(2)
        return self._file.read(head[1]).decode() if head else ""

    def close(self) -> None:
        """Be gone."""
        self._file.close()
        self._socket.close()


def test_clients_talk_to_a_durable_object_and_to_each_other(tmp_path: Path) -> None:
    rooms = {"bindings": [{"name": "ROOM", "class_name": "Room"}]}
    migrations = [{"tag": "v1", "new_sqlite_classes": ["Room"]}]
    project = write_typescript(tmp_path / "rooms", CODE, durable_objects=rooms, migrations=migrations)
    with dev(project) as server:
        one, other = Client(server.url), Client(server.url)
        one.send("hello")
        assert (one.receive(), other.receive()) == ("1: hello", "1: hello")
        other.send("you too")
        assert (one.receive(), other.receive()) == ("2: you too", "2: you too")

        one.close()
        other.send("still there?")
        assert other.receive() == "3: still there?"
        other.close()
