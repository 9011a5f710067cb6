"""How streams pass between the bridge and the host: frames in, bytes out, and what breaks off is known to."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterable, AsyncIterator
from typing import Any

import pytest

from runtime.http.exchange import ResponseCut
from runtime.isolates.streams import BrokenStream, StoredStream
from runtime.isolates.workerd.stream_routes import FAILED, stream_route, unframed

pytestmark = pytest.mark.asyncio

END = b"\0\0\0\0"


def frame(data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + data


def failure(**why: str) -> bytes:
    return FAILED.to_bytes(4, "big") + frame(json.dumps(why).encode())


class Request:
    """A request to the route, and what it is answered."""

    def __init__(self, method: str, query: str, *pieces: bytes, breaks_off: bool = False) -> None:
        self.scope = {"type": "http", "method": method, "path": "/stream", "query_string": query.encode()}
        self.unread = [
            {"type": "http.request", "body": piece, "more_body": breaks_off or i < len(pieces)}
            for i, piece in enumerate(pieces or (b"",), 1)
        ]
        self.left = asyncio.Event()
        if breaks_off:
            self.left.set()
        self.answer: list[Any] = []

    async def receive(self) -> dict[str, Any]:
        if self.unread:
            return self.unread.pop(0)
        await self.left.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        self.answer.append(message)
        await asyncio.sleep(0)

    async def ask(self, streams: Streams) -> None:
        await stream_route(streams, lambda run, stack: f"{stack} of run {run}", self.scope, self.receive, self.send)

    @property
    def status(self) -> int:
        return int(self.answer[0]["status"])

    @property
    def headers(self) -> dict[bytes, bytes]:
        return dict(self.answer[0]["headers"])

    @property
    def body(self) -> bytes:
        return b"".join(message["body"] for message in self.answer[1:])


class Streams:
    """`StreamStore`, in memory."""

    def __init__(self, *blocks: bytes | Exception, wanted: bool = True) -> None:
        self.stored: dict[tuple[int, int, int], bytes] = {}
        self.asked: tuple[object, ...] = ()
        self.given = 0
        self._blocks = blocks
        self._wanted = wanted

    async def store(self, run: int, call: int, attempt: int, body: AsyncIterable[bytes]) -> bool:
        if self._wanted:
            self.stored[run, call, attempt] = b"".join([piece async for piece in body])
        return self._wanted

    async def open(self, workflow: str, instance: str, step: int, attempt: int) -> StoredStream | None:
        self.asked = (workflow, instance, step, attempt)
        size = sum(len(block) for block in self._blocks if isinstance(block, bytes))
        return StoredStream(size, self._read()) if self._blocks else None

    async def _read(self) -> AsyncIterator[bytes]:
        for block in self._blocks:
            if isinstance(block, Exception):
                raise block
            self.given += 1
            yield block


async def take(*pieces: bytes, breaks_off: bool = False) -> bytes:
    request = Request("PUT", "", *pieces, breaks_off=breaks_off)
    return b"".join([piece async for piece in unframed(request.receive, str.upper)])


# ------------------------------------------------------------------------------------------------------------------ in


async def test_a_body_in_frames_is_stored_as_it_comes() -> None:
    streams = Streams()
    request = Request("PUT", "run=7&call=3&attempt=2", frame(b"hello ") + frame(b"wor"), frame(b"ld") + END)

    await request.ask(streams)

    assert streams.stored == {(7, 3, 2): b"hello world"}
    assert (request.status, request.unread) == (200, [])


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 100])
async def test_frames_may_be_cut_anywhere(size: int) -> None:
    whole = frame(b"a" * 10) + frame(b"b") + frame(b"c" * 300) + END
    assert await take(*(whole[i : i + size] for i in range(0, len(whole), size))) == b"a" * 10 + b"b" + b"c" * 300


async def test_an_empty_stream_is_its_end() -> None:
    assert await take(END) == b""


@pytest.mark.parametrize("pieces", [(), (frame(b"abc"),), (b"\0\0",), (b"\0\0\0\x09abc",), (failure(detail="x")[:12],)])
@pytest.mark.parametrize("breaks_off", [False, True])
async def test_a_body_without_an_end_is_no_stream(pieces: tuple[bytes, ...], breaks_off: bool) -> None:
    with pytest.raises(ConnectionError):
        await take(*pieces, breaks_off=breaks_off)


async def test_the_bridge_hears_of_a_body_without_an_end() -> None:
    request = Request("PUT", "run=1&call=1&attempt=1", frame(b"abc"))
    await request.ask(Streams())
    assert (request.status, request.headers[b"connection"]) == (400, b"close")


async def test_a_stream_that_fails_says_why() -> None:
    why = failure(detail="Failed to read.", stack="Error: boom\n    at x.js:1:1")
    with pytest.raises(BrokenStream) as broken:
        await take(frame(b"abc"), why[:20], why[20:])
    assert (broken.value.detail, broken.value.stack) == ("Failed to read.", "ERROR: BOOM\n    AT X.JS:1:1")


async def test_nothing_is_read_for_an_attempt_that_was_given_up() -> None:
    request = Request("PUT", "run=1&call=1&attempt=1", frame(b"abc"), END)
    await request.ask(Streams(wanted=False))
    assert (request.status, request.headers[b"connection"], len(request.unread)) == (410, b"close", 2)


# ----------------------------------------------------------------------------------------------------------------- out


async def test_a_stored_stream_is_the_answer() -> None:
    streams = Streams(b"hello ", b"world")
    request = Request("GET", "workflow=wf&instance=a%20%26%20%C3%A9&step=3&attempt=2")

    await request.ask(streams)

    assert streams.asked == ("wf", "a & é", 3, 2)
    assert (request.status, request.headers[b"content-length"], request.body) == (200, b"11", b"hello world")


async def test_there_may_be_none() -> None:
    request = Request("GET", "workflow=wf&instance=a&step=3&attempt=2")
    await request.ask(Streams())
    assert request.status == 404


async def test_nothing_more_is_read_for_a_reader_who_left() -> None:
    streams = Streams(*[b"x"] * 100)
    request = Request("GET", "workflow=wf&instance=a&step=3&attempt=2")
    request.left.set()

    await request.ask(streams)

    assert streams.given < 10


async def test_a_stream_that_goes_away_is_cut_off() -> None:
    request = Request("GET", "workflow=wf&instance=a&step=3&attempt=2")
    with pytest.raises(ResponseCut):
        await request.ask(Streams(b"x", LookupError("gone")))
