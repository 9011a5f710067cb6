"""kill -9 to the next new step, judged by an append-only file that neither side can take back."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from pathlib import Path

from bench import processes
from bench.rows.types import Metric, Row, Sample, Stage
from bench.server import Server, ServerFailed, running

LOOK = 0.002
MANY = 1_000_000  # steps: more than it will reach


class Recorder:
    """A server that appends what it is sent to a file, for a side whose Workers have no file system."""

    def __init__(self, file: Path) -> None:
        self.open = 0  # connections; what a killed process has sent on them may still be on its way to the file
        self._file = file

    @contextlib.asynccontextmanager
    async def listening(self) -> AsyncIterator[str]:
        """Serve; gives the address."""
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        try:
            yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        finally:
            server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open += 1
        try:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError):
                while True:
                    await self._line(reader, writer)
        finally:
            self.open -= 1
            writer.close()

    async def _line(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        size = int(head.partition(b"content-length:")[2].split(b"\r\n")[0])
        line = await reader.readexactly(size)
        with self._file.open("ab") as file:
            file.write(line)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")


async def kill(stage: Stage) -> Sample:
    """Kill all processes amid steps, start the command again at once, and wait for a line that was not there."""
    file = stage.folder / "ticks"
    file.touch()
    recorder = Recorder(file)
    async with recorder.listening() as url, running(stage.side, stage.folder, stage.sizes.patience) as server:
        async with server.client() as client:
            params = {"n": MANY, "file": str(file), "url": url}
            await client.post("/create", {"workflow": "ticks", "id": "killed", "params": params})
            await _lines(file, stage.sizes.ticks, stage.sizes.patience)
        began = time.monotonic()
        pids = server.kill()
        again = Server(stage.side, stage.folder, stage.sizes.patience)
        try:
            while processes.alive(pids) or recorder.open:
                await asyncio.sleep(LOOK)
            await _lines(file, _count(file) + 1, stage.sizes.kill_patience)
            return {"kill": time.monotonic() - began}
        finally:
            again.kill()


def _count(file: Path) -> int:
    return file.read_bytes().count(b"\n")


async def _lines(file: Path, wanted: int, patience: float) -> None:
    end = time.monotonic() + patience
    while _count(file) < wanted:
        if time.monotonic() > end:
            raise ServerFailed(f"no new step within {patience:g} s")
        await asyncio.sleep(LOOK)


KILL = Row("kill", (Metric("kill", "kill -9 to next new step", "s", False, "< 1"),), kill)
