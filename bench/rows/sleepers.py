"""Memory: idle, and with sleeping instances."""

from __future__ import annotations

import asyncio

from bench import fabricate, processes
from bench.rows.types import Metric, Row, Sample, Stage
from bench.server import Server, finished, running, status

LOOK = 0.1
ASLEEP = ("waiting", "running")  # the official local engine calls a sleeping instance running


async def idle(stage: Stage) -> Sample:
    """Memory of all processes some time after the first response."""
    async with running(stage.side, stage.folder, stage.sizes.patience) as server:
        await asyncio.sleep(stage.sizes.settle / 2)
        return {"idle": processes.pss(server.pids), "idle_files": processes.descriptors(server.pids)}


async def sleepers(stage: Stage) -> Sample:
    """What sleeping instances, created the ordinary way, add to that."""
    sizes = stage.sizes
    async with running(stage.side, stage.folder, sizes.patience) as server:
        # One first: what a side sets up once, with the first instance, is not the price of each.
        await _asleep(server, "first", 1, sizes.patience)
        await asyncio.sleep(sizes.settle)
        memory, files = processes.pss(server.pids), processes.descriptors(server.pids)
        await _asleep(server, "asleep", sizes.sleepers, 3 * sizes.patience)
        await asyncio.sleep(sizes.settle)
        return {
            "sleepers": processes.pss(server.pids) - memory,
            "sleepers_files": processes.descriptors(server.pids) - files,
        }


async def warm(stage: Stage) -> Sample:
    """Memory after many instances have come and gone, and what sleeping ones add to that."""
    sizes = stage.sizes
    async with running(stage.side, stage.folder, sizes.patience) as server:
        async with server.client() as client, asyncio.timeout(3 * sizes.patience):
            order = {"workflow": "steps", "prefix": "warm", "count": sizes.warm, "params": {"n": 1}}
            assert await client.post("/batch", order) == {"made": sizes.warm}
            for i in range(sizes.warm):
                await finished(client, "steps", f"warm{i}", LOOK, sizes.patience)
        await asyncio.sleep(sizes.settle)
        memory, files = processes.pss(server.pids), processes.descriptors(server.pids)
        await _asleep(server, "asleep", sizes.sleepers, 3 * sizes.patience)
        await asyncio.sleep(sizes.settle)
        return {
            "warm": memory,
            "warm_sleepers": processes.pss(server.pids) - memory,
            "warm_files": processes.descriptors(server.pids) - files,
        }


async def _asleep(server: Server, prefix: str, count: int, patience: float) -> None:
    async with server.client() as client, asyncio.timeout(patience):
        order = {"workflow": "sleeper", "prefix": prefix, "count": count, "params": {}}
        assert await client.post("/batch", order) == {"made": count}
        while (await status(client, "sleeper", f"{prefix}{count - 1}"))["status"] not in ASLEEP:
            await asyncio.sleep(LOOK)


async def many_sleepers(stage: Stage) -> Sample:
    """Start-up and memory with a great many sleeping instances, most of which are written straight into the store."""
    sizes = stage.sizes
    async with running(stage.side, stage.folder, sizes.patience) as server, server.client() as client:
        await client.post("/create", {"workflow": "sleeper", "id": fabricate.TEMPLATE, "params": {}})
        while (await status(client, "sleeper", fabricate.TEMPLATE))["status"] != "waiting":
            await asyncio.sleep(LOOK)
        server.stop()
    await fabricate.sleepers(stage.folder / "state", sizes.many_sleepers, sizes.many_files)
    server = Server(stage.side, stage.folder, sizes.patience)
    try:
        launch = await server.first_response()
        await asyncio.sleep(sizes.settle / 2)
        async with server.client() as client:
            assert (await status(client, "sleeper", fabricate.name(0)))["status"] == "waiting"
        memory, files = processes.pss(server.pids), processes.descriptors(server.pids)
        return {"many_launch": launch, "many": memory, "many_files": files}
    finally:
        server.kill()


IDLE = Row(
    "idle",
    (
        Metric("idle", "memory of all processes, idle", "MB", False, "< 140"),
        Metric("idle_files", "open descriptors, idle", "", False),
    ),
    idle,
)
WARM = Row(
    "warm",
    (
        Metric("warm", "memory of all processes after 1,000 instances", "MB", False, js_goal="< 220"),
        Metric("warm_sleepers", "memory that 1,000 sleepers then add", "MB", False, js_goal="< 25"),
        Metric("warm_files", "open descriptors that they add", "", False, js_goal="0"),
    ),
    warm,
    most_rounds=1,
)
SLEEPERS = Row(
    "sleepers",
    (
        Metric("sleepers", "memory that 1,000 sleeping instances add", "MB", False, "< 10"),
        Metric("sleepers_files", "open descriptors that they add", "", False, "0"),
    ),
    sleepers,
    most_rounds=1,
)
MANY_SLEEPERS = Row(
    "many-sleepers",
    (
        Metric("many_launch", "100,000 sleeping: launch to first response", "s", False, "< 2"),
        Metric("many", "100,000 sleeping: memory of all processes", "MB", False, "< 250"),
        Metric("many_files", "100,000 sleeping: open descriptors", "", False),
    ),
    many_sleepers,
    ours_only=True,
    most_rounds=1,
)
