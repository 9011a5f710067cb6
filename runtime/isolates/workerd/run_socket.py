"""One run on workerd: a WebSocket to the bridge, whose end is the end of the run.

Messages travel as JSON arrays, all of one turn of the loop in one text.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from workers_shim.wire.sizes import clone_size

from .echo import Echo
from .stacks import Stacks
from .websocket import WebSocket

BROKEN_PAUSE = 1.0  # seconds until a run whose connection broke is told to be gone: it will begin anew, and break again
# bytes; workerd takes 32 MiB in one message, and one of ours (a start, a result) stays well below that
MAX_TEXT = 8 * 1024 * 1024

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(list[dict[str, Any]]).decode


class RunSocket:
    """What is said to a run, and what it says."""

    def __init__(
        self,
        start: Mapping[str, Any],
        token: str,
        stacks: Stacks,
        *,
        hear: Callable[[list[dict[str, Any]]], None],
        flush_soon: Callable[[RunSocket], None],
    ) -> None:
        self.run: int = start["run"]
        self.echo = Echo.of(start["journal"])
        self.stacks = stacks
        self._hear = hear
        self._flush_soon = flush_soon
        self._outgoing: list[Mapping[str, Any]] = [start]
        headers = {"celld-token": token, "celld-kind": "run", "celld-workflow": start["workflow"]}
        self._socket = WebSocket(headers, on_open=self.flush, on_texts=self._texts, on_closed=self._closed)
        self._released = False  # the host has no more interest in it
        self._gone = False

    async def connect(self, port: int) -> None:
        """Open the connection; what waits for it is sent as soon as it is open."""
        loop = asyncio.get_running_loop()
        try:
            await loop.create_connection(lambda: self._socket, "127.0.0.1", port)
        except OSError as error:
            self._closed(str(error))

    # ------------------------------------------------------------------------------------------------------ to it

    def send(self, message: Mapping[str, Any]) -> None:
        """Say something to the run, with whatever else is said to it in this turn."""
        if not self._outgoing:
            self._flush_soon(self)
        self._outgoing.append(message)

    def flush(self) -> None:
        """Send what waits."""
        if self._socket.is_open and self._outgoing:
            outgoing, self._outgoing = self._outgoing, []
            for text in _texts_of(outgoing):
                self._socket.send(text)

    def release(self) -> None:
        """The run is over: its code is cancelled by the end of the connection. `released` follows."""
        self._released = True
        self._outgoing = []
        if self._gone:
            asyncio.get_running_loop().call_soon(self._left)  # not in the middle of what the host is doing
        else:
            self._socket.close()

    def abandon(self) -> None:
        """workerd is gone: nothing more is heard of the run."""
        self._gone = self._released = True
        self._socket.abort()

    # ---------------------------------------------------------------------------------------------------- from it

    def _texts(self, texts: list[bytes]) -> None:
        if self._released:
            return
        messages = [message for text in texts for message in _decode(text)]
        for message in messages:
            message["run"] = self.run
            self._complete(message)
        self._hear(messages)

    def _complete(self, message: dict[str, Any]) -> None:
        """Add what the host wants to know and the bridge does not."""
        kind = message["t"]
        if kind == "ran" and "value" in message:
            message["size"] = clone_size(message["value"])
        elif kind == "mismatch" and (place := self.stacks.place(message.pop("stack", ""))):
            message["file"], message["line"] = place
        elif kind == "awaiting":
            place = self.stacks.place(message["where"])
            message["where"] = ":".join(map(str, place)) if place else message["where"].partition("\n")[0]
        for key in ("error", "fatal"):
            if "detail" in message.get(key, ()):
                message[key]["detail"] = self.stacks.mapped(message[key]["detail"])

    def _closed(self, reason: str) -> None:
        if self._gone:
            return
        self._gone = True
        if self._released:
            self._left()
        else:
            asyncio.get_running_loop().call_later(BROKEN_PAUSE, self._broke, reason)

    def _left(self) -> None:
        self._hear([{"t": "released", "run": self.run}])

    def _broke(self, reason: str) -> None:
        if not self._released:
            self._hear([{"t": "lost", "run": self.run, "reason": reason}])


def _texts_of(messages: list[Mapping[str, Any]]) -> Iterator[bytes]:
    """The messages as texts, which are no larger than they must be."""
    waiting: list[bytes] = []
    size = 0
    for encoded in map(_encode, messages):
        if waiting and size + len(encoded) > MAX_TEXT:
            yield b"[%b]" % b",".join(waiting)
            waiting, size = [], 0
        waiting.append(encoded)
        size += len(encoded)
    yield b"[%b]" % b",".join(waiting)
