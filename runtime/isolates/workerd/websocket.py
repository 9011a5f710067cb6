"""The client's end of a WebSocket (RFC 6455) to the bridge, as an asyncio protocol.

Only what passes between the two: whole text messages, no extensions. There is no task and no await on the way of a
message, because a step takes four of them.
"""

from __future__ import annotations

import asyncio
import base64
import os
from collections.abc import Callable, Mapping, Sequence
from typing import cast

_TEXT, _CLOSE, _PING, _PONG = 0x1, 0x8, 0x9, 0xA
_FINAL, _OPCODE, _LENGTH = 0x80, 0x0F, 0x7F
_MASKED = 0x80
# A client has to mask what it sends, against proxies that take it for something else. There is none on the way, and
# with zeros for a key the text is its own mask.
_KEY = b"\0\0\0\0"


class WebSocket(asyncio.Protocol):
    """A connection that opens, takes and gives texts, and closes."""

    def __init__(
        self,
        headers: Mapping[str, str],
        *,
        on_open: Callable[[], None],
        on_texts: Callable[[list[bytes]], None],
        on_closed: Callable[[str], None],
    ) -> None:
        self.is_open = False
        self._headers = headers
        self._on_open, self._on_texts, self._on_closed = on_open, on_texts, on_closed
        self._transport: asyncio.Transport | None = None
        self._buffer = bytearray()
        self._parts = bytearray()  # of a message in several frames
        self._closing = False
        self._reason = "the connection ended"

    # ------------------------------------------------------------------------------------------------------ to it

    def send(self, text: bytes) -> None:
        """Send a message."""
        self._write(_TEXT, text)

    def close(self) -> None:
        """Hang up, which cancels what the other side does for this connection; `on_closed` follows when it has.

        Without a Close frame: workerd reads no further behind one, and its code would go on (measured).
        """
        if self._closing:
            return
        self._closing = True
        if self.is_open and self._transport is not None:
            self._transport.write_eof()
        else:
            self.abort()

    def abort(self) -> None:
        """Be gone at once."""
        if self._transport is not None:
            self._transport.abort()

    def _write(self, opcode: int, payload: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(_head(opcode, len(payload)) + payload)

    # ---------------------------------------------------------------------------------------------------- from it

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        if self._closing:
            self.abort()
            return
        lines = {
            "Host": "bridge",
            "Upgrade": "websocket",
            "Connection": "Upgrade",
            "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": base64.b64encode(os.urandom(16)).decode(),
            **self._headers,
        }
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        self._transport.write(f"GET / HTTP/1.1\r\n{head}\r\n".encode("latin-1"))

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if not self.is_open and not self._opens():
            return
        texts: list[bytes] = []
        while (frame := self._frame()) is not None:
            texts += self._taken(*frame)
        if texts:
            self._on_texts(texts)

    def _opens(self) -> bool:
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            return False
        if not self._buffer.startswith(b"HTTP/1.1 101 "):
            self._reason = f"the bridge answered {self._buffer[:end].decode('latin-1').splitlines()[0]}"
            self.abort()
            return False
        del self._buffer[: end + 4]
        self.is_open = True
        self._on_open()
        return True

    def _frame(self) -> tuple[int, bool, bytes] | None:
        """The next whole frame: its kind, whether it ends its message, and its payload."""
        buffer = self._buffer
        if len(buffer) < 2:
            return None
        length, start = buffer[1] & _LENGTH, 2
        if length > 125:
            start = 4 if length == 126 else 10
            if len(buffer) < start:
                return None
            length = int.from_bytes(buffer[2:start], "big")
        if len(buffer) < start + length:
            return None
        opcode, final = buffer[0] & _OPCODE, bool(buffer[0] & _FINAL)
        payload = bytes(buffer[start : start + length])
        del buffer[: start + length]
        return opcode, final, payload

    def _taken(self, opcode: int, final: bool, payload: bytes) -> Sequence[bytes]:
        """Deal with a frame; gives the message that ends with it."""
        if opcode == _PING:
            self._write(_PONG, payload)
        elif opcode == _CLOSE:
            self._reason = payload[2:].decode("utf-8", "replace") or self._reason
            self.close()
        elif opcode == _PONG:
            pass
        elif final and not self._parts:
            return (payload,)
        else:
            self._parts += payload
            if final:
                message, self._parts = bytes(self._parts), bytearray()
                return (message,)
        return ()

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_open = False
        self._on_closed(str(exc) if exc is not None else self._reason)


def _head(opcode: int, length: int) -> bytes:
    first = _FINAL | opcode
    if length < 126:
        return bytes((first, _MASKED | length)) + _KEY
    if length < 1 << 16:
        return bytes((first, _MASKED | 126)) + length.to_bytes(2, "big") + _KEY
    return bytes((first, _MASKED | 127)) + length.to_bytes(8, "big") + _KEY
