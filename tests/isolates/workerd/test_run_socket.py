"""The host's end of a run on workerd: what holds it, and its line."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest

from runtime.isolates.workerd import run_socket
from runtime.isolates.workerd.lines import Lines
from runtime.isolates.workerd.run_socket import RunSocket
from runtime.isolates.workerd.spawn import line_socket
from runtime.isolates.workerd.stacks import Stacks
from runtime.isolates.workerd.websocket import Client, Server
from runtime.javascript.source_maps import SourceMaps

pytestmark = pytest.mark.asyncio

TOKEN = "the token"
START = {"t": "start", "run": 7, "workflow": "flow", "journal": []}
RET = {"t": "ret", "run": 7, "call": 1, "value": "[1]"}
REST = {"t": "rest", "run": 7}


class Hold(Server):
    """workerd's end of what holds the run."""

    def __init__(self, engine: Engine) -> None:
        super().__init__()
        self._engine = engine

    def answer(self, headers: Mapping[str, str]) -> HTTPStatus:
        assert headers["celld-token"] == TOKEN
        self._engine.hold = self
        return HTTPStatus.SWITCHING_PROTOCOLS

    def opened(self) -> None:
        """The `start` follows."""

    def texts(self, texts: list[bytes]) -> None:
        self._engine.held += [message["t"] for text in texts for message in json.loads(text)]

    def closed(self, reason: str) -> None:
        self._engine.released = True


class Engine:
    """The run's engine in workerd, in the hands of a test, and what the host heard of it."""

    def __init__(self) -> None:
        self.hold: Hold | None = None
        self.held: list[str] = []  # messages that came over what holds the run
        self.heard: list[Any] = []  # and over the line
        self.told: list[dict[str, Any]] = []  # what the host is told
        self.released = False
        self.refused: list[str] = []
        self.line: Client | None = None
        self.run: RunSocket
        self._lines: Any = None

    async def open(self, *, number: str = "7", token: str = TOKEN) -> None:
        """Open a line."""
        opened = asyncio.get_running_loop().create_future()

        def settle(reason: str = "") -> None:
            if reason:
                self.refused.append(reason)
                self.line = None
            if not opened.done():
                opened.set_result(None)

        headers = {"celld-token": token, "celld-run": number}
        line = Client(headers, on_open=settle, on_texts=self._texts, on_closed=settle)
        self.line = line
        await asyncio.get_running_loop().create_unix_connection(lambda: line, self._lines.getsockname())
        await opened

    def _texts(self, texts: list[bytes]) -> None:
        self.heard += [[message["t"] for message in json.loads(text)] for text in texts]

    def say(self, *types: str) -> None:
        """Say messages, in one frame, over the line."""
        assert self.line is not None
        self.line.send(json.dumps([{"t": kind} for kind in types]).encode())

    def types(self) -> list[str]:
        """What the host is told, but for the details."""
        return [message["t"] for message in self.told]

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait for something that nobody tells of."""
        async with asyncio.timeout(15):
            while not holds():
                await asyncio.sleep(0.005)


@asynccontextmanager
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    """A run that has begun, without a line."""
    loop = asyncio.get_running_loop()
    one = Engine()
    server = await loop.create_server(lambda: Hold(one), "127.0.0.1", 0)

    def flush_soon(run: RunSocket) -> None:
        loop.call_soon(run.flush)

    stacks = Stacks(SourceMaps(tmp_path), tmp_path)
    one.run = RunSocket(START, TOKEN, stacks, hear=one.told.extend, flush_soon=flush_soon)
    lines = Lines(TOKEN, {7: one.run}.get)
    one._lines, _ = line_socket()
    await lines.open(one._lines.dup())
    await one.run.connect(server.sockets[0].getsockname()[1])
    await one.until(lambda: one.held == ["start"])
    try:
        yield one
    finally:
        one.run.abandon()
        lines.close()
        one._lines.close()
        server.close()


async def test_what_is_said_before_there_is_a_line_waits_for_it(tmp_path: Path) -> None:
    async with engine(tmp_path) as one:
        one.run.send(RET)
        one.run.send(RET)
        await one.open()
        await one.until(lambda: one.heard == [["ret", "ret"]])
        assert one.held == ["start"]


@pytest.mark.parametrize(
    ("wrong", "answer"),
    [({"token": "another"}, "403 Forbidden"), ({"number": "8"}, "410 Gone"), ({"number": "7a"}, "410 Gone")],
)
async def test_a_line_of_no_run_or_without_the_token_is_refused(
    tmp_path: Path, wrong: dict[str, str], answer: str
) -> None:
    async with engine(tmp_path) as one:
        await one.open(**wrong)
        assert one.refused == [f"the bridge answered HTTP/1.1 {answer}"]


async def test_a_second_line_has_to_wait_for_the_end_of_the_first(tmp_path: Path) -> None:
    async with engine(tmp_path) as one:
        await one.open()
        first = one.line
        assert first is not None
        await one.open()
        assert one.refused == ["the bridge answered HTTP/1.1 409 Conflict"]
        first.abort()
        await one.until(lambda: len(one.refused) == 2)
        await one.open()
        assert len(one.refused) == 2


async def test_lines_are_taken_over_tcp_where_there_are_no_abstract_sockets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    sock, address = line_socket()
    lines = Lines(TOKEN, lambda _: None)
    await lines.open(sock)
    host, _, port = address.partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(b"GET / HTTP/1.1\r\nSec-WebSocket-Key: x\r\nCelld-Token: the token\r\nCelld-Run: 1\r\n\r\n")
    assert (await reader.readline()).startswith(b"HTTP/1.1 410 ")
    writer.close()
    lines.close()


async def test_a_run_that_says_that_it_rests_loses_its_line_and_is_woken_for_what_follows(tmp_path: Path) -> None:
    async with engine(tmp_path) as one:
        await one.open()
        one.run.send(REST)
        await one.until(lambda: one.heard == [["rest"]])
        one.say("resting")
        await one.until(lambda: one.line is None)
        assert one.types() == []

        one.run.send(RET)
        await one.until(lambda: one.held == ["start", "wake"])
        await one.open()
        await one.until(lambda: one.heard == [["rest"], ["ret"]])


async def test_a_run_that_was_told_something_since_keeps_its_line(tmp_path: Path) -> None:
    async with engine(tmp_path) as one:
        await one.open()
        one.run.send(REST)
        one.run.send(RET)
        await one.until(lambda: one.heard == [["rest", "ret"]])
        one.say("resting")
        one.say("call")
        await one.until(lambda: one.types() == ["call"])
        assert one.line is not None


async def test_what_a_run_says_while_its_line_is_being_closed_is_heard_and_the_run_is_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_socket, "BROKEN_PAUSE", 0.01)
    async with engine(tmp_path) as one:
        await one.open()
        line = one.line
        assert line is not None
        one.run.send(REST)
        await one.until(lambda: one.heard == [["rest"]])
        left, line._left = line._left, lambda: None  # type: ignore[method-assign]
        one.say("resting")
        await asyncio.sleep(0.05)
        one.say("call")
        await one.until(lambda: one.types() == ["call"])
        left()
        await one.until(lambda: one.line is None)
        await asyncio.sleep(0.05)
        assert one.types() == ["call"]


async def test_the_end_of_a_run_is_told_after_what_it_said_before(tmp_path: Path) -> None:
    async with engine(tmp_path) as one:
        await one.open()
        assert one.hold is not None
        one.hold.send(b'[{"t":"done","error":{"name":"Error","message":"killed"}}]')
        one.say("ran")
        await one.until(lambda: one.types() == ["ran"])
        assert one.line is not None
        one.line.abort()
        await one.until(lambda: one.types() == ["ran", "done"])


async def test_a_run_that_waits_for_something_of_its_own_is_told_again_and_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_socket, "AWAITING_EVERY", 0.02)
    async with engine(tmp_path) as one:
        await one.open()
        one.run.send(REST)
        await one.until(lambda: len(one.told) >= 2)
        first, second = one.told[:2]
        assert (first["t"], first["run"], first["where"]) == ("awaiting", 7, "a timer, request or stream of its own")
        assert 0 < first["seconds"] < second["seconds"] == second["longest"]


async def test_a_line_that_breaks_loses_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_socket, "BROKEN_PAUSE", 0.01)
    async with engine(tmp_path) as one:
        await one.open()
        assert one.line is not None
        one.line.abort()
        await one.until(lambda: one.types() == ["lost"])


async def test_a_released_run_is_let_go_with_its_line_and_tells_nothing_more(tmp_path: Path) -> None:
    async with engine(tmp_path) as one:
        await one.open()
        one.say("call")
        await one.until(lambda: one.types() == ["call"])
        one.run.release()
        await one.until(lambda: one.line is None)
        assert one.hold is not None
        assert one.hold.transport is not None
        one.hold.transport.close()
        await one.until(lambda: one.types() == ["call", "released"])
        await one.open()
        assert len(one.refused) == 2
