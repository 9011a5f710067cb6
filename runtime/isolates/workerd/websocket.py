"""WebSockets (RFC 6455) between host and workerd, as asyncio protocols.

Only what passes between the two: whole text messages, no extensions. There is no task and no await on the way of a
message, because a step takes four of them.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from typing import cast

_TEXT, _CLOSE, _PING, _PONG = 0x1, 0x8, 0x9, 0xA
_FINAL, _OPCODE, _LENGTH = 0x80, 0x0F, 0x7F
_MASKED = 0x80
# A client has to mask what it sends, against proxies that take it for something else. There is none on the way, and
# with zeros for a key the text is its own mask.
_KEY = bytes(4)
_NORMAL = (1000).to_bytes(2, "big")
_ACCEPT = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # of the RFC


class WebSocket(asyncio.Protocol):
    """A connection that opens, takes and gives texts, and closes: what client and server have in common."""

    masks = False  # what it sends

    def __init__(self) -> None:
        self.is_open = False
        self.transport: asyncio.Transport | None = None
        self._buffer = bytearray()
        self._parts = bytearray()  # of a message in several frames
        self._closing = False
        self._reason = "the connection ended"

    def opens(self, head: bytes) -> bool:
        """Whether what the other side began with will do."""
        raise NotImplementedError

    def opened(self) -> None:
        """Texts can be sent."""
        raise NotImplementedError

    def texts(self, texts: list[bytes]) -> None:
        """Texts have come."""
        raise NotImplementedError

    def closed(self, reason: str) -> None:
        """Nothing more comes."""
        raise NotImplementedError

    # ------------------------------------------------------------------------------------------------------ to it

    def send(self, text: bytes) -> None:
        """Send a message."""
        self._write(_TEXT, text)

    def close(self) -> None:
        """Say that nothing more follows; `closed` does when the other side has answered."""
        if not self._closing:
            self._closing = True
            self._write(_CLOSE, _NORMAL)

    def abort(self) -> None:
        """Be gone at once."""
        self._closing = True
        if self.transport is not None:
            self.transport.abort()

    @property
    def is_closing(self) -> bool:
        """Whether nothing more can be sent."""
        return self._closing

    def _write(self, opcode: int, payload: bytes) -> None:
        if self.transport is not None and not self.transport.is_closing():
            self.transport.write(_head(opcode, len(payload), masked=self.masks) + payload)

    # ---------------------------------------------------------------------------------------------------- from it

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if not self.is_open and not self._begins():
            return
        texts: list[bytes] = []
        while (frame := self._frame()) is not None:
            texts += self._taken(*frame)
        if texts:
            self.texts(texts)

    def _begins(self) -> bool:
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            return False
        head = bytes(self._buffer[:end])
        if not self.opens(head):
            return False
        del self._buffer[: end + 4]
        self.is_open = True
        self.opened()
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
        key = b""
        if buffer[1] & _MASKED:
            key = bytes(buffer[start : start + 4])
            start += 4
        if len(buffer) < start + length:
            return None
        opcode, final = buffer[0] & _OPCODE, bool(buffer[0] & _FINAL)
        payload = bytes(buffer[start : start + length])
        del buffer[: start + length]
        return opcode, final, _unmasked(payload, key) if key else payload

    def _taken(self, opcode: int, final: bool, payload: bytes) -> Sequence[bytes]:
        """Deal with a frame; gives the message that ends with it."""
        if opcode == _PING:
            self._write(_PONG, payload)
        elif opcode == _CLOSE:
            self._reason = payload[2:].decode("utf-8", "replace") or self._reason
            self._left()
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

    def _left(self) -> None:
        """The other side sends nothing more."""
        self.close()
        if self.transport is not None:
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_open = False
        self.closed(str(exc) if exc is not None else self._reason)


class Client(WebSocket):
    """A connection to the bridge, whose end is the end of what the other side does for it."""

    masks = True

    def __init__(
        self,
        headers: Mapping[str, str],
        *,
        on_open: Callable[[], None],
        on_texts: Callable[[list[bytes]], None],
        on_closed: Callable[[str], None],
    ) -> None:
        super().__init__()
        self._headers = headers
        self._on_open, self._on_texts, self._on_closed = on_open, on_texts, on_closed

    def opened(self) -> None:
        self._on_open()

    def texts(self, texts: list[bytes]) -> None:
        self._on_texts(texts)

    def closed(self, reason: str) -> None:
        self._on_closed(reason)

    def close(self) -> None:
        """Hang up, which cancels what the other side does for this connection; `closed` follows when it has.

        Without a Close frame: workerd reads no further behind one, and its code would go on (measured).
        """
        if self._closing:
            return
        if self.is_open and self.transport is not None:
            self._closing = True
            self.transport.write_eof()
        else:
            self.abort()

    def _left(self) -> None:
        self.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
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
        self.transport.write(f"GET / HTTP/1.1\r\n{head}\r\n".encode("latin-1"))

    def opens(self, head: bytes) -> bool:
        if head.startswith(b"HTTP/1.1 101 "):
            return True
        self._reason = f"the bridge answered {head.decode('latin-1').splitlines()[0]}"
        self.abort()
        return False


class Server(WebSocket):
    """A connection from workerd."""

    def answer(self, headers: Mapping[str, str]) -> HTTPStatus:
        """What whoever connects is answered: 101 admits them. The names of the headers are in lower case."""
        raise NotImplementedError

    def opens(self, head: bytes) -> bool:
        assert self.transport is not None
        lines = (line.partition(":") for line in head.decode("latin-1").split("\r\n")[1:])
        headers = {name.strip().lower(): value.strip() for name, _, value in lines}
        key = headers.get("sec-websocket-key", "").encode("latin-1")
        status = self.answer(headers) if key else HTTPStatus.BAD_REQUEST
        if status != HTTPStatus.SWITCHING_PROTOCOLS:
            line = f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode()
            self.transport.write(line + b"Content-Length: 0\r\nConnection: close\r\n\r\n")
            self.transport.close()
            return False
        accepted = base64.b64encode(hashlib.sha1(key + _ACCEPT, usedforsecurity=False).digest())
        switched = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        self.transport.write(switched + b"Sec-WebSocket-Accept: " + accepted + b"\r\n\r\n")
        return True


def _unmasked(payload: bytes, key: bytes) -> bytes:
    size = len(payload)
    mask = (key * (size // 4 + 1))[:size]
    return (int.from_bytes(payload, "big") ^ int.from_bytes(mask, "big")).to_bytes(size, "big")


def _head(opcode: int, length: int, *, masked: bool) -> bytes:
    first, bit, key = _FINAL | opcode, *((_MASKED, _KEY) if masked else (0, b""))
    if length < 126:
        return bytes((first, bit | length)) + key
    if length < 1 << 16:
        return bytes((first, bit | 126)) + length.to_bytes(2, "big") + key
    return bytes((first, bit | 127)) + length.to_bytes(8, "big") + key
