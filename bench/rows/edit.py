"""An edit of the Worker's source to the first response of the new code."""

from __future__ import annotations

import asyncio
import contextlib
import statistics
import time

from bench.client import Client, RequestFailed
from bench.rows.types import Metric, Row, Sample, Stage
from bench.server import Server, ServerFailed, running

LOOK = 0.005  # seconds between two looks
ANSWER = '"ok"'  # what the Worker's source has for its answer at /


async def edit(stage: Stage) -> Sample:
    """Seconds from the writing of the file to an answer of the new code, the median of some edits."""
    sizes = stage.sizes
    source = stage.folder / "project" / stage.side.main
    text = source.read_text()
    times: list[float] = []
    async with running(stage.side, stage.folder, sizes.patience) as server:
        for i in range(sizes.edits):
            await asyncio.sleep(sizes.pause)
            began = time.perf_counter()
            source.write_text(text.replace(ANSWER, f'"edit {i}"'))
            await _answers(server, f"edit {i}", sizes.patience)
            times.append(time.perf_counter() - began)
    return {"edit": statistics.median(times)}


async def _answers(server: Server, wanted: str, patience: float) -> None:
    end = time.monotonic() + patience
    while time.monotonic() < end:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, RequestFailed):
            client = await Client.connect(server.port)
            try:
                if (await client.get("/")).decode() == wanted:
                    return
            finally:
                await client.close()
        await asyncio.sleep(LOOK)
    raise ServerFailed(f"the edit was not served within {patience:g} s:\n{server.tail()}")


EDIT = Row("edit", (Metric("edit", "edit to first response of the new code", "s", False, js_goal="< 0.5"),), edit)
