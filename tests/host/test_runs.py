"""Places, and the comings and goings of runs."""

from __future__ import annotations

import asyncio

import pytest

from runtime.engine import commands as cmd
from runtime.host import runs as module
from runtime.host.instances import NewInstance
from runtime.host.workflows import Workflow
from runtime.store import Key, MemoryStore
from tests.host.conftest import Hosts
from tests.host.fake_isolate import Code, FakeIsolate
from tests.host.virtual_clock import rest
from tests.host.world import WORKFLOW, Host, rules

pytestmark = pytest.mark.asyncio

A = Key("wf", "a")
HOUR = 3600


def store_with_places(count: int) -> MemoryStore:
    store = MemoryStore()
    store.journals.limit = count
    return store


# -------------------------------------------------------------------------------------------------------------- places


async def test_the_257th_instance_queues_on_disk_and_runs_when_a_place_is_free(host: Host) -> None:
    assert isinstance(host.store, MemoryStore)
    isolate = host.serve()

    await host.create(*(str(i) for i in range(300)))
    assert len(isolate.told("start")) == host.store.journals.limit == 256
    assert (host.runs.free, await host.in_memory(), host.store.journals.open_files) == (0, 256, 256)
    assert await host.status("299") == "queued"
    for i in range(256):
        isolate.codes(str(i))[0].done()
    await rest()

    assert [start["instance"] for start in isolate.told("start")] == [str(i) for i in range(300)]
    assert host.runs.free == 256 - 44


async def test_places_are_given_in_the_order_of_creation(hosts: Hosts) -> None:
    host = hosts(store_with_places(1))
    isolate = host.serve()
    await host.create("a", "b", "c")

    for id in "abc":
        isolate.codes(id)[0].done()
        await rest()

    assert [start["instance"] for start in isolate.told("start")] == ["a", "b", "c"]


async def test_without_an_isolate_instances_wait_for_one(host: Host) -> None:
    await host.create("a")
    assert await host.status() == "queued"

    isolate = host.serve()
    await rest()

    assert len(isolate.codes("a")) == 1


async def test_what_ends_while_it_waits_for_an_isolate_gives_its_place_back(hosts: Hosts) -> None:
    host = hosts(store_with_places(1))
    await host.create("a", "b")

    await host.instances.ask(A, cmd.Terminate())
    await rest()

    isolate = host.serve()
    await rest()
    assert [start["instance"] for start in isolate.told("start")] == ["b"]


async def test_what_is_asked_while_it_waits_for_an_isolate_costs_no_second_place(hosts: Hosts) -> None:
    host = hosts(store_with_places(1))
    await host.create("a")

    for _ in range(3):
        await host.instances.ask(A, cmd.SendEvent("go", "[1]"))

    assert (host.runs.free, await host.in_memory()) == (0, 1)
    isolate = host.serve()
    await rest()
    assert len(isolate.codes("a")) == 1


async def test_what_is_being_paused_when_an_isolate_comes_does_not_run(hosts: Hosts) -> None:
    host = hosts(MemoryStore(late=True))
    isolate = host.serve()
    await host.code(isolate)
    isolate.dies()
    await rest()
    instance = await host.instances.activate(Key("wf", "a"))

    paused = asyncio.ensure_future(instance.ask(cmd.Pause()))
    while instance.state.status != "paused":
        await asyncio.sleep(0)
    assert not paused.done(), "it is not committed yet"
    isolate = host.serve()
    await rest()

    assert isolate.codes("a") == []
    assert (await host.kinds())[-1] == "workflow_paused"
    await host.bind("resume", "a")
    isolate.codes("a")[-1].done()
    await rest()
    assert await host.status() == "complete"


async def test_an_instance_in_the_queue_that_is_asked_something_stays_in_the_queue(hosts: Hosts) -> None:
    host = hosts(store_with_places(1))
    isolate = host.serve()
    await host.create("a", "b")

    await host.instances.ask(Key("wf", "b"), cmd.SendEvent("go", "[1]"))
    assert await host.in_memory() == 1
    isolate.codes("a")[0].done()
    await rest()

    assert len(isolate.codes("b")) == 1


async def test_a_running_instance_that_is_queued_once_more_takes_no_second_place(host: Host) -> None:
    code = await host.code(host.serve())
    free = host.runs.free

    host.runs.queue([A])
    await rest()

    assert host.runs.free == free
    assert not code.released


async def test_an_instance_that_no_longer_exists_leaves_the_queue(hosts: Hosts) -> None:
    host = hosts(store_with_places(1))
    isolate = host.serve()
    await host.create("a", "b", "c")

    await host.instances.delete(Key("wf", "b"))
    host.runs.queue([Key("wf", "never was")])
    isolate.codes("a")[0].done()
    await rest()
    isolate.codes("c")[0].done()
    await rest()

    assert host.runs.free == 1


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


# ------------------------------------------------------------------------------------------------------------- resting


async def sleeper(host: Host, isolate: FakeIsolate, id: str = "a") -> Code:
    code = await host.code(isolate, id)
    code.sleep("1 hour")
    code.parked()
    return code


async def test_a_run_whose_instance_only_waits_is_asked_whether_it_rests(host: Host) -> None:
    code = await host.code(host.serve())

    code.sleep("1 hour")
    code.sleep("2 hours", "another")

    assert [message["t"] for message in code.heard] == ["rest"]


async def test_for_a_short_wait_no_run_is_asked_to_rest(host: Host) -> None:
    code = await host.code(host.serve())

    code.sleep(200)

    assert code.heard == []
    assert await host.status() == "running"


async def test_a_run_with_a_running_attempt_does_not_rest(host: Host) -> None:
    code = await host.code(host.serve())

    code.do()
    code.sleep("1 hour")

    assert code.execs == [(1, 1)]
    assert len(code.heard) == 1


async def test_a_parked_run_leaves_memory_after_its_grace_period(host: Host) -> None:
    assert isinstance(host.store, MemoryStore)
    code = await sleeper(host, host.serve())

    assert await host.status() == "waiting"
    await host.later(4.999)
    assert not code.released
    await host.later(0.001)

    assert code.released
    assert (await host.in_memory(), host.store.journals.open_files) == (0, 0)
    assert len(host.clock.alarms) == 1  # the one of all sleepers
    row = host.store.catalog.rows[A]
    assert (row.status, row.dirty) == ("waiting", False)


async def test_a_parked_run_that_hears_news_stays_and_has_a_whole_grace_period_again(host: Host) -> None:
    code = await host.code(host.serve())
    code.wait("go")
    code.parked()
    await host.later(3)

    await host.instances.ask(A, cmd.SendEvent("go", "[1]"))
    code.wait("stop", "w2")
    code.parked()
    await host.later(4.999)
    assert not code.released
    await host.later(0.001)

    assert code.released


async def test_news_that_is_not_for_it_does_not_keep_a_run_in_memory(hosts: Hosts) -> None:
    host = hosts(MemoryStore(late=True))
    isolate = host.serve()
    code = await host.code(isolate)
    code.wait("go")
    await rest()
    code.parked()
    await rest()
    instance = host.instances._live[A]

    instance.tell(cmd.SendEvent("other", "[1]"))
    host.runs.hibernate(instance.run)  # type: ignore[arg-type]  # its grace period ends in the same moment
    await rest()
    assert [message["t"] for message in code.heard] == ["rest", "rest"], "it is asked once more"
    code.parked()
    await host.later(5)

    assert code.released


async def test_an_answer_that_crossed_newer_news_is_asked_for_again(host: Host) -> None:
    code = await host.code(host.serve())
    code.wait("go")
    stale = code.message("parked", calls=1, rets=0)
    code.sleep("1 hour")

    code.isolate.says(stale)

    assert [message["t"] for message in code.heard] == ["rest", "rest"]
    assert await host.status() == "running"
    code.parked()
    assert await host.status() == "waiting"


async def test_of_more_than_64_parked_runs_the_longest_parked_leave_at_once(host: Host) -> None:
    isolate = host.serve()

    codes = [await sleeper(host, isolate, str(i)) for i in range(module.MAX_PARKED + 2)]

    assert [code.released for code in codes] == [True, True] + [False] * module.MAX_PARKED


async def test_an_await_of_its_own_keeps_a_run_in_memory_for_five_minutes_and_is_then_named(host: Host) -> None:
    code = await host.code(host.serve())
    code.sleep("1 hour")

    code.isolate.says(code.message("awaiting", seconds=60.0, where="entry.py:7 in run"))
    assert not code.released
    code.isolate.says(code.message("awaiting", seconds=300.0, where="entry.py:7 in run"))
    await rest()

    assert code.released
    assert host.err.getvalue() == (
        "warning: wf/a has waited 5 minutes on something outside the step API: entry.py:7 in run\n"
        "  It leaves memory now; what it awaited starts again when it wakes. Put long waits into steps.\n"
    )
    assert await host.status() == "waiting"


async def test_a_run_that_has_work_may_await_what_it_likes(host: Host) -> None:
    code = await host.code(host.serve())
    code.do()

    code.isolate.says(code.message("awaiting", seconds=900.0, where="entry.py:7 in run"))

    assert (code.released, host.err.getvalue()) == (False, "")


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
