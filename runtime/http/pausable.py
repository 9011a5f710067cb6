"""A connection that is read no faster than what it brings is taken, and may go away at any time."""

from __future__ import annotations

import asyncio
from typing import cast


class Pausable(asyncio.Protocol):
    """The part of a protocol that holds its transport and lets the other side wait."""

    _transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def _put(self, data: bytes) -> None:
        """Write, as long as somebody may hear it: uvloop raises for a connection that is gone."""
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(data)

    def pause_reading(self) -> None:
        """Let what the other side sends wait where it is."""
        if self._transport is not None and self._transport.is_reading():
            self._transport.pause_reading()

    def resume_reading(self) -> None:
        """Take more of it."""
        if self._transport is not None and not self._transport.is_closing() and not self._transport.is_reading():
            self._transport.resume_reading()
