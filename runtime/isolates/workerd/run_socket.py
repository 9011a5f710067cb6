"""One run on workerd: two WebSockets, one that holds the run and one for what is said.

The first is ours, to the bridge; its end is the end of the run. It carries the `start`, and what becomes known of a
run whose code has ended: `parked` or `done`. The second, the line, the run's engine opens (`lines`): it carries all
else. As long as it is open workerd does not end the code. So when the engine says that the code is `resting`, after it
was asked for `rest`, we hang up; if workerd then ends the code, it waits for us alone. If it does not, and we have
something to say, we ask for the line with a `wake`.

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
from .websocket import Client, WebSocket

BROKEN_PAUSE = 1.0  # seconds until a run whose connection broke is told to be gone: it will begin anew, and break again
AWAITING_EVERY = 60.0  # seconds between reports of a run that was asked for rest, and waits for something of its own
WHERE = "a timer, request or stream of its own"
# bytes; workerd takes 32 MiB in one message, and one of ours (a start, a result) stays well below that
MAX_TEXT = 8 * 1024 * 1024

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(list[dict[str, Any]]).decode
_WAKE = b'[{"t":"wake"}]'


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
        self._start: Mapping[str, Any] | None = start
        self._hear = hear
        self._flush_soon = flush_soon
        self._outgoing: list[Mapping[str, Any]] = []
        headers = {"celld-token": token, "celld-kind": "run", "celld-workflow": start["workflow"]}
        self._hold = Client(headers, on_open=self._begin, on_texts=self._told, on_closed=self._closed)
        self._line: WebSocket | None = None
        self._coming = True  # the line
        self._hung_up = False
        self._asked: asyncio.TimerHandle | None = None  # for rest, and nothing has been said since
        self._last: list[dict[str, Any]] = []  # what was told of the run's end while its line was open
        self._released = False  # the host has no more interest in it
        self._gone = False
        self._loop = asyncio.get_running_loop()

    async def connect(self, port: int) -> None:
        """Open the connection that holds the run."""
        try:
            await self._loop.create_connection(lambda: self._hold, "127.0.0.1", port)
        except OSError as error:
            self._closed(str(error))

    def _begin(self) -> None:
        self._hold.send(b"[%b]" % _encode(self._start))
        self._start = None

    # ------------------------------------------------------------------------------------------------------ to it

    def send(self, message: Mapping[str, Any]) -> None:
        """Say something to the run, with whatever else is said to it in this turn."""
        if not self._outgoing:
            self._flush_soon(self)
        self._outgoing.append(message)
        self._stirs()
        if message["t"] == "rest":
            self._asked = self._loop.call_later(AWAITING_EVERY, self._awaits, AWAITING_EVERY)

    def flush(self) -> None:
        """Send what waits, or ask for the line."""
        if not self._outgoing:
            return
        if self._line is not None:
            if not self._line.is_closing:
                outgoing, self._outgoing = self._outgoing, []
                for text in _texts_of(outgoing):
                    self._line.send(text)
        elif not self._coming:
            self._coming = True
            self._hold.send(_WAKE)

    def release(self) -> None:
        """The run is over: its code is cancelled by the end of the connection. `released` follows."""
        self._released = True
        self._outgoing = []
        self._stirs()
        if self._gone:
            self._loop.call_soon(self._left)  # not in the middle of what the host is doing
            return
        self._hold.close()
        if self._line is not None:
            self._line.abort()  # else the code goes on

    def abandon(self) -> None:
        """workerd is gone: nothing more is heard of the run."""
        self._gone = self._released = True
        self._stirs()
        self._hold.abort()
        if self._line is not None:
            self._line.abort()

    # -------------------------------------------------------------------------------------------------- its line

    @property
    def over(self) -> bool:
        """Whether nobody has anything to say to it any more."""
        return self._released or self._gone

    def attach(self, line: WebSocket) -> bool:
        """Take the line, which is about to open; False as long as the one before has not come to its end."""
        if self._line is not None:
            return False
        self._line = line
        self._coming = self._hung_up = False
        return True

    def detach(self, reason: str) -> None:
        """The line is closed."""
        self._line = None
        if self._last:
            last, self._last = self._last, []
            self._hear(last)
        elif not self._hung_up and not self.over:
            # If the code has ended, the other connection tells of it.
            self._loop.call_later(BROKEN_PAUSE, self._broke, reason)
        self.flush()

    def texts(self, texts: list[bytes]) -> None:
        """The line brings what the run says."""
        if self._released:
            return
        said = [message for text in texts for message in _decode(text)]
        if said[-1]["t"] == "resting" and self._asked is not None and self._line is not None:
            self._hung_up = True
            self._line.close()
        messages = [message for message in said if message["t"] != "resting"]
        for message in messages:
            message["run"] = self.run
            self._complete(message)
        if messages:
            self._stirs()
            self._hear(messages)

    # ---------------------------------------------------------------------------------------------------- from it

    def _complete(self, message: dict[str, Any]) -> None:
        """Add what the host wants to know and the engine's end in workerd does not."""
        kind = message["t"]
        if kind == "ran" and "value" in message:
            message["size"] = clone_size(message["value"])
        elif kind == "mismatch" and (place := self.stacks.place(message.pop("stack", ""))):
            message["file"], message["line"] = place
        for key in ("error", "fatal"):
            if "detail" in message.get(key, ()):
                message[key]["detail"] = self.stacks.mapped(message[key]["detail"])

    def _told(self, texts: list[bytes]) -> None:
        """The code has ended: what it was heard to say comes before that."""
        if self._released:
            return
        self._stirs()
        messages = [message | {"run": self.run} for text in texts for message in _decode(text)]
        if self._line is None:
            self._hear(messages)
        else:
            self._last += messages

    def _stirs(self) -> None:
        """Something happens to the run: whether it rests is asked anew, in time."""
        if self._asked is not None:
            self._asked.cancel()
            self._asked = None

    def _awaits(self, seconds: float) -> None:
        """It was asked to rest, and waits for something else."""
        self._asked = self._loop.call_later(AWAITING_EVERY, self._awaits, seconds + AWAITING_EVERY)
        told = {"t": "awaiting", "seconds": seconds, "longest": seconds, "where": WHERE}
        self._hear([told | {"run": self.run}])

    def _closed(self, reason: str) -> None:
        if self._gone:
            return
        self._gone = True
        if self._line is not None:
            self._line.abort()
        if self._released:
            self._left()
        else:
            self._loop.call_later(BROKEN_PAUSE, self._broke, reason)

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
