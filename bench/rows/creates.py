"""Creates: one after another, and all at once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping

from bench import raw
from bench.client import Client
from bench.rows.steps import warm_up
from bench.rows.types import Metric, Row, Sample, Stage
from bench.server import running


async def creates(stage: Stage) -> Sample:
    """Creates a second, each sent when the one before is answered."""
    sizes = stage.sizes
    async with running(stage.side, stage.folder, sizes.patience) as server, server.client() as client:
        await warm_up(client, sizes.patience)
        await asyncio.sleep(sizes.pause)
        began = time.perf_counter()
        async with asyncio.timeout(sizes.patience):
            for i in range(sizes.creates):
                await create(client, i)
        return {"creates": sizes.creates / (time.perf_counter() - began)}


async def burst(stage: Stage) -> Sample:
    """Time until creates that are sent at once, each on its own connection, are all answered."""
    sizes = stage.sizes
    async with running(stage.side, stage.folder, sizes.patience) as server:
        async with server.client() as client:
            await warm_up(client, sizes.patience)
        await asyncio.sleep(sizes.pause)
        clients = await asyncio.gather(*(Client.connect(server.port) for _ in range(sizes.burst)))
        try:
            began = time.perf_counter()
            async with asyncio.timeout(sizes.patience):
                await asyncio.gather(*(create(client, i) for i, client in enumerate(clients)))
            return {"burst": time.perf_counter() - began}
        finally:
            await asyncio.gather(*(client.close() for client in clients))


async def create(client: Client, number: int) -> None:
    """Create a one-step workflow."""
    id = f"made{number}"
    assert await client.post("/create", {"workflow": "steps", "id": id, "params": {"n": 1}}) == {"id": id}


def _commits(figures: Mapping[str, float]) -> float:
    return figures[raw.ONE]


CREATES = Row("creates", (Metric("creates", "creates, one after another", "per s", True, limit=_commits),), creates)
BURST = Row("burst", (Metric("burst", "200 creates at once, until all are answered", "s", False, "< 1"),), burst)
