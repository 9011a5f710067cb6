"""A Python isolate: a child process in the project's interpreter, reached over two inherited socket pairs."""

from __future__ import annotations

import asyncio
import contextlib
from typing import cast

import msgspec

from workers_shim.wire.busy_poll import BusyPoll
from workers_shim.wire.frames import Data, Frame, FrameReader, FrameWriter
from workers_shim.wire.messages import Log, Pulse

from .child import Child
from .transport import Listener, Message

WRITE_AT_ONCE = 256 * 1024  # bytes handed to the socket in one go
PULSE_TIMEOUT = 2.0  # seconds; the watch thread needs none of the loop, only a turn of the interpreter lock

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode


class ProcessIsolate(asyncio.Protocol):
    """`Isolate` over a `Child`."""

    says_began = True
    parks_by_ending = False
    inspector: str | None = None

    def __init__(self, child: Child, listener: Listener) -> None:
        self.role = child.role
        self.pid = child.process.pid
        self._child = child
        self._listener = listener
        self._reader = FrameReader()
        self._writer = FrameWriter()
        self._transport: asyncio.Transport | None = None
        self._flush_due = False
        self._receiving = False
        self._blocked = False
        self.lost = False
        self._loop = asyncio.get_running_loop()
        self._busy_poll = BusyPoll(self._loop)
        self._pulses: asyncio.Lock = asyncio.Lock()
        self._pulse_bytes = bytearray()
        self._pulse_logs: list[Log] = []  # from answers that came too late
        self._unanswered = 0  # questions for a pulse

    @classmethod
    async def connect(cls, child: Child, listener: Listener) -> ProcessIsolate:
        """Start to listen to a child."""
        loop = asyncio.get_running_loop()
        child.watch.setblocking(False)
        _, isolate = await loop.create_unix_connection(lambda: cls(child, listener), sock=child.socket)
        return isolate

    # ------------------------------------------------------------------------------------------------------ to it

    def send(self, message: Message, lane: int | None = None) -> None:
        self._writer.message(_encode(message), lane)
        self._flush_soon()

    def send_data(self, stream: int, data: bytes) -> None:
        self._writer.data(stream, data)
        self._flush_soon()

    def send_end(self, stream: int) -> None:
        self._writer.end(stream)
        self._flush_soon()

    def flush(self) -> None:
        """Hand what waits to the socket, as far as it takes it."""
        self._flush_due = False
        transport = self._transport
        while self._writer and transport is not None and not self._blocked and not self.lost:
            transport.write(self._writer.take(WRITE_AT_ONCE))
            self._busy_poll.said()

    def _flush_soon(self) -> None:
        if not self._flush_due:
            self._flush_due = True
            if not self._receiving:
                self._loop.call_soon(self.flush)

    async def pulse(self) -> Pulse | None:
        async with self._pulses:
            if self.lost:
                return None
            try:
                async with asyncio.timeout(PULSE_TIMEOUT):
                    await self._loop.sock_sendall(self._child.watch, b"?")
                    self._unanswered += 1
                    return await self._last_pulse()
            except (TimeoutError, OSError):
                return None

    async def _last_pulse(self) -> Pulse | None:
        """The answer to the last question; answers to earlier ones that came too late stand in front of it."""
        while True:
            line, end, rest = self._pulse_bytes.partition(b"\n")
            if end:
                self._pulse_bytes = rest
                self._unanswered -= 1
                pulse = cast(Pulse, _decode(line))
                self._pulse_logs += pulse.get("log", ())
                if not self._unanswered:
                    pulse["log"], self._pulse_logs = self._pulse_logs, []
                    return pulse
                continue
            piece = await self._loop.sock_recv(self._child.watch, WRITE_AT_ONCE)
            if not piece:
                return None
            self._pulse_bytes += piece

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self._child.process.kill()

    def close(self) -> None:
        self._child.watch.close()
        if self._transport is not None:
            self._transport.close()

    async def wait(self) -> int:
        """Wait for the process to end; gives its exit status."""
        return await asyncio.to_thread(self._child.process.wait)

    # ---------------------------------------------------------------------------------------------------- from it

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self.flush()

    def data_received(self, data: bytes) -> None:
        self._busy_poll.heard()
        self._receiving = True
        try:
            for frame in self._reader.feed(data):
                self._hand_over(frame)
        finally:
            self._listener.on_turn(self)
            self._receiving = False
            if self._flush_due:
                self.flush()  # what the turn had to say goes out in the same iteration of the loop

    def _hand_over(self, frame: Frame) -> None:
        if isinstance(frame, bytes):
            self._listener.on_message(self, _decode(frame))
        elif isinstance(frame, Data):
            self._listener.on_data(self, frame.stream, frame.data)
        else:
            self._listener.on_end(self, frame.stream)

    def pause_writing(self) -> None:
        self._blocked = True

    def resume_writing(self) -> None:
        self._blocked = False
        self.flush()

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost = True
        self._child.watch.close()
        self._listener.on_lost(self)

    def __repr__(self) -> str:
        return f"<{self.role} isolate {self.pid}>"
