"""Code that does not do on a replay what it did before is named; `--replay-every-step` brings it to light at once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.dev import Dev, dev, fixture
from tests.e2e.stages import create, flow, journal, notes, output, send, until

MISMATCH = "the replay does not fit the history"
SAME_CODE = "The code is the same as then: look for time, randomness or a global outside steps."
EVERY_STEP = "--replay-every-step"


def line_of(server: Dev, text: str) -> str:
    """The place of a line of the Worker's code, as an editor takes it."""
    main = server.project / "src" / "main.py"
    (number,) = [number for number, line in enumerate(main.read_text().splitlines(), 1) if text in line]
    return f"{main}:{number}"


def replays(server: Dev) -> list[str]:
    """How often `run()` began, by its notes."""
    return [note for note in notes(server) if note == "begin"]


# ----------------------------------------------------------------------------------------------- what leans on memory

COUNTER = """
seen = 0

async def run(self, event, step):
    for _ in range(3):
        Flow.seen += 1

        @step.do(f"step {Flow.seen}")
        async def work():
            note(f"step {Flow.seen}")

        await work()  # here
"""

RANDOM_NAME = """
async def run(self, event, step):
    import random

    for turn in range(2):
        @step.do(f"turn {turn} {random.random()}")
        async def work():
            return turn

        await work()  # here
"""

RANDOM_BRANCH = """
sides = iter(["heads", "tails", "heads", "tails", "heads", "tails"])

async def run(self, event, step):
    side = next(Flow.sides)

    @step.do()
    async def heads():
        return side

    @step.do()
    async def tails():
        return side

    first = await (heads() if side == "heads" else tails())  # here
    await step.sleep("nap", 1)
"""

TIME = """
async def run(self, event, step):
    import time

    await step.do("first")(lambda: 0)()
    await step.do(f"at {time.time_ns()}")(lambda: 0)()  # here
    await step.do("last")(lambda: 0)()
"""

NAP = """
naps = 0

async def run(self, event, step):
    for _ in range(3):
        Flow.naps += 1
        await step.sleep(f"nap {Flow.naps}", 10)  # here
"""


@pytest.mark.parametrize("code", [COUNTER, RANDOM_NAME, RANDOM_BRANCH, TIME, NAP])
def test_code_that_leans_on_memory_is_named_with_file_and_line_and_still_ends(code: str, tmp_path: Path) -> None:
    with dev(flow(tmp_path, code), EVERY_STEP) as server:
        create(server)
        server.printed(MISMATCH)
        server.printed(f"at {line_of(server, '# here')}")
        server.printed(SAME_CODE)
        until(server, "complete")


def test_without_it_such_code_passes_unnoticed(tmp_path: Path) -> None:
    with dev(flow(tmp_path, COUNTER)) as server:
        create(server)
        until(server, "complete")
        assert not any(MISMATCH in line for line in server.lines)


# ------------------------------------------------------------------------------------------ what does not is left alone

PARALLEL = """
async def run(self, event, step):
    note("begin")

    async def chain(name):
        @step.do(f"{name} outer")
        async def outer():
            @step.do(f"{name} inner")
            async def inner():
                await asyncio.sleep(0.01)
                return name

            await step.sleep(f"{name} nap", 5)
            return await inner()

        tries = []

        @step.do(f"{name} flaky", config={"retries": {"limit": 3, "delay": lambda given: 20}})
        async def flaky(ctx):
            note(f"{name} attempt {ctx['attempt']}")
            if ctx["attempt"] < 3:
                raise RuntimeError("not yet")
            return ctx["attempt"]

        return [await outer(), await flaky(), await step.sleep(f"{name} rest", 30)]

    results = await asyncio.gather(chain("a"), chain("b"), chain("c"))
    try:
        await step.wait_for_event("never", "never", timeout=1000)
    except Exception as error:
        results.append(type(error).__name__)
    return [*results, (await step.wait_for_event("go", "go"))["payload"]]
"""


def test_steps_side_by_side_inside_each_other_and_tried_again_come_to_their_end(tmp_path: Path) -> None:
    with dev(flow(tmp_path, PARALLEL), EVERY_STEP) as server:
        assert server.printed("Replay: every instance is dropped and replayed after each step")
        create(server)
        send(server, "go", {"n": 1})

        assert output(server) == [["a", 3, None], ["b", 3, None], ["c", 3, None], "JsException", {"n": 1}]

        attempts = [note for note in notes(server) if "attempt" in note]
        assert sorted(attempts) == [f"{name} attempt {n}" for name in "abc" for n in (1, 2, 3)]
        assert len(replays(server)) >= 5
        events = journal(server)
        assert not any(event.get("lost") for event in events)
        assert sum(event["kind"] in ("workflow_running", "code_changed") for event in events) <= 4
        assert not any(MISMATCH in line for line in server.lines)


def test_output_outside_steps_is_shown_once(tmp_path: Path) -> None:
    code = """
    async def run(self, event, step):
        for n in range(5):
            print(f"before {n}")
            await step.do(f"s{n}")(lambda: 0)()
        print("after")
    """
    with dev(flow(tmp_path, code), EVERY_STEP) as server:
        create(server)
        until(server, "complete")
        shown = [line.partition("] ")[2] for line in server.lines if line.startswith("[flow/one]")]
        assert shown == ["before 0", "before 1", "before 2", "before 3", "before 4", "after"]


def test_the_fixtures_do_not_lean_on_memory(tmp_path: Path) -> None:
    fixtures: list[tuple[str, str, Any]] = [
        ("dag", "", {}),
        ("orders", "", {"item": "book", "card": "slow", "courier": "on strike"}),
        ("onboarding", "?name=ada", {"name": "ada"}),
    ]
    for name, query, form in fixtures:
        with dev(fixture(name, tmp_path), EVERY_STEP, "--var", "FIRST_NIGHT:10") as server:
            started = server.post("/start", data=form).json()
            if name == "onboarding":
                server.post("/verify", data=form)
            server.until(started.get("look", f"/look{query}"), lambda seen: seen["status"] == "complete")
            assert not any(MISMATCH in line for line in server.lines)


# -------------------------------------------------------------------------------------------------- strict, and as JSON


def test_strict_replay_ends_the_instance_with_an_error_that_says_what_and_where(tmp_path: Path) -> None:
    with dev(flow(tmp_path, COUNTER), EVERY_STEP, "--strict-replay") as server:
        create(server)
        error = until(server, "errored")["error"]
        assert error == {
            "name": "Error",
            "message": "WorkflowFatalError: The replay does not fit the history, which has "
            f'step.do("step 1") number 1; the code called step.do("step 2") number 1 at {line_of(server, "# here")}',
        }
        assert server.printed("The instance ends here (--strict-replay).")
        assert server.printed("Replay: one that does not fit the history ends its instance (--strict-replay)")
        assert notes(server) == ["step 1"], "what does not fit does not run"


def test_code_that_was_changed_since_is_told_to_be(tmp_path: Path) -> None:
    code = """
    async def run(self, event, step):
        await step.do("charge")(lambda: 0)()
        await step.wait_for_event("go", "go")
    """
    with dev(flow(tmp_path, code)) as server:
        create(server)
        until(server, "waiting")
        server.stop()
        main = server.project / "src" / "main.py"
        main.write_text(main.read_text().replace('"charge"', '"charge card"'))
        server.start()
        send(server, "go", None)
        server.printed(MISMATCH)
        server.printed('the history has step.do("charge") number 1')
        server.printed('the code called step.do("charge card") number 1')
        server.printed("The code has changed since then; the instance runs on the new one since 2")
        assert [event["kind"] for event in journal(server)].count("code_changed") == 1


def test_a_mismatch_as_json(tmp_path: Path) -> None:
    with dev(flow(tmp_path, COUNTER), EVERY_STEP, "--log-format", "json") as server:
        create(server)
        told = json.loads(server.printed('"kind": "mismatch"'))
        assert told == {
            "kind": "mismatch",
            "workflow": "flow",
            "instance": "one",
            "recorded": 'step.do("step 1") number 1',
            "called": 'step.do("step 2") number 1',
            "place": line_of(server, "# here"),
            "code_changed": False,
        }
