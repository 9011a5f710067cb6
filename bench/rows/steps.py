"""Steps: of one short workflow, of one long one, of many at once."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Mapping

from bench import raw
from bench.client import Client
from bench.rows.types import Metric, Row, Sample, Stage
from bench.server import finished, running

EAGER = 0.001  # seconds between two looks where the look is part of the figure
RELAXED = 0.1  # where it is not: the workflow itself says when it ended
WARM_UP = 5


async def one_step(stage: Stage) -> Sample:
    """From sending create to seeing ``complete``, the median of some."""
    sizes = stage.sizes
    async with running(stage.side, stage.folder, sizes.patience) as server, server.client() as client:
        await warm_up(client, sizes.patience)
        await asyncio.sleep(sizes.pause)
        times: list[float] = []
        for i in range(sizes.one_step):
            began = time.perf_counter()
            await client.post("/create", {"workflow": "steps", "id": f"one{i}", "params": {"n": 1}})
            await finished(client, "steps", f"one{i}", EAGER, sizes.patience)
            times.append((time.perf_counter() - began) * 1000)
        return {"one_step": statistics.median(times)}


async def sequential(stage: Stage) -> Sample:
    """Steps a second of one workflow, from sending create to the end of its ``run()``."""
    sizes = stage.sizes
    async with running(stage.side, stage.folder, sizes.patience) as server, server.client() as client:
        await warm_up(client, sizes.patience)
        await asyncio.sleep(sizes.pause)
        began = time.time()
        await client.post("/create", {"workflow": "steps", "id": "long", "params": {"n": sizes.steps}})
        output = await finished(client, "steps", "long", RELAXED, sizes.patience)
        return {"sequential": sizes.steps / (output["ended"] / 1000 - began)}


async def wide(stage: Stage) -> Sample:
    """Steps a second of many instances created in batches, until the last of them has ended."""
    sizes = stage.sizes
    async with running(stage.side, stage.folder, sizes.patience) as server, server.client() as client:
        await warm_up(client, sizes.patience)
        await asyncio.sleep(sizes.pause)
        began = time.time()
        params = {"n": sizes.wide_steps}
        order = {"workflow": "steps", "prefix": "wide", "count": sizes.wide, "params": params}
        async with asyncio.timeout(sizes.patience):
            made = await client.post("/batch", order)
        assert made == {"made": sizes.wide}, made
        ended = [
            (await finished(client, "steps", f"wide{i}", RELAXED, sizes.patience))["ended"]
            for i in reversed(range(sizes.wide))
        ]
        return {"wide": sizes.wide * sizes.wide_steps / (max(ended) / 1000 - began)}


async def warm_up(client: Client, patience: float) -> None:
    """Run a few instances, so that no side pays in the figure for what it does once."""
    for i in range(WARM_UP):
        await client.post("/create", {"workflow": "steps", "id": f"warm{i}", "params": {"n": 5}})
        await finished(client, "steps", f"warm{i}", EAGER, patience)


def _two_commits(figures: Mapping[str, float]) -> float:
    """One before the step runs, one before its result is given out: the least that lets nothing run twice."""
    return figures[raw.ONE] / 2


def _two_rows(figures: Mapping[str, float]) -> float:
    return figures[raw.GROUPED] / 2


def _step_time(figures: Mapping[str, float]) -> float:
    return 2000 / figures[raw.ONE]


ONE_STEP = Row(
    "one-step",
    (Metric("one_step", "create to complete, one step", "ms", False, limit=_step_time),),
    one_step,
)
SEQUENTIAL = Row(
    "sequential",
    (Metric("sequential", "1,000 steps in one workflow", "steps/s", True, ">= 8x", _two_commits, ">= 4x"),),
    sequential,
)
WIDE = Row(
    "wide",
    (Metric("wide", "200 instances of 10 steps at once", "steps/s", True, ">= 14x", _two_rows, ">= 5x"),),
    wide,
)
