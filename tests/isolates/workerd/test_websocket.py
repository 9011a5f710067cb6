from __future__ import annotations

import asyncio
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from runtime.isolates.workerd.websocket import Client, Server

OPEN = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n"
TEXT, CONTINUED, CLOSE, PING, PONG = 1, 0, 8, 9, 10


class Wire(asyncio.Transport):
    """What the socket writes."""

    def __init__(self) -> None:
        super().__init__()
        self.written = bytearray()
        self.ended = self.aborted = self.closed = False

    def write(self, data: Any) -> None:
        self.written += data

    def write_eof(self) -> None:
        self.ended = True

    def abort(self) -> None:
        self.aborted = True

    def close(self) -> None:
        self.closed = True

    def is_closing(self) -> bool:
        return self.aborted or self.closed


class Other:
    """A WebSocket and what it tells."""

    def __init__(self) -> None:
        self.texts: list[list[bytes]] = []
        self.opened = 0
        self.closed: list[str] = []
        self.wire = Wire()
        self.socket = Client(
            {"celld-kind": "run"}, on_open=self._open, on_texts=self.texts.append, on_closed=self.closed.append
        )

    def _open(self) -> None:
        self.opened += 1

    def connected(self) -> Other:
        self.socket.connection_made(self.wire)
        self.socket.data_received(OPEN)
        self.wire.written.clear()
        return self


def frame(opcode: int, payload: bytes, *, final: bool = True) -> bytes:
    size = len(payload)
    if size < 126:
        length = bytes((size,))
    else:
        length = b"\x7e" + size.to_bytes(2, "big") if size <= 0xFFFF else b"\x7f" + size.to_bytes(8, "big")
    return bytes((opcode | (0x80 if final else 0),)) + length + payload


def test_a_connection_asks_for_the_upgrade_and_tells_when_it_is_open() -> None:
    other = Other()
    other.socket.connection_made(other.wire)

    assert other.wire.written.startswith(b"GET / HTTP/1.1\r\n")
    assert b"\r\ncelld-kind: run\r\n" in other.wire.written
    assert not other.opened

    other.socket.data_received(OPEN[:20])
    other.socket.data_received(OPEN[20:] + frame(TEXT, b"hello"))

    assert (other.opened, other.texts) == (1, [[b"hello"]])


def test_a_refused_upgrade_closes_with_what_was_answered() -> None:
    other = Other()
    other.socket.connection_made(other.wire)

    other.socket.data_received(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
    other.socket.connection_lost(None)

    assert other.wire.aborted
    assert other.closed == ["the bridge answered HTTP/1.1 403 Forbidden"]
    assert not other.opened


def test_messages_that_arrive_together_are_told_together() -> None:
    other = Other().connected()

    other.socket.data_received(frame(TEXT, b"one") + frame(TEXT, b"two") + frame(TEXT, b"three")[:3])
    other.socket.data_received(frame(TEXT, b"three")[3:])

    assert other.texts == [[b"one", b"two"], [b"three"]]


def test_a_message_of_any_length_comes_whole_however_it_is_cut() -> None:
    for size in (0, 125, 126, 0xFFFF, 0x10000, 300_000):
        other = Other().connected()
        data = frame(TEXT, b"x" * size)
        for start in range(0, len(data), 1000):
            other.socket.data_received(data[start : start + 1000])
        assert other.texts == [[b"x" * size]]


def test_a_message_in_several_frames_is_put_together_around_a_ping() -> None:
    other = Other().connected()

    other.socket.data_received(frame(TEXT, b"a", final=False) + frame(PING, b"?") + frame(CONTINUED, b"b"))

    assert other.texts == [[b"ab"]]
    assert other.wire.written == bytes((0x80 | PONG, 0x81)) + b"\0\0\0\0?"


def test_what_is_sent_is_masked_as_a_client_must() -> None:
    for size, head in (
        (5, b"\x81\x85"),
        (126, b"\x81\xfe\x00\x7e"),
        (0x10000, b"\x81\xff" + (0x10000).to_bytes(8, "big")),
    ):
        other = Other().connected()
        other.socket.send(b"y" * size)
        assert other.wire.written == head + b"\0\0\0\0" + b"y" * size


def test_closing_ends_the_stream_and_waits_for_the_other_side() -> None:
    other = Other().connected()

    other.socket.close()
    other.socket.close()

    assert other.wire.ended
    assert not other.closed
    other.socket.connection_lost(None)
    assert len(other.closed) == 1


def test_a_connection_that_is_closed_before_it_is_made_is_dropped() -> None:
    other = Other()
    other.socket.close()

    other.socket.connection_made(other.wire)

    assert other.wire.aborted
    assert not other.wire.written


def test_a_close_of_the_other_side_gives_its_reason() -> None:
    other = Other().connected()

    other.socket.data_received(frame(CLOSE, (1011).to_bytes(2, "big") + b"the bridge broke"))
    other.socket.connection_lost(None)

    assert other.wire.ended
    assert other.closed == ["the bridge broke"]


class Taken(Server):
    """The server's end, and what it tells."""

    def __init__(self, *, admits: bool = True) -> None:
        super().__init__()
        self.wire = Wire()
        self.headers: Mapping[str, str] = {}
        self.heard: list[list[bytes]] = []
        self.told: list[str] = []
        self._admits = admits
        self.connection_made(self.wire)
        self.data_received(b"GET / HTTP/1.1\r\nHost: host\r\nCelld-Run: 7\r\n")
        self.data_received(b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")

    def answer(self, headers: Mapping[str, str]) -> HTTPStatus:
        self.headers = headers
        return HTTPStatus.SWITCHING_PROTOCOLS if self._admits else HTTPStatus.GONE

    def opened(self) -> None:
        self.told.append("opened")

    def texts(self, texts: list[bytes]) -> None:
        self.heard.append(texts)

    def closed(self, reason: str) -> None:
        self.told.append(reason)


def masked(opcode: int, payload: bytes, key: bytes = b"\x01\x80\xfe\x00") -> bytes:
    head = frame(opcode, payload)[: -len(payload) or None]
    hidden = bytes(byte ^ key[place % 4] for place, byte in enumerate(payload))
    return bytes((head[0], head[1] | 0x80)) + head[2:] + key + hidden


def test_a_server_answers_the_key_as_the_rfc_has_it() -> None:
    server = Taken()

    assert server.headers["celld-run"] == "7"
    assert server.told == ["opened"]
    assert b"\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n" in server.wire.written


def test_a_server_refuses_whom_it_does_not_admit() -> None:
    server = Taken(admits=False)

    assert server.wire.written.startswith(b"HTTP/1.1 410 Gone\r\n")
    assert server.wire.closed
    assert not server.told


def test_a_server_reads_masked_messages_of_any_length_and_answers_unmasked() -> None:
    for size in (0, 1, 2, 3, 4, 5, 125, 126, 70_000):
        server = Taken()
        server.wire.written.clear()
        text = bytes(range(256)) * (size // 256 + 1)
        server.data_received(masked(TEXT, text[:size]))
        assert server.heard == [[text[:size]]]
        server.send(text[:size])
        assert server.wire.written == frame(TEXT, text[:size])


def test_a_server_that_closes_hears_what_the_client_says_until_it_answers() -> None:
    server = Taken()
    server.wire.written.clear()

    server.close()
    assert server.is_closing
    assert server.wire.written == frame(CLOSE, (1000).to_bytes(2, "big"))
    assert not server.wire.closed
    server.data_received(masked(TEXT, b"late") + masked(CLOSE, (1000).to_bytes(2, "big")))

    assert server.heard == [[b"late"]]
    assert server.wire.closed
    server.connection_lost(None)
    assert server.told == ["opened", "the connection ended"]
