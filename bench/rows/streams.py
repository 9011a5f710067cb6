"""Bodies of 1 GB through the Worker, in both directions: speed, and what they add to memory."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator

from bench import processes
from bench.rows.types import Metric, Row, Sample, Stage
from bench.server import Server, running

LOOK = 0.1
MB = 1e6


class Growth:
    """The most memory that was seen, above what there was before."""

    def __init__(self, server: Server) -> None:
        self._pids = server.pids
        self._before = processes.pss(self._pids)
        self.mb = 0.0

    def look(self) -> None:
        """Read the memory now."""
        self.mb = max(self.mb, processes.pss(self._pids) - self._before)

    @contextlib.asynccontextmanager
    async def watched(self) -> AsyncIterator[None]:
        """Look all the time, and once more at the end."""

        async def watch() -> None:
            while True:
                await asyncio.sleep(LOOK)
                self.look()

        task = asyncio.create_task(watch())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.wait([task])
            self.look()


async def stream(stage: Stage) -> Sample:
    """Download and upload, after a small one of each."""
    sizes = stage.sizes
    async with running(stage.side, stage.folder, sizes.patience) as server, server.client() as client:
        await client.get("/download", bytes=1 << 20)
        await client.upload("/upload", 1 << 20)
        await asyncio.sleep(sizes.pause)
        down, up = Growth(server), Growth(server)
        async with down.watched(), asyncio.timeout(sizes.patience):
            began = time.perf_counter()
            first = size = 0.0
            async for piece in client.stream("/download", bytes=sizes.stream):
                first = first or time.perf_counter() - began
                size += len(piece)
            down_time = time.perf_counter() - began
        assert size == sizes.stream, size
        async with up.watched(), asyncio.timeout(sizes.patience):
            began = time.perf_counter()
            assert await client.upload("/upload", sizes.stream) == {"bytes": sizes.stream}
            up_time = time.perf_counter() - began
    return {
        "first_chunk": first * 1000,
        "down": sizes.stream / MB / down_time,
        "up": sizes.stream / MB / up_time,
        "down_growth": down.mb,
        "up_growth": up.mb,
    }


STREAM = Row(
    "stream",
    (
        Metric("first_chunk", "1 GB response: time to first chunk", "ms", False),
        Metric("down", "1 GB response", "MB/s", True),
        Metric("down_growth", "1 GB response: memory added", "MB", False, "< 32"),
        Metric("up", "1 GB request", "MB/s", True),
        Metric("up_growth", "1 GB request: memory added", "MB", False, "< 32"),
    ),
    stream,
    most_rounds=1,
)
