"""`dev` names the errors of `celld-py check` once, when it is ready."""

from __future__ import annotations

from pathlib import Path

from tests.dev import dev, write_project

CODE = """
import time
from workers import Response, WorkerEntrypoint, WorkflowEntrypoint

class Order(WorkflowEntrypoint):
    async def run(self, event, step):
        started = time.time()
        await step.sleep("a day", "1 day")
        return started

class Default(WorkerEntrypoint):
    async def fetch(self, request):
        await self.env.ORDER.create()
        return Response("ok")
"""
ERROR = "error: time.time() gives another value at each replay of run."


def test_the_errors_of_the_code_are_shown_after_ready_and_the_worker_serves(tmp_path: Path) -> None:
    with dev(write_project(tmp_path, CODE, "Order")) as server:
        server.printed(ERROR)

        told = [line.split(" ")[0] for line in server.lines if line.startswith(("Ready on", ERROR))]
        assert told == ["Ready", "error:"]
        assert server.get("/").text == "ok"
