"""What breaks elsewhere inside a run, by the numbers of the collected field reports: errors, pauses, durations, values,
parameters."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.dev import Dev, dev, eventually
from tests.e2e.stages import create, flow, journal, noted, notes, open_gate, output, send, until

HOUR = 60 * 60 * 1000


def skip(server: Dev, ms: int) -> None:
    """kill -9, let so much time pass, start again."""
    server.kill()
    server.offset(ms)
    server.start()


# ------------------------------------------------------------------------------------------------- A4: do not retry

STUBBORN = """
async def run(self, event, step):
    kind = event.payload.kind

    class Mine(NonRetryableError):
        pass

    @step.do("try", config={"retries": {"limit": 5, "delay": 1, "backoff": "constant"}})
    async def attempt():
        note(kind)
        if kind == "message":
            raise NonRetryableError("no")
        if kind == "empty":
            raise NonRetryableError("")
        if kind == "nothing":
            raise NonRetryableError()
        if kind == "subclass":
            raise Mine("mine")
        try:
            {}["key"]
        except KeyError as error:
            raise NonRetryableError("from another") from error

    try:
        await attempt()
    except Exception as error:
        if not event.payload.caught:
            raise
        return [type(error).__name__, str(error)]
"""


@pytest.mark.parametrize(
    ("kind", "message"), [("message", "no"), ("empty", ""), ("nothing", ""), ("cause", "from another")]
)
def test_a4_a_non_retryable_error_is_raised_once_and_can_be_caught(tmp_path: Path, kind: str, message: str) -> None:
    with dev(flow(tmp_path, STUBBORN), "--no-watch") as server:
        create(server, "caught", {"kind": kind, "caught": True})
        assert output(server, "caught") == ["NonRetryableError", message]
        assert notes(server) == [kind]

        create(server, "free", {"kind": kind, "caught": False})
        assert until(server, "errored", "free")["error"] == {"name": "NonRetryableError", "message": message}
        assert notes(server) == [kind] * 2


def test_a4_a_subclass_is_retried_as_on_cloudflare_and_that_is_said(tmp_path: Path) -> None:
    with dev(flow(tmp_path, STUBBORN), "--no-watch") as server:
        create(server, params={"kind": "subclass", "caught": True})
        name, message = output(server)
        assert name == "JsException"
        assert message.splitlines()[-1].endswith("Mine: mine")
        assert notes(server) == ["subclass"] * 6
        assert "NonRetryableError" in server.printed("warning:")


# ---------------------------------------------------------------------------------------------------- A5: unknown ids


def test_a5_looking_for_an_unknown_id_finds_nothing_and_leaves_nothing(tmp_path: Path) -> None:
    with dev(flow(tmp_path, "async def run(self, event, step):\n    pass"), "--no-watch") as server:
        assert server.get("/status", params={"id": "nope"}).json() == {"error": "Error: instance.not_found"}
        with closing(sqlite3.connect(server.state / "catalog.db")) as db:
            assert db.execute("SELECT count(*) FROM instances").fetchone() == (0,)
        assert list((server.state / "instances").rglob("*")) == []


# ---------------------------------------------------------------------------------------------------------- A7: pauses

THREE_STEPS = """
async def run(self, event, step):
    async def part(name):
        @step.do(name)
        async def body():
            note(f"{name} starts")
            await gate(name)
            note(f"{name} ends")

        await body()

    await asyncio.gather(part("a"), part("b"))
    await part("c")
"""


def test_a7_a_pause_waits_for_running_steps_and_begins_no_other(tmp_path: Path) -> None:
    with dev(flow(tmp_path, THREE_STEPS), "--no-watch") as server:
        create(server)
        noted(server, "a starts", "b starts")
        assert server.json("/pause?id=one")["status"] == "waitingForPause"
        open_gate(server, "a")
        noted(server, "a ends")
        assert server.json("/status?id=one")["status"] == "waitingForPause"
        open_gate(server, "b")
        until(server, "paused")
        open_gate(server, "c")

        skip(server, HOUR)  # neither time nor a restart begins the third
        assert server.json("/status?id=one")["status"] == "paused"
        assert sorted(notes(server)) == ["a ends", "a starts", "b ends", "b starts"]

        server.json("/resume?id=one")
        until(server, "complete")
        assert notes(server)[4:] == ["c starts", "c ends"]
        assert len(notes(server)) == 6


def test_a7_an_early_resume_cancels_the_pause(tmp_path: Path) -> None:
    with dev(flow(tmp_path, THREE_STEPS), "--no-watch") as server:
        create(server)
        noted(server, "a starts", "b starts")
        assert server.json("/pause?id=one")["status"] == "waitingForPause"
        assert server.json("/resume?id=one")["status"] == "running"
        for name in "abc":
            open_gate(server, name)
        until(server, "complete")
        assert sorted(notes(server)) == ["a ends", "a starts", "b ends", "b starts", "c ends", "c starts"]


def test_a7_a_sleep_has_as_much_left_after_a_pause_as_before_it(tmp_path: Path) -> None:
    run = """
    async def run(self, event, step):
        await step.sleep("long", "10 hours")
        note("awake")
    """
    with dev(flow(tmp_path, run), "--no-watch") as server:
        create(server)
        until(server, "waiting")
        skip(server, 3 * HOUR)
        assert server.json("/pause?id=one")["status"] == "paused"
        skip(server, 30 * HOUR)
        assert server.json("/status?id=one")["status"] == "paused"
        server.json("/resume?id=one")
        until(server, "waiting")
        skip(server, 6 * HOUR)
        assert server.json("/status?id=one")["status"] == "waiting"
        skip(server, HOUR)
        assert noted(server, "awake") == ["awake"]
        until(server, "complete")


def test_a7_an_event_sent_during_a_pause_is_kept(tmp_path: Path) -> None:
    run = """
    async def run(self, event, step):
        got = await step.wait_for_event("wait", "go")
        return got.payload
    """
    with dev(flow(tmp_path, run), "--no-watch") as server:
        create(server)
        until(server, "waiting")
        assert server.json("/pause?id=one")["status"] == "paused"
        send(server, "go", "kept")
        assert server.json("/status?id=one")["status"] == "paused"
        server.json("/resume?id=one")
        assert output(server) == "kept"


# ------------------------------------------------------------------------------------------------------- A8: durations


def test_a8_a_bare_number_is_milliseconds(tmp_path: Path) -> None:
    run = """
    async def run(self, event, step):
        @step.do("none", config={"retries": {"limit": 1, "delay": 0}})
        async def none(ctx):
            note(f"none {ctx.attempt}")
            if ctx.attempt == 1:
                raise RuntimeError

        await none()
        durations = [500, "1 second", "1 minute", "2 hours", -5]
        await asyncio.gather(*(step.sleep(f"sleep {n}", text) for n, text in enumerate(durations)))
    """
    with dev(flow(tmp_path, run), "--no-watch") as server:
        create(server)
        until(server, "waiting")
        sleeps = [event for event in journal(server) if event["kind"] == "sleep_started"]
        assert [event["duration"] for event in sleeps[:4]] == [500, 1000, 60_000, 7_200_000]
        assert [max(0, event["due"] - event["at"]) for event in sleeps] == [500, 1000, 60_000, 7_200_000, 0]
        assert notes(server) == ["none 1", "none 2"]
        assert "sleep 4" in server.printed("warning:")


@pytest.mark.parametrize("delay", ["0", "10", '"10 ms"'])
def test_a8_short_retry_delays_are_legal(tmp_path: Path, delay: str) -> None:
    run = f"""
    async def run(self, event, step):
        @step.do("twice", config={{"retries": {{"limit": 1, "delay": {delay}}}}})
        async def twice(ctx):
            if ctx.attempt == 1:
                raise RuntimeError
            return ctx.attempt

        return await twice()
    """
    with dev(flow(tmp_path, run), "--no-watch") as server:
        create(server)
        assert output(server) == 2


def test_a8_a_duration_that_cannot_be_read_is_refused_at_the_call(tmp_path: Path) -> None:
    run = """
    async def run(self, event, step):
        said = []
        for bad in (float("nan"), "soon", "5s"):
            try:
                await step.sleep("nap", bad)
            except Exception as error:
                said.append(str(error))
            try:
                @step.do("work", config={"retries": {"limit": 1, "delay": bad}})
                async def work():
                    note("ran")

                await work()
            except Exception as error:
                said.append(str(error))
        return said
    """
    with dev(flow(tmp_path, run), "--no-watch") as server:
        create(server)
        said = output(server)
        assert len(said) == 6
        assert all('"nap"' in text for text in said[::2]) and all('"work"' in text for text in said[1::2])
        assert notes(server) == []


# ------------------------------------------------------------------------------------------------------------ A10: None


def test_a10_none_is_none_everywhere_before_and_after_a_replay(tmp_path: Path) -> None:
    run = """
    async def run(self, event, step):
        @step.do("first")
        async def first():
            return event.payload

        @step.do("nothing")
        async def nothing():
            pass

        given = await first()

        @step.do("second")
        async def second():
            return [given, given["a"] is None, given["b"][0] is None, given["c"]["d"] is None, sorted(given)]

        empty = await nothing()
        got = await step.wait_for_event("wait", "go")
        seen = {"second": await second(), "empty": empty is None, "event": got.payload is None and "payload" in got}
        note(json.dumps(seen))
        await step.sleep("nap", "1 hour")
        note(json.dumps(seen))
        return seen
    """
    params = {"a": None, "b": [None, 1], "c": {"d": None}}
    wanted = {"second": [params, True, True, True, ["a", "b", "c"]], "empty": True, "event": True}
    with dev(flow(tmp_path, run), "--no-watch") as server:
        create(server, params=params)
        send(server, "go", None)
        until(server, "waiting")
        eventually(lambda: notes(server))
        skip(server, HOUR)
        assert output(server) == wanted
        first, *others = notes(server)
        assert set(others) == {first}


def test_a10_a_run_that_returns_nothing_has_null_for_output(tmp_path: Path) -> None:
    with dev(flow(tmp_path, "async def run(self, event, step):\n    pass"), "--no-watch") as server:
        create(server)
        assert output(server) is None


# -------------------------------------------------------------------------------------------------- A11: step functions

SIGNATURES = """
async def run(self, event, step):
    @step.do("dep_a")
    async def dep_a():
        note("dep_a")
        return "a"

    @step.do("dep_b", concurrent=True)
    async def dep_b(dep_a):
        return dep_a + "b"

    @step.do()
    async def no_parameters():
        return "()"

    @step.do("context")
    async def context(ctx):
        return [ctx.attempt, ctx.step.name, ctx.step.count]

    @step.do("one")
    async def one(dep_a):
        return dep_a

    @step.do("context last")
    async def context_last(dep_a, ctx):
        return [dep_a, ctx.attempt]

    @step.do("context first")
    async def context_first(ctx, dep_a):
        return [ctx.attempt, dep_a]

    @step.do("keyword")
    async def keyword(*, ctx):
        return ctx.attempt

    @step.do("two", concurrent=True)
    async def two(dep_a, dep_b):
        return [dep_a, dep_b]

    @step.do("two in order", concurrent=False)
    async def two_in_order(dep_b, dep_a):
        return [dep_b, dep_a]

    results = [await each() for each in (no_parameters, context, one, context_last, context_first, keyword, two)]
    results.append(await two_in_order())
    results.append((await context())[2])
    return [*results, no_parameters._step_name]
"""


def test_a11_parameters_are_resolved_by_name_and_dependencies_run_once(tmp_path: Path) -> None:
    with dev(flow(tmp_path, SIGNATURES), "--no-watch") as server:
        create(server)
        assert output(server) == [
            "()",
            [1, "context", 1],
            "a",
            ["a", 1],
            [1, "a"],
            1,
            ["a", "ab"],
            ["ab", "a"],
            2,
            "no_parameters",
        ]
        assert notes(server) == ["dep_a"]


@pytest.mark.parametrize(
    ("signature", "name"), [("nobody", "nobody"), ("nobody=1", "nobody"), ("*args", "args"), ("**more", "more")]
)
def test_a11_an_unknown_parameter_fails_and_the_known_steps_are_listed(
    tmp_path: Path, signature: str, name: str
) -> None:
    run = f"""
    async def run(self, event, step):
        @step.do("known")
        async def known():
            pass

        @step.do("odd")
        async def odd({signature}):
            note("ran")

        try:
            await odd()
        except TypeError as error:
            return [str(error), *error.__notes__]
    """
    with dev(flow(tmp_path, run), "--no-watch") as server:
        create(server)
        message, *others = output(server)
        assert message == f"Received unexpected parameter {name}"
        assert any('"known"' in text for text in others)
        assert notes(server) == []
