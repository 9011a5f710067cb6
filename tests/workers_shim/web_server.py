"""A raw HTTP server for tests: it says what it is told to say, and keeps what it was asked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

Answer = bytes | Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@dataclass
class WebServer:
    answers: dict[str, Answer]  # by path
    port: int = 0
    heads: list[str] = field(default_factory=list)  # request lines and headers
    bodies: list[bytes] = field(default_factory=list)

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        self.heads.append(head)
        answer = self.answers[head.split(" ")[1]]
        try:
            if isinstance(answer, bytes):
                self.bodies.append(await _body(head.lower(), reader))
                writer.write(answer)
            else:
                await answer(reader, writer)
            await writer.drain()
        except ConnectionError:
            pass  # the client has closed, as some tests want
        finally:
            writer.close()


async def _body(head: str, reader: asyncio.StreamReader) -> bytes:
    if "transfer-encoding: chunked" in head:
        whole = b""
        while size := int(await reader.readline(), 16):
            whole += await reader.readexactly(size)
            await reader.readline()
        return whole
    length = head.partition("content-length: ")[2].partition("\r\n")[0]
    return await reader.readexactly(int(length or 0))


@asynccontextmanager
async def web_server(answers: dict[str, Answer]) -> AsyncIterator[WebServer]:
    """Serve these answers on a free port of this machine."""
    web = WebServer(answers)
    server = await asyncio.start_server(web.serve, "127.0.0.1", 0)
    web.port = server.sockets[0].getsockname()[1]
    try:
        yield web
    finally:
        server.close()
        await server.wait_closed()


def ok(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    """A whole answer."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body
