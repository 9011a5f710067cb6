"""Streams between the bridge and the host: each is the body of a request, or of its answer.

An attempt's stream comes in frames (`workers_shim/workerd/streams.js` says why): four bytes of length and that many
bytes, a length of `END` at a good end, and after `FAILED` a frame with the reason of a bad one, as JSON.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import parse_qs

import msgspec

from runtime.http.exchange import ResponseCut
from runtime.isolates.streams import BrokenStream, StreamStore

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

END = 0
FAILED = 0xFFFFFFFF
_HEADER = 4


class _Why(msgspec.Struct):
    detail: str
    stack: str = ""


async def stream_route(
    streams: StreamStore, mapped: Callable[[int, str], str], scope: Scope, receive: Receive, send: Send
) -> None:
    """``PUT /stream`` ends an attempt with its body; ``GET /stream`` gives what a step has returned.

    ``mapped`` gives a stack of a run's code with the places of the sources.
    """
    asked = {name: values[0] for name, values in parse_qs(scope["query_string"].decode()).items()}
    if scope["method"] == "PUT":
        await _take(streams, mapped, asked, receive, send)
    else:
        await _give(streams, asked, receive, send)


async def _take(
    streams: StreamStore, mapped: Callable[[int, str], str], asked: dict[str, str], receive: Receive, send: Send
) -> None:
    run, call, attempt = (int(asked[name]) for name in ("run", "call", "attempt"))
    body = unframed(receive, lambda stack: mapped(run, stack))
    try:
        status = 200 if await streams.store(run, call, attempt, body) else 410
    except ConnectionError:
        status = 400  # mostly the bridge has given it up, or is gone, and hears nothing of this
    # What may be left of the body is not read.
    await _respond(send, status, [] if status == 200 else [(b"connection", b"close")])


async def _respond(send: Send, status: int, headers: list[tuple[bytes, bytes]]) -> None:
    headers.append((b"content-length", b"0"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": b""})


async def unframed(receive: Receive, mapped: Callable[[str], str]) -> AsyncIterator[bytes]:
    """The bytes of a stream that comes in frames; `ConnectionError` when it comes without an end."""
    body = _Body(receive)
    while True:
        length = await body.number()
        if length == END:
            return
        if length == FAILED:
            why = msgspec.json.decode(await body.exactly(await body.number()), type=_Why)
            raise BrokenStream(why.detail, mapped(why.stack))
        while length:
            piece = await body.some(length)
            length -= len(piece)
            yield piece


class _Body:
    """A request's body, of which no more is fetched than is asked for."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._piece = memoryview(b"")
        self._more = True

    async def some(self, most: int) -> bytes:
        """The next bytes."""
        while not self._piece:
            await self._fetch()
        found, self._piece = bytes(self._piece[:most]), self._piece[most:]
        return found

    async def exactly(self, count: int) -> bytes:
        found = await self.some(count)
        while len(found) < count:
            found += await self.some(count - len(found))
        return found

    async def number(self) -> int:
        return int.from_bytes(await self.exactly(_HEADER), "big")

    async def _fetch(self) -> None:
        message = await self._receive() if self._more else None
        if message is None or message["type"] == "http.disconnect":
            raise ConnectionError("the stream broke off")
        self._piece = memoryview(message.get("body", b""))
        self._more = message.get("more_body", False)


async def _give(streams: StreamStore, asked: dict[str, str], receive: Receive, send: Send) -> None:
    stored = await streams.open(asked["workflow"], asked["instance"], int(asked["step"]), int(asked["attempt"]))
    if stored is None:
        await _respond(send, 404, [])
        return
    headers = [(b"content-type", b"application/octet-stream"), (b"content-length", str(stored.size).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    left = asyncio.ensure_future(_reader_leaves(receive))
    try:
        async for block in stored.blocks:
            if left.done():
                return
            await send({"type": "http.response.body", "body": block, "more_body": True})
    except Exception as error:
        raise ResponseCut from error
    finally:
        left.cancel()
    await send({"type": "http.response.body", "body": b""})


async def _reader_leaves(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
