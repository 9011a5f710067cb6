"""Printed lines on their way to the host. They are bounded: code that blocks the event loop may print without end."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping
from typing import Any

Message = Mapping[str, Any]

MOST = 8 * 1024 * 1024  # bytes that wait, by `_cost`
_LINE_COST = 256  # bytes of a message besides its text


class Logs:
    """A queue of log messages that forgets the oldest when they are too many. Any thread may use it."""

    def __init__(self) -> None:
        self._lines: deque[tuple[Message, int]] = deque()
        self._bytes = 0
        self._dropped = 0
        self._lock = threading.RLock()  # a signal handler or a finalizer of user code may print at any moment

    def append(self, message: Message) -> bool:
        """Keep a line; gives whether it is the first one that waits."""
        cost = _cost(message)
        with self._lock:
            first = not self._lines
            self._lines.append((message, cost))
            self._bytes += cost
            while self._bytes > MOST:
                self._bytes -= self._lines.popleft()[1]
                self._dropped += 1
        return first

    def take(self, limit: int = MOST) -> list[Message]:
        """Take the oldest lines, as many as fit into ``limit`` bytes, at least one if any wait."""
        taken: list[Message] = []
        with self._lock:
            if self._dropped:
                taken.append(_missing(self._dropped))
                self._dropped = 0
            size = 0
            while self._lines and (not size or size + self._lines[0][1] <= limit):
                message, cost = self._lines.popleft()
                taken.append(message)
                size += cost
            self._bytes -= size
        return taken

    def __bool__(self) -> bool:
        return bool(self._lines)


def _cost(message: Message) -> int:
    text = message["text"]
    return _LINE_COST + len(text) * (1 if text.isascii() else 6)  # what JSON's escapes make of it


def _missing(count: int) -> Message:
    lines = "1 line of output is" if count == 1 else f"{count:,} lines of output are"
    text = f"{lines} missing here: more was printed than the event loop came round to send."
    return {"t": "log", "stream": "warning", "text": text}
