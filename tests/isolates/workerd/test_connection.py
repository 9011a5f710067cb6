"""A connection to the bridge, against a server of a few lines."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import pytest
import uvloop

from runtime.isolates.workerd.connection import Headers, Pool

pytestmark = pytest.mark.asyncio

ANSWER = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"


class Careless:
    """Takes an answer, and makes a mistake at its end."""

    def headed(self, status: int, headers: Headers) -> None: ...

    def body(self, data: bytes) -> None: ...

    def ended(self) -> None:
        raise LookupError("a mistake")

    def broken(self, reason: str) -> None: ...

    def writable(self) -> None: ...


class Noting:
    """Takes an answer, and notes what happens."""

    def __init__(self) -> None:
        self.noted: list[object] = []

    def headed(self, status: int, headers: Headers) -> None:
        self.noted.append(status)

    def body(self, data: bytes) -> None:
        self.noted.append(data)

    def ended(self) -> None:
        self.noted.append("ended")

    def broken(self, reason: str) -> None:
        self.noted.append("broken")

    def writable(self) -> None: ...


async def test_an_answer_is_taken_also_when_the_rest_of_the_request_was_not_wanted() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        answering = Noting()
        connection = await Pool(server.getsockname()[1]).connect()
        connection.begin(b"POST / HTTP/1.1\r\ncontent-length: 9\r\n\r\n", answering, method="POST", has_body=True)
        connection.write(b"one")
        accepted, _ = server.accept()
        with accepted:
            accepted.recv(10)
            accepted.sendall(ANSWER)
        connection.write(b"two")  # it is heard now that nobody reads
        connection.write(b"six")
        while connection.usable:
            await asyncio.sleep(0)
        await asyncio.sleep(0)
    assert answering.noted == [200, b"ok", "ended"]


async def test_a_mistake_of_who_takes_an_answer_is_told() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(ANSWER)
        await reader.read()
        writer.close()
        await writer.wait_closed()
        over.set()

    over = asyncio.Event()
    told: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().set_exception_handler(lambda _, context: told.set_result(context))
    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        connection = await Pool(server.sockets[0].getsockname()[1]).connect()
        connection.begin(b"GET / HTTP/1.1\r\n\r\n", Careless(), method="GET", has_body=False)
        async with asyncio.timeout(5):
            error = (await told)["exception"]
            await over.wait()
    assert isinstance(error.__context__, LookupError)


async def test_what_is_written_to_a_broken_connection_goes_nowhere() -> None:
    """On uvloop, which the command runs on: there a transport that is gone raises."""

    async def write() -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            answering = Noting()
            connection = await Pool(server.getsockname()[1]).connect()
            connection.begin(b"POST / HTTP/1.1\r\n\r\n", answering, method="POST", has_body=True)
            server.accept()[0].close()
            while not answering.noted:
                await asyncio.sleep(0)
        await asyncio.sleep(0)
        connection.write(b"more of the body")
        assert answering.noted == ["broken"]

    def run() -> None:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(write())

    await asyncio.to_thread(run)
