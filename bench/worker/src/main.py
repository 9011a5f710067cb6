"""The Worker that is measured. `../../twin/src/main.js` is the same in JavaScript; change both."""

# The step object is the platform's, and has no types.
# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

import os
import time
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from js import Object, ReadableStream
from pyodide.ffi import create_proxy, to_js
from workers import Response, WorkerEntrypoint, WorkflowEntrypoint

BATCH = 100  # instances that one createBatch takes
CHUNK = 64 * 1024


class Steps(WorkflowEntrypoint):
    """Trivial steps, one after another; tells when it ended, so that no polling blurs the figure."""

    async def run(self, event: Any, step: Any) -> Any:
        for i in range(event["payload"]["n"]):

            @step.do(f"s{i}")
            async def one() -> int:
                return 1

            await one()
        return {"ended": now()}


class Ticks(WorkflowEntrypoint):
    """Steps whose side effect is a line in an append-only file."""

    async def run(self, event: Any, step: Any) -> Any:
        for i in range(event["payload"]["n"]):
            await self.tick(step, i, event["payload"]["file"])

    async def tick(self, step: Any, i: int, file: str) -> None:
        @step.do(f"t{i}")
        async def write() -> None:
            append(file, f"{i}\n")

        await write()


class Sleeper(WorkflowEntrypoint):
    """Sleeps, as most instances do most of the time."""

    async def run(self, event: Any, step: Any) -> Any:
        await step.sleep("long", "30 days")


class Default(WorkerEntrypoint):
    """What the bench's client asks."""

    async def fetch(self, request: Any) -> Any:
        url = urlsplit(request.url)
        query = dict(parse_qsl(url.query))
        if url.path == "/create":
            wanted = await request.json()
            instance = await self.workflow(wanted["workflow"]).create({"id": wanted["id"], "params": wanted["params"]})
            return Response.json({"id": instance.id})
        if url.path == "/batch":
            return Response.json(await self.batch(await request.json()))
        if url.path == "/status":
            instance = await self.workflow(query["workflow"]).get(query["id"])
            status = await instance.status()
            return Response.json({"status": status["status"], "output": status["output"]})
        if url.path == "/download":
            return Response(chunks(int(query["bytes"])))
        if url.path == "/upload":
            return Response.json({"bytes": await count(request.body)})
        return Response("ok")

    def workflow(self, name: str) -> Any:
        return getattr(self.env, name.upper())

    async def batch(self, wanted: dict[str, Any]) -> dict[str, int]:
        made = 0
        for first in range(0, wanted["count"], BATCH):
            last = min(first + BATCH, wanted["count"])
            instances = [{"id": f"{wanted['prefix']}{i}", "params": wanted["params"]} for i in range(first, last)]
            made += len(await self.workflow(wanted["workflow"]).createBatch(instances))
        return {"made": made}


def now() -> int:
    return time.time_ns() // 1_000_000


def append(file: str, line: str) -> None:
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.write(descriptor, line.encode())
    os.close(descriptor)


def chunks(size: int) -> Any:
    """A stream that makes its next chunk when it is asked for it."""
    left = size
    chunk = to_js(bytes(CHUNK))

    def pull(controller: Any) -> None:
        nonlocal left
        controller.enqueue(chunk if left >= CHUNK else to_js(bytes(left)))
        left -= CHUNK
        if left <= 0:
            controller.close()

    return ReadableStream.new(to_js({"pull": create_proxy(pull)}, dict_converter=Object.fromEntries))


async def count(body: Any) -> int:
    size = 0
    async for chunk in body:
        size += chunk.byteLength
    return size
