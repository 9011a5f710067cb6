"""The comings and goings of runs: isolates that are lost or replaced, code that is not there, names."""

from __future__ import annotations

import asyncio

import pytest

from runtime.host import runs as module
from runtime.host.instances import NewInstance
from runtime.host.workflows import Workflow
from runtime.store import Key
from tests.host.conftest import Hosts
from tests.host.fake_isolate import FakeIsolate
from tests.host.virtual_clock import rest
from tests.host.world import WORKFLOW, Host, rules, store_with_places

pytestmark = pytest.mark.asyncio

A = Key("wf", "a")

# --------------------------------------------------------------------------------------------------- lost and replaced


async def test_what_ran_on_a_lost_isolate_is_journalled_as_lost_and_replayed_on_the_next(host: Host) -> None:
    isolate = host.serve()
    code = await host.code(isolate)
    code.step("done", 1)
    code.do("in flight")

    isolate.dies()
    await rest()
    assert (await host.kinds())[-1] == "attempt_errored"
    again = host.serve()
    await rest()

    (replay,) = again.codes("a")
    assert replay.start["journal"] == [
        ["c", "do", "done", 1, 0],
        ["v", "do", "done", 1, "[1]"],
        ["c", "do", "in flight", 1, 0],
    ]
    assert replay.run != code.run
    call = replay.do("in flight")
    assert replay.execs == [(call, 2)]


async def test_instances_that_lose_their_isolate_keep_as_many_places_as_there_are(hosts: Hosts) -> None:
    host = hosts(store_with_places(2))
    isolate = host.serve()
    await host.create("a", "b", "c", "d")

    isolate.dies()
    await rest()
    assert host.runs.free == 0
    isolate = host.serve()
    for _ in range(2):
        await rest()
        for code in [code for id in "abcd" for code in isolate.codes(id) if not code.released]:
            code.done()
    await rest()

    assert [await host.status(id) for id in "abcd"] == ["complete"] * 4


async def test_a_lost_isolate_takes_its_subscriptions_with_it(host: Host) -> None:
    isolate, other = host.serve(), FakeIsolate(host.dispatch, "front")
    await host.create("a")
    subscribe = {"t": "bind", "workflow": "wf", "op": "subscribe", "args": '[[1],"a"]'}
    isolate.says({**subscribe, "id": 1}, {**subscribe, "id": 2})
    other.says({**subscribe, "id": 1})
    await rest()
    assert len(host.subscriptions._by_number) == 3

    isolate.dies()

    assert len(host.subscriptions._by_number) == 1
    other.dies()


async def test_new_code_takes_idle_runs_at_once_and_others_when_their_attempts_end(host: Host) -> None:
    old = host.serve()
    idle, busy = await host.code(old, "idle"), await host.code(old, "busy")
    idle.wait()
    call = busy.do()
    new = host.serve()

    host.runs.hold(old)
    host.runs.move_idle(old)
    await rest()
    assert (len(new.codes("idle")), len(new.codes("busy"))) == (1, 0)
    busy.do("not taken")
    busy.returns(call, 1)
    assert busy.rets == {}
    host.runs.move_idle(old)
    await rest()

    (replay,) = new.codes("busy")
    assert replay.start["journal"] == [["c", "do", "a", 1, 0], ["v", "do", "a", 1, "[1]"]]
    assert host.runs.on(old) == []


async def test_a_retry_that_comes_due_while_its_run_moves_waits_for_the_new_code(host: Host) -> None:
    old = host.serve()
    code = await host.code(old)
    retried = code.do("retried", {"retries": {"limit": 1, "delay": 1000}})
    code.do("busy")
    code.raises(retried)
    host.runs.hold(old)

    await host.later(5)
    assert code.execs == [(1, 1), (2, 1)]
    new = host.serve()
    old.dies()
    await rest()

    assert new.codes("a")[0].do("retried") == 1
    assert new.codes("a")[0].execs == [(1, 2)]


async def test_at_the_end_running_attempts_may_finish_for_a_while(host: Host) -> None:
    code = await host.code(host.serve())
    call = code.do()
    other = await host.code(host.serve(), "b")

    draining = asyncio.ensure_future(host.runs.drain(5))
    await rest()
    assert not draining.done()
    other.do("not taken")
    code.returns(call, 1)
    await draining

    assert (await host.kinds())[-1] == "step_completed"
    assert (await host.kinds("b"))[-1] == "workflow_running"


async def test_at_the_end_nobody_waits_for_ever(host: Host) -> None:
    code = await host.code(host.serve())
    code.do()

    await host.runs.drain(0)

    assert not code.released


# ---------------------------------------------------------------------------------------------- code that is not there


async def test_an_instance_whose_class_is_missing_is_held_and_goes_on_when_it_is_back(host: Host) -> None:
    host.serve(classes=())
    await host.create("a")

    assert (await host.in_memory(), host.runs.free) == (0, 256)
    assert host.err.getvalue() == (
        "error: Instances of wf are stopped: the code has no WorkflowEntrypoint Wf\n"
        "  They are kept, and go on when the project has it again.\n"
    )
    isolate = host.serve()
    await rest()

    assert len(isolate.codes("a")) == 1


async def test_an_instance_that_waited_for_code_which_lacks_its_class_is_held(host: Host) -> None:
    await host.create("a")

    isolate = host.serve(classes=())
    await rest()

    assert isolate.told("start") == []
    assert host.runs.held == {A: "the code has no WorkflowEntrypoint Wf"}


async def test_an_instance_whose_workflow_is_gone_is_held_and_goes_on_when_it_is_back(host: Host) -> None:
    await host.create("a")
    host.declare()
    host.serve(classes=())
    await rest()
    assert host.runs.held == {A: 'the project has no Workflow "wf"'}

    host.declare(WORKFLOW)
    isolate = host.serve()
    await rest()

    assert len(isolate.codes("a")) == 1


async def test_runs_follow_the_rules_of_their_workflow(host: Host) -> None:
    host.declare(Workflow("wf", "Wf", rules(step_limit=7)))

    code = await host.code(host.serve())

    assert code.start["step_limit"] == 7


# ---------------------------------------------------------------------------------------------------------------- names


async def test_the_late_output_of_a_run_still_has_its_name(host: Host) -> None:
    isolate = host.serve()
    code = await host.code(isolate)
    code.done()

    isolate.says({"t": "log", "stream": "stdout", "text": "late", "run": code.run})

    assert host.out.getvalue() == "[wf/a] late\n"


async def test_names_of_ended_runs_are_forgotten_in_the_end_those_of_living_ones_never(
    hosts: Hosts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "REMEMBERED_NAMES", 3)
    host = hosts(store_with_places(2))
    isolate = host.serve()
    long = await host.code(isolate, "long")
    runs = []

    for i in range(10):
        await host.instances.create("wf", [NewInstance(str(i), "[1]")])
        await rest()
        runs.append(isolate.codes(str(i))[0])
        runs[-1].done()
        await rest()

    assert len(host.runs._names) == 5
    assert [host.runs.name(code.run) is not None for code in (long, runs[0], runs[-1])] == [True, False, True]


async def test_a_run_that_the_isolate_has_lost_begins_anew_and_not_at_once_when_it_had_not_got_anywhere(
    host: Host,
) -> None:
    isolate = host.serve()
    code = await host.code(isolate)

    isolate.says(code.message("lost", reason="message too big"))
    await rest()
    assert len(isolate.codes("a")) == 1
    await host.later(1)
    _, again = isolate.codes("a")
    again.step()
    again.isolate.says(again.message("lost", reason="message too big"))
    await rest()
    await host.later(0)

    assert len(isolate.codes("a")) == 3
    assert host.err.getvalue().count("wf/a: the connection to its run broke: message too big") == 1
