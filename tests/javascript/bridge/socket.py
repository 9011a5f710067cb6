"""A client's WebSocket in a few lines: whole texts, both ways."""

from __future__ import annotations

import asyncio
import base64
import os
from collections.abc import Callable, Mapping

_TEXT, _CLOSE = 0x1, 0x8
_FINAL, _MASKED = 0x80, 0x80


class Socket:
    """An open connection. What comes is given to ``on_text``."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, on_text: Callable[[bytes], None]):
        self.closed = asyncio.Event()
        self.reason: str | None = None  # given by the other side
        self._reader = reader
        self._writer = writer
        self._on_text = on_text
        self._closing = False
        self._task = asyncio.create_task(self._read())

    @classmethod
    async def open(cls, port: int, headers: Mapping[str, str], on_text: Callable[[bytes], None]) -> Socket:
        """Connect."""
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 26)
        lines = {
            "Host": f"127.0.0.1:{port}",
            "Upgrade": "websocket",
            "Connection": "Upgrade",
            "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": base64.b64encode(os.urandom(16)).decode(),
            **headers,
        }
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        writer.write(f"GET / HTTP/1.1\r\n{head}\r\n".encode())
        answer = await reader.readuntil(b"\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 101 "), answer
        return cls(reader, writer, on_text)

    def send(self, text: bytes) -> None:
        """Send a text. With zeros for a key it is its own mask."""
        self._frame(_TEXT, text)

    def close(self) -> None:
        """Say that it is over, and say nothing more."""
        if self._closing:
            return
        self._closing = True
        self._frame(_CLOSE, (1000).to_bytes(2, "big"))
        self._writer.write_eof()

    def abort(self) -> None:
        """Be gone."""
        self._task.cancel()
        self._writer.transport.abort()

    def _frame(self, opcode: int, payload: bytes) -> None:
        size = len(payload)
        if size < 126:
            length = bytes([_MASKED | size])
        elif size < 1 << 16:
            length = bytes([_MASKED | 126]) + size.to_bytes(2, "big")
        else:
            length = bytes([_MASKED | 127]) + size.to_bytes(8, "big")
        self._writer.write(bytes([_FINAL | opcode]) + length + bytes(4) + payload)

    async def _read(self) -> None:
        try:
            while True:
                first, size = await self._reader.readexactly(2)
                if size > 125:
                    size = int.from_bytes(await self._reader.readexactly(2 if size == 126 else 8), "big")
                payload = await self._reader.readexactly(size)
                if first & 0x0F == _CLOSE:
                    self.reason = payload[2:].decode()
                    self.close()
                elif first & 0x0F == _TEXT:
                    assert first & _FINAL
                    self._on_text(payload)
        except (asyncio.IncompleteReadError, ConnectionError):
            self.closed.set()
