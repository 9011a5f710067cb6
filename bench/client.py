"""The client that asks both sides: HTTP/1.1 on kept connections, small enough not to be what is measured."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from typing import Any
from urllib.parse import urlencode

PIECE = 64 * 1024


class RequestFailed(Exception):
    """The answer was not 200."""


class Client:
    """One connection, one request at a time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def connect(cls, port: int) -> Client:
        """Open a connection to a server on this machine."""
        return cls(*await asyncio.open_connection("127.0.0.1", port, limit=4 * PIECE))

    async def close(self) -> None:
        """Hang up."""
        self._writer.close()
        try:
            await self._writer.wait_closed()
        except ConnectionError:  # the other side was quicker
            return

    async def get(self, path: str, **query: Any) -> bytes:
        """The body that a GET gives."""
        return b"".join([piece async for piece in self.stream(path, **query)])

    async def stream(self, path: str, **query: Any) -> AsyncIterator[bytes]:
        """The body that a GET gives, piece by piece as it comes."""
        target = f"{path}?{urlencode(query)}" if query else path
        self._writer.write(f"GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        async for piece in self._body(*await self._head()):
            yield piece

    async def post(self, path: str, data: Mapping[str, Any]) -> Any:
        """What a POST of JSON gives, parsed."""
        body = json.dumps(data).encode()
        self._post_head(path, len(body))
        self._writer.write(body)
        return await self._json()

    async def upload(self, path: str, size: int) -> Any:
        """POST so many bytes, no faster than they are taken; gives the answer, parsed."""
        self._post_head(path, size)
        piece = bytes(PIECE)
        for start in range(0, size, PIECE):
            self._writer.write(piece[: size - start])
            await self._writer.drain()
        return await self._json()

    def _post_head(self, path: str, size: int) -> None:
        lines = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {size}"
        self._writer.write(f"{lines}\r\n\r\n".encode())

    async def _json(self) -> Any:
        return json.loads(b"".join([piece async for piece in self._body(*await self._head())]))

    async def _head(self) -> tuple[int, dict[str, str]]:
        lines = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        pairs = (line.split(":", 1) for line in lines[1:] if line)
        return int(lines[0].split()[1]), {name.lower(): value.strip() for name, value in pairs}

    async def _body(self, status: int, headers: Mapping[str, str]) -> AsyncIterator[bytes]:
        pieces = self._chunked() if headers.get("transfer-encoding") == "chunked" else self._counted(headers)
        if status == 200:
            async for piece in pieces:
                yield piece
        else:
            text = b"".join([piece async for piece in pieces])
            raise RequestFailed(f"{status}: {text[:300]!r}")

    async def _counted(self, headers: Mapping[str, str]) -> AsyncIterator[bytes]:
        left = int(headers.get("content-length", "0"))
        while left:
            piece = await self._reader.read(min(left, PIECE))
            if not piece:
                raise ConnectionError("the answer ended too early")
            left -= len(piece)
            yield piece

    async def _chunked(self) -> AsyncIterator[bytes]:
        while size := int(await self._reader.readuntil(b"\r\n"), 16):
            yield await self._reader.readexactly(size)
            await self._reader.readexactly(2)
        await self._reader.readexactly(2)
