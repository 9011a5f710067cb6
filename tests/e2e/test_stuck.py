"""Code that blocks, or ends its process: it is named and ended, and what others do goes on."""

from __future__ import annotations

from pathlib import Path

from tests.dev import dev
from tests.e2e.stages import create, flow, noted, notes, output, send, until, work_isolate

BLOCKS = """
async def run(self, event, step):
    import time

    @step.do("before")
    async def before():
        note(f"before {event['instanceId']}")

    @step.do("block", config={"timeout": 300, "retries": {"limit": 1, "delay": 0}})
    async def block(ctx):
        note(f"block {ctx['attempt']}")
        time.sleep(600)

    await before()
    if event["payload"] == "block":
        try:
            await block()
        except Exception as error:
            return str(error)
    await step.wait_for_event("go", "go")
    return "went on"
"""


def test_a_step_that_blocks_beyond_its_timeout_is_ended_and_fails(tmp_path: Path) -> None:
    with dev(flow(tmp_path, BLOCKS), "--no-watch") as server:
        before = work_isolate(server)
        create(server, "other")
        until(server, "waiting", "other")

        create(server, "one", "block")

        assert "Execution timed out after 300ms" in output(server)
        told = server.printed("The work isolate does not give its thread back: a step that was given up still blocks")
        assert f"{server.project / 'src' / 'main.py'}:" in told
        assert work_isolate(server) != before
        assert sum(text.startswith("block") for text in notes(server)) == 2  # the limit is one retry
        send(server, "go", None, "other")
        assert output(server, "other") == "went on"
        assert notes(server).count("before other") == 1


def test_an_instance_whose_step_blocks_can_be_terminated(tmp_path: Path) -> None:
    with dev(flow(tmp_path, BLOCKS.replace('"timeout": 300', '"timeout": "1 hour"')), "--no-watch") as server:
        create(server, "one", "block")
        noted(server, "block 1")

        assert server.json("/terminate", params={"id": "one"})["status"] == "terminated"

        create(server, "other")
        until(server, "waiting", "other")
        server.printed("a step that was given up still blocks")
        send(server, "go", None, "other")
        assert output(server, "other") == "went on"


def test_requests_are_answered_while_a_step_blocks(tmp_path: Path) -> None:
    with dev(flow(tmp_path, BLOCKS.replace('"timeout": 300', '"timeout": "1 hour"')), "--no-watch") as server:
        create(server, "one", "block")
        noted(server, "block 1")

        assert server.json("/status", params={"id": "one"})["status"] == "running"


def test_a_step_that_ends_its_process_ends_at_its_limit(tmp_path: Path) -> None:
    run = """
    async def run(self, event, step):
        @step.do("exit", config={"retries": {"limit": 2, "delay": 0, "backoff": "constant"}})
        async def exit(ctx):
            note(f"attempt {ctx['attempt']}")
            os._exit(3)

        try:
            await exit()
        except Exception as error:
            return str(error)
    """
    with dev(flow(tmp_path, run), "--no-watch") as server:
        create(server)

        assert "Attempt failed due to internal workflows error" in output(server)

        server.printed("The work isolate ended with status 3; its instances go on by replay.")
        assert notes(server) == ["attempt 1", "attempt 2", "attempt 3", "attempt 4"]
