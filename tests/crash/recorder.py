"""Puts lines into a file for a Worker that has no file system: it sends each by HTTP and goes on when it is written."""

from __future__ import annotations

import asyncio
import os
import queue
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def recorder(file: Path) -> Iterator[str]:
    """Serve until the end of the block, in a thread of its own; gives the address to which lines are sent."""
    descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    begun: queue.Queue[tuple[int, asyncio.AbstractEventLoop, asyncio.Event]] = queue.Queue()

    async def serve() -> None:
        over = asyncio.Event()
        server = await asyncio.start_server(lambda *streams: _lines(descriptor, *streams), "127.0.0.1", 0)
        begun.put((server.sockets[0].getsockname()[1], asyncio.get_running_loop(), over))
        await over.wait()
        server.close()

    thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
    thread.start()
    port, loop, over = begun.get()
    try:
        yield f"http://127.0.0.1:{port}/"
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join()
        os.close(descriptor)


async def _lines(descriptor: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """One connection of a Worker's; it ends when the Worker is killed, whatever it was about to send, or at the end."""
    with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            size = int(head.partition(b"content-length:")[2].split(b"\r\n")[0])
            os.write(descriptor, await reader.readexactly(size))
            writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")
    writer.close()
