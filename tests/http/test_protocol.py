"""A connection of the server: how large a head may be, and how an application learns that its client left."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from runtime.http.ingress import GONE
from runtime.http.protocol import MAX_HEAD, Connection
from tests.http.scripted import all_is_quiet

pytestmark = pytest.mark.asyncio
GET = b"GET / HTTP/1.1\r\nHost: a\r\n"


class Wire(asyncio.Transport):
    """What is written to the client, and whether the connection is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""
        self.closed = False

    def write(self, data: Any) -> None:
        self.written += data

    def close(self) -> None:
        self.closed = True

    def is_closing(self) -> bool:
        return self.closed

    def pause_reading(self) -> None:
        """A test feeds what it wants."""

    def resume_reading(self) -> None:
        """A test feeds what it wants."""


class App:
    """An application that answers 204 when it has the whole request; with ``patience`` not before it is told to."""

    def __init__(self, *, patience: bool = False) -> None:
        self.scopes: list[Any] = []
        self.bodies: list[bytes] = []
        self.go = asyncio.Event()
        if not patience:
            self.go.set()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.scopes.append(scope)
        body, more = b"", True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
        self.bodies.append(body)
        await self.go.wait()
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})


def connected(app: App) -> tuple[Connection, Wire]:
    config = uvicorn.Config(app, ws="none", lifespan="off", log_config=None, server_header=False, date_header=False)
    connection, wire = Connection(config, ServerState(), {}), Wire()
    connection.connection_made(wire)
    return connection, wire


def gone(app: App, request: int = 0) -> asyncio.Future[None]:
    future: asyncio.Future[None] = app.scopes[request]["state"][GONE]
    return future


async def leaves(connection: Connection) -> None:
    connection.connection_lost(None)
    await all_is_quiet()


async def test_an_application_learns_that_its_client_left_without_asking() -> None:
    app = App(patience=True)
    connection, _ = connected(app)
    connection.data_received(GET + b"\r\n")
    await all_is_quiet()
    assert not gone(app).done()

    connection.connection_lost(None)

    assert gone(app).done()
    app.go.set()
    await all_is_quiet()


async def test_all_requests_of_a_connection_lose_their_client_at_once() -> None:
    app = App()
    connection, wire = connected(app)
    for _ in range(2):
        connection.data_received(GET + b"\r\n")
        await all_is_quiet()
    assert wire.written.count(b"HTTP/1.1 204") == 2

    await leaves(connection)

    assert gone(app, 0) is gone(app, 1)
    assert gone(app, 0).done()


async def test_connections_lose_their_clients_one_by_one() -> None:
    app = App()
    (first, _), (second, _) = connected(app), connected(app)
    for connection in (first, second):
        connection.data_received(GET + b"\r\n")
    await all_is_quiet()

    await leaves(first)

    assert (gone(app, 0).done(), gone(app, 1).done()) == (True, False)
    await leaves(second)


async def test_a_head_may_be_as_large_as_cloudflare_takes_it() -> None:
    app = App()
    connection, wire = connected(app)
    connection.data_received(GET)
    for number in range(MAX_HEAD // 1024 - 1):
        connection.data_received(f"x-{number:04}: ".encode() + b"y" * 1014 + b"\r\n")
    connection.data_received(b"\r\n")
    await all_is_quiet()

    assert len(app.scopes[0]["headers"]) == MAX_HEAD // 1024
    assert wire.written.startswith(b"HTTP/1.1 204")
    await leaves(connection)


@pytest.mark.parametrize("endless", [b"x-a: " + b"y" * 1017 + b"\r\n", b"y" * 1024], ids=["headers", "one header"])
async def test_a_head_without_end_is_refused(endless: bytes) -> None:
    app = App()
    connection, wire = connected(app)
    connection.data_received(GET + b"x-b: ")
    fed = 0
    while not wire.closed:
        connection.data_received(endless)
        fed += len(endless)

    assert wire.written.startswith(b"HTTP/1.1 431 Request Header Fields Too Large\r\n")
    assert MAX_HEAD < fed <= MAX_HEAD + 2 * len(endless)
    assert app.scopes == []
    await leaves(connection)


async def test_a_body_is_not_counted_as_head() -> None:
    app = App()
    connection, wire = connected(app)
    size = 3 * MAX_HEAD
    connection.data_received(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % size)
    for _ in range(3):
        connection.data_received(bytes(MAX_HEAD))
        await all_is_quiet()
    connection.data_received(GET + b"\r\n")
    await all_is_quiet()

    assert [len(body) for body in app.bodies] == [size, 0]
    assert not wire.closed
    await leaves(connection)


async def test_trailers_do_not_become_headers() -> None:
    app = App()
    connection, _ = connected(app)
    head = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
    connection.data_received(head + b"3\r\nabc\r\n0\r\nX-Admin: yes\r\n\r\n")
    await all_is_quiet()

    assert app.bodies == [b"abc"]
    assert [name for name, _ in app.scopes[0]["headers"]] == [b"host", b"transfer-encoding"]
    await leaves(connection)


async def test_a_request_for_a_web_socket_is_a_plain_request(caplog: pytest.LogCaptureFixture) -> None:
    app = App()
    connection, wire = connected(app)
    with caplog.at_level(logging.WARNING):
        connection.data_received(GET + b"Connection: upgrade\r\nUpgrade: websocket\r\n\r\n")
        await all_is_quiet()

    assert app.scopes[0]["type"] == "http"
    assert wire.written.startswith(b"HTTP/1.1 204")
    assert caplog.records == []
    await leaves(connection)
