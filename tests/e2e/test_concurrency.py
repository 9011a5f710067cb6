"""`concurrency.limit` with the real command: who runs, who is queued, and in which order, also after kill -9."""

from __future__ import annotations

from pathlib import Path

from tests.dev import Dev, dev, eventually
from tests.e2e.stages import create, flow, notes, open_gate, until

IDS = ("one", "two", "three", "four", "five")
WORKFLOW = {"name": "flow", "binding": "FLOW", "class_name": "Flow", "concurrency": {"limit": 2}}

# Each instance holds its slot in a step until the gate of its name is open.
HOLDS = """
async def run(self, event, step):
    id = event["instanceId"]

    @step.do("hold")
    async def hold():
        note(f"begins {id}")
        await gate(id)
        return id

    return await hold()
"""

# A sleeper goes to sleep at once, and begins once more when it is woken; the others hold their slot.
SLEEPS = """
async def run(self, event, step):
    id = event["instanceId"]
    if id == "sleeper":
        await step.wait_for_event("nap", "wake", timeout="1 day")

    @step.do("hold")
    async def hold():
        note(f"begins {id}")
        await gate(id)

    await hold()
"""


def statuses(server: Dev, ids: tuple[str, ...] = IDS) -> list[str]:
    return [server.json(f"/status?id={id}")["status"] for id in ids]


def begun(server: Dev, count: int) -> list[str]:
    """Wait until this many steps have begun; the instances whose they are, in order."""
    eventually(lambda: len(notes(server)) >= count)
    return [line.removeprefix("begins ") for line in notes(server)]


def test_of_five_instances_two_run_and_the_others_follow_in_their_order(tmp_path: Path) -> None:
    with dev(flow(tmp_path, HOLDS, workflows=[WORKFLOW])) as server:
        for id in IDS:
            create(server, id)
        assert sorted(begun(server, 2)) == ["one", "two"]
        assert statuses(server) == ["running", "running", "queued", "queued", "queued"]
        assert not any("concurrency" in line for line in server.lines)

        open_gate(server, "two")
        until(server, "complete", "two")
        assert begun(server, 3)[2:] == ["three"]
        assert statuses(server) == ["running", "complete", "running", "queued", "queued"]

        open_gate(server, "one")
        assert begun(server, 4)[3:] == ["four"]
        open_gate(server, "three")
        assert begun(server, 5)[4:] == ["five"]
        for id in ("four", "five"):
            open_gate(server, id)
        for id in IDS:
            until(server, "complete", id)


def test_after_kill_9_those_that_had_begun_go_on_and_the_others_keep_their_order(tmp_path: Path) -> None:
    with dev(flow(tmp_path, HOLDS, workflows=[WORKFLOW])) as server:
        for id in IDS:
            create(server, id)
        begun(server, 2)
        open_gate(server, "two")
        begun(server, 3)  # one and three hold the slots

        server.kill()
        server.start()
        assert sorted(begun(server, 5)[3:]) == ["one", "three"]
        assert statuses(server) == ["running", "complete", "running", "queued", "queued"]

        open_gate(server, "one")
        assert begun(server, 6)[5:] == ["four"]
        open_gate(server, "three")
        assert begun(server, 7)[6:] == ["five"]
        open_gate(server, "four")
        open_gate(server, "five")
        for id in IDS:
            until(server, "complete", id)


def test_a_waking_instance_is_queued_and_goes_before_a_new_one_also_after_kill_9(tmp_path: Path) -> None:
    limited = WORKFLOW | {"concurrency": {"limit": 1}}
    ids = ("sleeper", "runs", "new")
    with dev(flow(tmp_path, SLEEPS, workflows=[limited])) as server:
        create(server, "sleeper")
        until(server, "waiting", "sleeper")
        create(server, "runs")
        begun(server, 1)
        create(server, "new")
        assert statuses(server, ids) == ["waiting", "running", "queued"]

        server.json("/send", params={"id": "sleeper", "type": "wake", "payload": "1"})
        assert statuses(server, ids) == ["queued", "running", "queued"]

        server.kill()
        server.start()
        eventually(lambda: len(notes(server)) == 2)
        assert statuses(server, ids).count("queued") == 2
        for id in ids:
            open_gate(server, id)
        for id in ids:
            until(server, "complete", id)
        assert begun(server, 4)[-1] == "new"
