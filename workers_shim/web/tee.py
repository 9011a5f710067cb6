"""`tee`: one stream as two, without reading further than the branch that is ahead asks."""

from __future__ import annotations

import asyncio
from typing import Any

from workers_shim.web.streams import END, ReadableStream, ReadableStreamDefaultController


class _Branch:
    """The source of one of the two streams."""

    def __init__(self, split: _Split) -> None:
        self._split = split

    async def pull(self, controller: ReadableStreamDefaultController) -> None:
        await self._split.advance()

    def cancel(self, reason: Any) -> None:
        self._split.abandoned(reason)


class _Split:
    def __init__(self, stream: ReadableStream) -> None:
        stream._lock()
        self._stream = stream
        self._branches: list[ReadableStream] = []
        self._turn = asyncio.Lock()

    def open(self) -> tuple[ReadableStream, ReadableStream]:
        first, second = (ReadableStream.new(_Branch(self), highWaterMark=0) for _ in range(2))
        self._branches = [first, second]
        return first, second

    async def advance(self) -> None:
        """Read one chunk and give it to both branches."""
        async with self._turn:
            try:
                chunk = await self._stream._read()
            except Exception as error:
                for branch in self._branches:
                    branch._fail(error)
                return
            for branch in self._branches:
                self._give(branch, chunk)

    @staticmethod
    def _give(branch: ReadableStream, chunk: Any) -> None:
        if chunk is END:
            branch._close()
        elif branch._state == "readable":
            branch._enqueue(chunk)

    def abandoned(self, reason: Any) -> None:
        if all(branch._state == "closed" for branch in self._branches):
            self._stream._cancel(reason)


def tee(stream: ReadableStream) -> tuple[ReadableStream, ReadableStream]:
    """Two streams, each with every chunk of ``stream``."""
    return _Split(stream).open()
