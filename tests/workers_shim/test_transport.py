"""The isolate's end of the stream socket."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from typing import Any

import msgspec
import pytest

from workers_shim import logs
from workers_shim.transport import AT_ONCE, Transport
from workers_shim.wire.frames import FrameReader

pytestmark = pytest.mark.asyncio


class Socket(asyncio.Transport):
    """Keeps what is written."""

    def __init__(self) -> None:
        super().__init__()
        self.reader = FrameReader()
        self.messages: list[Any] = []
        self.size = 0

    def write(self, data: Any) -> None:
        self.size += len(data)
        for frame in self.reader.feed(data):
            assert isinstance(frame, bytes)
            self.messages.append(msgspec.json.decode(frame))  # as the host does

    def texts(self) -> list[str]:
        return [message.get("text", message["t"]) for message in self.messages]


def connected() -> tuple[Transport, Socket]:
    transport, socket = Transport(asyncio.get_running_loop()), Socket()
    transport.connection_made(socket)
    return transport, socket


def prints(transport: Transport, texts: Iterable[str]) -> None:
    for text in texts:
        transport.logs.append({"t": "log", "stream": "stdout", "text": text})


async def test_printed_lines_go_before_what_is_said_after_them() -> None:
    transport, socket = connected()
    prints(transport, ["one", "two"])
    transport.send({"t": "drained"})
    prints(transport, ["three"])
    transport.flush()
    assert socket.texts() == ["one", "two", "drained", "three"]


async def test_what_user_code_says_reaches_the_host_without_lone_surrogates() -> None:
    transport, socket = connected()
    transport.send({"t": "ran", "run": 1, "error": {"name": "E\ud800", "message": "\udcff \U0001f600"}})
    transport.flush()
    assert socket.messages[0]["error"] == {"name": "E\ufffd", "message": "\ufffd \U0001f600"}


async def test_a_value_keeps_them() -> None:
    transport, socket = connected()
    text = json.dumps(["\ud800 \U0001f600"])
    transport.send({"t": "ran", "run": 1, "value": text, "where": "\ud800"})
    transport.flush()
    assert (socket.messages[0]["value"], socket.messages[0]["where"]) == (text, "\ufffd")


async def test_a_slow_host_makes_printed_lines_wait_where_the_oldest_are_dropped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(logs, "MOST", 2 * AT_ONCE)
    transport, socket = connected()
    transport.pause_writing()
    for _ in range(100):
        prints(transport, ["x" * 50_000])
        transport.flush()
    transport.send({"t": "drained"})
    assert socket.size == 0
    transport.resume_writing()
    assert socket.size < 4 * AT_ONCE
    assert "lines of output are missing here" in "".join(socket.texts())
    assert socket.messages[-1]["text"][:1] == "x"
