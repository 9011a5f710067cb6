"""Bodies of requests and responses under the stream's credit."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from workers_shim.wire.messages import MAX_FRAME, STREAM_CREDIT

Send = Callable[[Mapping[str, Any]], None]


class Inflow:
    """The body of a request: an async iterator of bytes that tells the host what was consumed."""

    def __init__(self, number: int, send: Send) -> None:
        self._number = number
        self._send = send
        self._chunks: deque[bytes] = deque()
        self._ended = False
        self._broken = False
        self._more = asyncio.Event()

    def data(self, data: bytes) -> None:
        """A piece arrived."""
        self._chunks.append(data)
        self._more.set()

    def end(self) -> None:
        """It is whole."""
        self._ended = True
        self._more.set()

    def broken(self) -> None:
        """The client left before it was whole."""
        self._broken = not self._ended
        self._more.set()

    def __aiter__(self) -> Inflow:
        return self

    async def __anext__(self) -> bytes:
        while not self._chunks:
            if self._ended:
                raise StopAsyncIteration
            if self._broken:
                raise OSError("Network connection lost.")
            self._more.clear()
            await self._more.wait()
        chunk = self._chunks.popleft()
        self._send({"t": "credit", "id": self._number, "bytes": len(chunk)})
        return chunk


class Outflow:
    """The body of a response: pieces go out as far as the host has room for them."""

    def __init__(self, number: int, send_data: Callable[[int, bytes], None]) -> None:
        self._number = number
        self._send_data = send_data
        self._room = STREAM_CREDIT
        self._more = asyncio.Event()

    def credit(self, size: int) -> None:
        """The client has taken so many bytes."""
        self._room += size
        self._more.set()

    async def write(self, data: bytes) -> None:
        """Send a piece; returns when all of it is on its way, so that its producer waits for a slow client."""
        rest = memoryview(data)
        while rest:
            while not self._room:
                self._more.clear()
                await self._more.wait()
            piece = rest[: min(self._room, MAX_FRAME)]
            rest = rest[len(piece) :]
            self._room -= len(piece)
            self._send_data(self._number, bytes(piece))
