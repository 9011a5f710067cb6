"""The seam through which the bytes of streams pass between an isolate and the host."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator
from typing import NamedTuple, Protocol


class BrokenStream(Exception):
    """A stream that cannot be read to its end, or is none of bytes: the fault of the code that returned it."""

    def __init__(self, detail: str, stack: str = "") -> None:
        super().__init__(detail)
        self.detail = detail  # Cloudflare's words
        self.stack = stack  # where the error comes from that the stream raised, if it raised one


class StoredStream(NamedTuple):
    """A stream of an instance: its length, and its bytes, which are read from the disk as they are taken."""

    size: int
    blocks: AsyncIterator[bytes]


class StreamStore(Protocol):
    """Keeps the streams that steps return."""

    async def store(self, run: int, call: int, attempt: int, body: AsyncIterable[bytes]) -> bool:
        """Store what an attempt returns, as it comes, no faster than the disk takes it; the attempt ends with it.

        False when nobody waits for it any more; the rest of ``body`` is then not read. A `BrokenStream` that ``body``
        raises ends the instance; anything else leaves the attempt as it is, and is raised.
        """

    async def open(self, workflow: str, instance: str, step: int, attempt: int) -> StoredStream | None:
        """A stream that a step has returned; None when there is none, or none any more."""
