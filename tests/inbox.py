"""What a run has said to a test, in the order in which it is read."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable
from typing import Any

Message = dict[str, Any]
PATIENCE = 15.0  # seconds; only a failing test waits for so long


class Inbox:
    """Messages that have come and are not read yet."""

    def __init__(self) -> None:
        self._messages: deque[Message] = deque()
        self._news = asyncio.Event()

    def arrive(self, messages: Iterable[Message]) -> None:
        """These have come."""
        self._messages.extend(messages)
        self._news.set()

    async def next(self, *types: str) -> Message:
        """The next message of one of these types; others before it are passed over."""
        async with asyncio.timeout(PATIENCE):
            while True:
                while self._messages:
                    message = self._messages.popleft()
                    if message["t"] in types:
                        return message
                self._news.clear()
                await self._news.wait()
