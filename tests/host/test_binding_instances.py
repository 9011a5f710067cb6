"""The methods of a Workflow's instances, case by case of Cloudflare's behaviour (C044-C089)."""

from __future__ import annotations

import math
from typing import Any

import pytest

from runtime.store import Key
from tests.host.fake_isolate import FakeIsolate
from tests.host.virtual_clock import rest
from tests.host.world import Host, refusal
from workers_shim.wire.neutral import UNDEFINED, Date, Map

pytestmark = pytest.mark.asyncio

A = Key("wf", "a")
NOT_FOUND = "instance.not_found"
MISSING = "WorkflowError: (instance.not_found) Instance does not exist"
MiB = 1 << 20


# --------------------------------------------------------------------------------------------------------------- status


async def test_c044_c048_a_running_instance_has_no_output_yet(host: Host, code: Any) -> None:
    await code()

    shown = await host.bind("status", "a")

    assert shown == {"status": "running", "output": None, "error": UNDEFINED, "rollback": None}


async def test_c045_a_sleeping_instance_is_waiting(host: Host, code: Any) -> None:
    run = await code()
    run.sleep("1 hour")
    run.parked()

    assert (await host.bind("status", "a"))["status"] == "waiting"


async def test_c046_a_complete_instance_shows_its_output(host: Host, code: Any) -> None:
    (await code()).done({"r": 1})

    shown = await host.bind("status", "a")

    assert (shown["status"], shown["output"], shown["error"]) == ("complete", {"r": 1}, UNDEFINED)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (UNDEFINED, None),
        (None, None),
        (Date(0), "1970-01-01T00:00:00.000Z"),
        (Map([(1, 2)]), {}),
        ({"a": math.nan, "b": UNDEFINED}, {"a": None}),
    ],
    ids=repr,
)
async def test_c047_c054_c055_c057_the_output_is_shown_as_json_has_it(
    host: Host, code: Any, value: Any, shown: Any
) -> None:
    (await code()).done(value)

    assert (await host.bind("status", "a"))["output"] == shown


@pytest.mark.parametrize(("name", "message"), [("Error", "x"), ("RangeError", "rr")])
async def test_c049_c050_an_errored_instance_shows_its_error(host: Host, code: Any, name: str, message: str) -> None:
    (await code()).fails(message, name)

    shown = await host.bind("status", "a")

    assert shown == {
        "status": "errored",
        "output": None,
        "error": {"name": name, "message": message},
        "rollback": None,
    }


async def test_c060_an_instance_without_a_rollback_shows_none(host: Host) -> None:
    await host.create("a")

    assert (await host.bind("status", "a"))["rollback"] is None


# -------------------------------------------------------------------------------------------------------- pause, resume


async def test_c061_a_pause_waits_for_the_running_step_and_keeps_its_result(host: Host, code: Any) -> None:
    run = await code()
    call = run.do()

    assert await host.bind("pause", "a") is UNDEFINED
    assert await host.status() == "waitingForPause"
    run.do("next")
    run.returns(call, 1)
    await rest()

    assert await host.status() == "paused"
    assert (run.execs, run.released) == ([(call, 1)], True)


async def test_c062_a_second_pause_changes_nothing(host: Host, code: Any) -> None:
    await code()
    await host.bind("pause", "a")

    assert await host.bind("pause", "a") is UNDEFINED
    assert await host.status() == "paused"


@pytest.mark.parametrize("what", ["sleep", "wait", "retry"])
async def test_c063_c064_c065_an_instance_that_waits_is_paused_at_once(host: Host, code: Any, what: str) -> None:
    run = await code()
    if what == "sleep":
        run.sleep("1 hour")
    elif what == "wait":
        run.wait()
    else:
        run.raises(run.do("a", {"retries": {"limit": 1, "delay": 60_000}}))

    await host.bind("pause", "a")

    assert await host.status() == "paused"


async def test_c066_a_pause_waits_for_all_steps_that_run(host: Host, code: Any) -> None:
    run = await code()
    first, second = run.do("a"), run.do("b")
    await host.bind("pause", "a")

    run.returns(first, 1)
    assert await host.status() == "waitingForPause"
    run.returns(second, 2)

    assert await host.status() == "paused"


@pytest.mark.parametrize("op", ["pause", "resume"])
@pytest.mark.parametrize("end", ["complete", "errored", "terminated"])
async def test_c067_c071_an_instance_that_has_ended_stays_as_it_is(host: Host, code: Any, op: str, end: str) -> None:
    run = await code()
    if end == "complete":
        run.done()
    elif end == "errored":
        run.fails()
    else:
        await host.bind("terminate", "a")

    assert await host.bind(op, "a") is UNDEFINED
    assert await host.status() == end


async def test_c068_a_resumed_instance_replays_and_goes_on(host: Host, isolate: FakeIsolate, code: Any) -> None:
    run = await code()
    run.step("a", "kept")
    await host.bind("pause", "a")

    assert await host.bind("resume", "a") is UNDEFINED

    replay = isolate.codes("a")[-1]
    assert replay.start["journal"] == [["c", "do", "a", 1, 0], ["v", "do", "a", 1, '["kept"]']]
    replay.done()
    assert await host.status() == "complete"


async def test_c069_a_pending_pause_is_taken_back_and_the_run_goes_on(
    host: Host, isolate: FakeIsolate, code: Any
) -> None:
    run = await code()
    call = run.do()
    await host.bind("pause", "a")
    blocked = run.do("blocked")

    await host.bind("resume", "a")

    assert await host.status() == "running"
    assert run.execs == [(call, 1), (blocked, 1)]
    assert len(isolate.told("start")) == 1


async def test_c070_resume_does_nothing_to_a_running_instance(host: Host, code: Any) -> None:
    run = await code()

    assert await host.bind("resume", "a") is UNDEFINED
    assert (await host.status(), run.released) == ("running", False)


async def test_c072_a_pause_stops_the_clock_of_a_retry(host: Host, isolate: FakeIsolate, code: Any) -> None:
    config = {"retries": {"limit": 1, "delay": 1500}}
    run = await code()
    run.raises(run.do("a", config))
    await host.later(0.2)
    await host.bind("pause", "a")
    await host.later(2)
    await host.bind("resume", "a")

    replay = isolate.codes("a")[-1]
    call = replay.do("a", config)
    await host.later(1.299)
    assert replay.execs == []
    await host.later(0.001)

    assert replay.execs == [(call, 2)]


# -------------------------------------------------------------------------------------------------- terminate, restart


@pytest.mark.parametrize("args", [[], [None], [{}], [{"rollback": False}], [{"rollback": 1}]], ids=repr)
async def test_c073_a_sleeping_instance_is_terminated(host: Host, code: Any, args: list[Any]) -> None:
    run = await code()
    run.sleep("1 hour")

    assert await host.bind("terminate", "a", *args) is UNDEFINED

    assert (await host.status(), run.released) == ("terminated", True)
    await host.later(7200)
    assert run.rets == {}


async def test_c074_what_has_ended_cannot_be_terminated(host: Host, code: Any) -> None:
    (await code()).done()

    text = "WorkflowError: (instance.cannot_terminate) Cannot terminate instance since its on a finite state"
    assert await refusal(host, "terminate", "a") == text


async def test_c075_code_that_terminates_itself_hears_nothing_more(host: Host, isolate: FakeIsolate, code: Any) -> None:
    run = await code()

    isolate.says({"t": "bind", "id": 1, "workflow": "wf", "op": "terminate", "args": '[[1],"a"]'})
    await rest()
    run.do("after")

    assert [message["t"] for message in run.heard] == ["release"]
    assert await host.status() == "terminated"


@pytest.mark.parametrize("stage", ["running", "paused", "complete", "errored", "terminated"])
async def test_c080_c081_an_instance_is_restarted_whatever_became_of_it(
    host: Host, isolate: FakeIsolate, code: Any, stage: str
) -> None:
    run = await code()
    run.step("a", 1)
    if stage == "complete":
        run.done()
    elif stage == "errored":
        run.fails()
    elif stage != "running":
        await host.bind("pause" if stage == "paused" else "terminate", "a")

    assert await host.bind("restart", "a") is UNDEFINED

    again = isolate.codes("a")[-1]
    assert (await host.status(), again.start["journal"]) == ("running", [])
    assert again.start["event"] == run.start["event"]
    assert run.released


async def restartable(host: Host, code: Any) -> None:
    """An instance that has called a, b, the sleep z, and b again."""
    run = await code()
    run.step("a", 1)
    run.step("b", 2)
    run.sleep(0, "z")
    run.step("b", 3)
    run.done()
    await rest()


@pytest.mark.parametrize(
    ("origin", "kept"),
    [
        ({"name": "b"}, ["a"]),
        ({"name": "b", "count": 2}, ["a", "b", "z"]),
        ({"name": "b", "count": 2.0, "type": "do"}, ["a", "b", "z"]),
        ({"name": "z", "type": "sleep"}, ["a", "b"]),
    ],
    ids=repr,
)
async def test_c083_c084_c085_a_restart_from_a_step_keeps_what_started_before_it(
    host: Host, isolate: FakeIsolate, code: Any, origin: dict[str, Any], kept: list[str]
) -> None:
    await restartable(host, code)

    await host.bind("restart", "a", {"from": origin})

    assert [entry[2] for entry in isolate.codes("a")[-1].start["journal"] if entry[0] == "c"] == kept


@pytest.mark.parametrize(
    ("origin", "name"),
    [
        ({"name": "z"}, "z"),
        ({"name": "b", "count": 3}, "b"),
        ({"name": "b", "count": 0}, "b"),
        ({"name": "b", "count": 1.5}, "b"),
        ({"name": "b", "count": math.nan}, "b"),
        ({"name": "b", "count": math.inf}, "b"),
        ({"name": "b", "type": "sleep"}, "b"),
        ({"name": "b", "type": "teleport"}, "b"),
        ({}, "undefined"),
        ("b", "undefined"),
    ],
    ids=repr,
)
async def test_c086_c087_c088_a_step_that_is_not_there_is_refused(
    host: Host, code: Any, origin: Any, name: str
) -> None:
    await restartable(host, code)

    text = f'WorkflowError: (instance.cannot_restart) Step "{name}" not found in execution history'
    assert await refusal(host, "restart", "a", {"from": origin}) == text
    assert await host.status() == "complete"


async def test_c089_a_failed_step_is_run_again(host: Host, isolate: FakeIsolate, code: Any) -> None:
    run = await code()
    run.raises(run.do("a", {"retries": {"limit": 0, "delay": 0}}))
    run.fails()

    await host.bind("restart", "a", {"from": {"name": "a"}})

    again = isolate.codes("a")[-1]
    assert again.start["journal"] == []
    assert again.do("a") == 1
    assert again.execs == [(1, 1)]
