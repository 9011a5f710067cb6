"""Rollbacks survive what stops their processes: what was undone stays so, the rest is undone once, in order."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import pytest

from tests.dev import Dev, dev
from tests.e2e.stages import ROUTES, create, flow, journal, noted, notes, open_gate, until
from tests.e2e.test_reload import edit, watched

MINUTE = 60_000

UNDO_ROUTES = ROUTES.replace(
    """        if path == "/send":""",
    """        if path == "/undo":
            await instance.terminate(rollback=True)
        elif path == "/send":""",
)

# Four steps, and undo functions that say when they begin and end. The one of `stop` ends when its gate is open.
ORDER = """
async def run(self, event, step):
    stop = event.payload.stop

    def undo_of(name):
        async def undo(output, ctx):
            note(f"undo {name} begins {output} {ctx.attempt}")
            if name == stop:
                await gate(name)
            note(f"undo {name} ends")
        return undo

    for name in "abcd":
        @step.do(name, rollback=undo_of(name))
        async def work(ctx):
            return ctx.step.name.upper()
        await work()
    print("outside of the steps")
    await self.last(step)

async def last(self, step):
    raise ValueError("no stock")
"""

SLEEPS = ORDER.replace('raise ValueError("no stock")', 'await step.sleep("nap", "1 hour")')


def outcome(server: Dev, id: str = "one") -> tuple[str, Any]:
    """How the rollback ended, as the journal has it, and how the instance did."""
    ended = until_final(server, id)
    kinds = [event["kind"] for event in journal(server, id)]
    return next(kind for kind in kinds if kind in ("rollback_completed", "rollback_errored")), ended["status"]


def until_final(server: Dev, id: str = "one") -> Any:
    final = ("complete", "errored", "terminated")
    return server.until(f"/status?id={id}", lambda seen: seen["status"] in final)


def undo(server: Dev, id: str = "one") -> None:
    """Terminate an instance, with rollback."""
    server.json("/undo", params={"id": id})


def undone(*names: str) -> list[str]:
    """The notes of undo functions that ran once each, in this order."""
    return [line for name in names for line in (f"undo {name} begins {name.upper()} 1", f"undo {name} ends")]


def test_kill_9_in_the_middle_of_a_rollback_leaves_the_rest_to_be_undone_once_each_in_order(tmp_path: Path) -> None:
    with dev(flow(tmp_path, ORDER, routes=UNDO_ROUTES), "--no-watch") as server:
        create(server, params={"stop": "c"})
        noted(server, "undo c begins C 1")
        server.kill()
        open_gate(server, "c")
        server.start()

        assert outcome(server) == ("rollback_completed", "errored")
        begun_again = ["undo c begins C 1"]
        assert notes(server) == undone("d") + begun_again + undone("c", "b", "a")
        assert until_final(server)["error"]["message"].endswith("ValueError: no stock")
        assert sum("outside of the steps" in line for line in server.lines) == 1, "the echo of the replay is muted"


def test_ctrl_c_lets_the_undo_that_runs_end_and_the_rest_is_undone_after_the_next_start(tmp_path: Path) -> None:
    with dev(flow(tmp_path, ORDER, routes=UNDO_ROUTES), "--no-watch") as server:
        create(server, params={"stop": "c"})
        noted(server, "undo c begins C 1")
        server.signal(signal.SIGINT)
        open_gate(server, "c")
        server.exited()
        assert notes(server) == undone("d", "c")
        server.start()

        assert outcome(server) == ("rollback_completed", "errored")
        assert notes(server) == undone("d", "c", "b", "a")


def test_kill_9_while_an_undo_waits_for_its_next_attempt_does_not_move_that_attempt(tmp_path: Path) -> None:
    run = """
    async def run(self, event, step):
        async def undo(error):
            note(f"undo of {error}")
            if len(open(env.NOTES).readlines()) < 2:
                raise RuntimeError("not now")

        config = {"retries": {"limit": 1, "delay": "10 minutes"}}
        @step.do("a", rollback=undo, rollback_config=config)
        async def a():
            return 1
        await a()
        raise NonRetryableError("no stock")
    """
    with dev(flow(tmp_path, run), "--no-watch") as server:
        create(server)
        until_failed_undo(server)
        server.kill()
        server.offset(9 * MINUTE)
        server.start()
        until(server, "running")
        assert notes(server) == ["undo of no stock"]
        server.kill()
        server.offset(1 * MINUTE)
        server.start()

        assert outcome(server) == ("rollback_completed", "errored")
        assert notes(server) == ["undo of no stock"] * 2
        (failed,) = [event for event in journal(server) if event["kind"] == "rollback_attempt_errored"]
        attempts = [event["at"] for event in journal(server) if event["kind"] == "rollback_attempt_started"]
        assert attempts[1] - failed["at"] >= 10 * MINUTE


def until_failed_undo(server: Dev) -> None:
    """Wait until an attempt of an undo function has failed."""
    server.until("/status?id=one", lambda _: any(e["kind"] == "rollback_attempt_errored" for e in journal(server)))


@pytest.mark.parametrize("rests", ["hibernated", "paused"])
def test_c078_an_instance_that_has_no_code_in_memory_is_terminated_with_rollback(tmp_path: Path, rests: str) -> None:
    with dev(flow(tmp_path, SLEEPS, routes=UNDO_ROUTES), "--no-watch", "--hibernate-after", "0") as server:
        create(server, params={"stop": ""})
        until(server, "waiting")
        if rests == "paused":
            server.json("/pause", params={"id": "one"})
        undo(server)

        assert outcome(server) == ("rollback_completed", "terminated")
        assert notes(server) == undone("d", "c", "b", "a")
        kinds = [event["kind"] for event in journal(server)]
        assert "rollback_attempt_errored" not in kinds
        assert sum("outside of the steps" in line for line in server.lines) == 1


def test_an_undo_that_ends_its_process_is_tried_again_and_the_others_go_on(tmp_path: Path) -> None:
    run = """
    async def run(self, event, step):
        async def undo(step_name, ctx):
            note(f"undo {step_name}")
            if notes().count("undo b-1") == 1 and step_name == "b-1":
                os._exit(3)

        def notes():
            return open(env.NOTES).read().splitlines()

        for name in "abc":
            await step.do(name, rollback=undo)(lambda: None)()
        raise RuntimeError("no stock")
    """
    with dev(flow(tmp_path, run), "--no-watch") as server:
        create(server)

        assert outcome(server) == ("rollback_completed", "errored")
        assert notes(server) == ["undo c-1", "undo b-1", "undo b-1", "undo a-1"]


def test_a_rollback_goes_on_in_new_code(tmp_path: Path) -> None:
    project = flow(tmp_path, ORDER, routes=UNDO_ROUTES)
    with watched(project) as server:
        create(server, params={"stop": "c"})
        noted(server, "undo c begins C 1")
        code = (project / "src" / "main.py").read_text()
        edit(server, code.replace('note(f"undo {name} ends")', 'note(f"undo {name} ends, in new code")'))
        open_gate(server, "c")

        assert outcome(server) == ("rollback_completed", "errored")
        new = [line.replace("ends", "ends, in new code") for line in undone("b", "a")]
        assert notes(server) == undone("d", "c") + new


def test_the_missing_support_in_cloudflares_sdk_is_told_once(tmp_path: Path) -> None:
    with dev(flow(tmp_path, ORDER, routes=UNDO_ROUTES), "--no-watch") as server:
        for id in ("one", "two"):
            create(server, id, params={"stop": ""})
            until(server, "errored", id)

        assert sum("rollback= of step.do is not part of Cloudflare's Python SDK" in line for line in server.lines) == 1


def test_the_celld_target_refuses_a_step_with_an_undo_function(tmp_path: Path) -> None:
    with dev(flow(tmp_path, ORDER, routes=UNDO_ROUTES), "--no-watch", "--target", "celld") as server:
        create(server, params={"stop": ""})

        text = 'WorkflowFatalError: Step "a" has a rollback function, which the target "celld" does not support'
        assert until(server, "errored")["error"]["message"] == text
        assert notes(server) == []


def test_what_an_undo_function_prints_carries_its_step(tmp_path: Path) -> None:
    run = """
    async def run(self, event, step):
        await step.do("charge", rollback=lambda: print("refunded"))(lambda: None)()
        raise RuntimeError("no stock")
    """
    with dev(flow(tmp_path, run), "--no-watch") as server:
        create(server)
        line = server.printed("refunded")

        assert "flow" in line and "one" in line and "charge-1" in line
