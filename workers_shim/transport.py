"""The isolate's end of the stream socket: frames in, frames out, one write for each turn of the event loop."""

from __future__ import annotations

import asyncio
import json
import socket
import sys
import traceback
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from workers_shim import well_formed
from workers_shim.logs import Logs
from workers_shim.scope import NEUTRAL
from workers_shim.wire.busy_poll import BusyPoll
from workers_shim.wire.frames import Data, End, FrameReader, FrameWriter

READ_AT_ONCE = 128 * 1024  # bytes of one read
AT_ONCE = 256 * 1024  # bytes taken for one write; bodies take turns at this grain

# ASCII only, so that one look at the text tells whether it may hold surrogates.
_JSON = json.JSONEncoder(separators=(",", ":"), check_circular=False)
# JSONEncoder makes a C encoder for each text, and json.loads guesses the encoding and looks for white space at both
# ends. For messages this small that costs more than the rest.
_MAKE: Callable[..., Any] | None = getattr(json.encoder, "c_make_encoder", None)
_C_ENCODER = _MAKE and _MAKE(
    None, _JSON.default, json.encoder.encode_basestring_ascii, None, ":", ",", False, False, True
)
_decode = json.JSONDecoder().raw_decode


def _text(message: Mapping[str, Any]) -> str:
    return _JSON.encode(message) if _C_ENCODER is None else "".join(_C_ENCODER(message, 0))


class Receiver(Protocol):
    """Who takes what the host sends."""

    def message(self, message: dict[str, Any]) -> None:
        """A message arrived."""

    def data(self, stream: int, data: bytes) -> None:
        """A piece of a request's body arrived."""

    def end(self, stream: int) -> None:
        """A request's body ended."""

    def closed(self) -> None:
        """The host closed the socket, or died."""


class Transport(asyncio.BufferedProtocol):
    """Frames over one socket, on the loop's own thread."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        # What user code printed since the last flush. While the loop is blocked the watch thread takes it from here.
        self.logs = Logs()
        self._receiver: Receiver
        self._loop = loop
        self._buffer = memoryview(bytearray(READ_AT_ONCE))
        self._reader = FrameReader()
        self._writer = FrameWriter()
        self._socket: asyncio.Transport | None = None
        self._flush: asyncio.Handle | None = None
        self._busy_poll: BusyPoll | None = None  # where the host has another process
        self._full = False

    async def connect(self, sock: socket.socket, receiver: Receiver) -> None:
        """Speak frames over a connected socket."""
        self.attach(receiver)
        self._busy_poll = BusyPoll(self._loop, context=NEUTRAL)
        await self._loop.create_connection(lambda: self, sock=sock)

    # ------------------------------------------------------------------------------------------------------ sending

    def send(self, message: Mapping[str, Any]) -> None:
        """Send a message with all others of this turn of the loop; a run's messages keep their order."""
        if self.logs:
            self._take_logs()  # they were printed before this
        self._write_message(message)
        self.flush_soon()

    def _take_logs(self) -> None:
        # While the host is slow they wait where their number is bounded.
        if not self._full or self._writer.pending < AT_ONCE:
            for line in self.logs.take():
                self._write_message(line)

    def _write_message(self, message: Mapping[str, Any]) -> None:
        text = _text(message)
        if well_formed.MARK in text:
            text = _text(well_formed.tree(message))
        self._writer.message(text.encode("ascii"), message.get("run"))

    def send_data(self, stream: int, data: bytes) -> None:
        """Send a piece of a body; its sender keeps to the stream's credit."""
        self._writer.data(stream, data)
        self.flush_soon()

    def send_end(self, stream: int) -> None:
        """End a body."""
        self._writer.end(stream)
        self.flush_soon()

    def flush_soon(self) -> None:
        """Write what waits when the code that is ready now has run."""
        if self._flush is None:
            self._flush = self._loop.call_soon(self.flush, context=NEUTRAL)

    def flush(self) -> None:
        """Write what waits, as long as the socket takes it."""
        if self._flush is not None:
            self._flush.cancel()
            self._flush = None
        if self.logs:
            self._take_logs()
        if self._writer and self._busy_poll is not None:
            self._busy_poll.said()
        while self._writer and not self._full and self._socket is not None:
            self._socket.write(self._writer.take(AT_ONCE))
            if self.logs:
                self._take_logs()

    def attach(self, receiver: Receiver) -> None:
        """Hand what arrives to this receiver."""
        self._receiver = receiver

    # ------------------------------------------------------------------------------------------- asyncio's callbacks

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the socket."""
        assert isinstance(transport, asyncio.Transport)
        self._socket = transport
        self.flush()

    def get_buffer(self, sizehint: int) -> memoryview:
        """Where the next bytes go. A plain protocol is given new bytes each time, which asyncio first allocates at
        256 KiB and then shrinks: three calls of the system's memory for each small message."""
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        """Hand each frame that is complete to the receiver."""
        if self._busy_poll is not None:
            self._busy_poll.heard()
        for frame in self._reader.feed(bytes(self._buffer[:nbytes])):
            if isinstance(frame, bytes):
                self._receiver.message(_decode(frame.decode())[0])
            elif isinstance(frame, Data):
                self._receiver.data(frame.stream, frame.data)
            else:
                assert isinstance(frame, End)
                self._receiver.end(frame.stream)
        self.flush_soon()  # behind the tasks that these frames woke, so that their answers need no turn more

    def pause_writing(self) -> None:
        """The socket is full: what is sent now waits here, messages before bodies."""
        self._full = True

    def resume_writing(self) -> None:
        """The socket takes more."""
        self._full = False
        self.flush()

    def connection_lost(self, exc: Exception | None) -> None:
        """The host is gone; or a frame could not be dealt with, which must be seen where no frame is needed for it."""
        self._socket = None
        if exc is not None and not isinstance(exc, ConnectionError):
            traceback.print_exception(exc, file=sys.__stderr__)
        self._receiver.closed()
