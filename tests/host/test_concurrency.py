"""`concurrency.limit`: so many instances of a Workflow run at once, the others are queued."""

from __future__ import annotations

from typing import Any

import pytest

from runtime.engine import commands as cmd
from runtime.host.instances import NewInstance
from runtime.host.workflows import Workflow
from runtime.store import Key, MemoryStore
from tests.host.conftest import Hosts
from tests.host.fake_isolate import FakeIsolate
from tests.host.virtual_clock import rest
from tests.host.world import Host, crash

pytestmark = pytest.mark.asyncio

HOUR = 3600


def limited(host: Host, limit: int = 1) -> FakeIsolate:
    """An isolate for a Workflow with a limit."""
    host.declare(Workflow("wf", "Wf", concurrency=limit))
    return host.serve()


def started(isolate: FakeIsolate) -> str:
    """The instances that were started on the isolate, in order."""
    return "".join(start["instance"] for start in isolate.told("start"))


async def shown(host: Host, ids: str) -> list[str]:
    """What `status()` says of instances."""
    return [(await host.bind("status", id))["status"] for id in ids]


async def listed(host: Host, ids: str) -> list[str]:
    """What the catalog says of them."""
    rows = {row.id: row for row in await host.store.catalog.list("wf")}
    return [rows[id].status for id in ids]


async def ask(host: Host, id: str, command: Any) -> None:
    await host.instances.ask(Key("wf", id), command)
    await rest()


# ---------------------------------------------------------------------------------------------------------- the limit


async def test_no_more_than_the_limit_run_and_the_others_are_queued(host: Host) -> None:
    isolate = limited(host, 2)

    await host.create(*"abcde")

    assert started(isolate) == "ab"
    assert await shown(host, "abcde") == ["running", "running", "queued", "queued", "queued"]
    assert await listed(host, "abcde") == ["running", "running", "queued", "queued", "queued"]
    assert (await host.in_memory(), host.runs.free) == (2, 254)


async def test_a_slot_goes_to_the_oldest(host: Host) -> None:
    isolate = limited(host, 2)
    await host.create(*"abcde")

    for id in "badce":
        for code in isolate.codes(id):
            code.done()
        await rest()

    assert started(isolate) == "abcde"
    assert await shown(host, "abcd") == ["complete"] * 4


async def test_another_workflow_is_not_held_back(host: Host) -> None:
    host.declare(Workflow("wf", "Wf", concurrency=1), Workflow("free", "Free"))
    isolate = host.serve(("Wf", "Free"))
    await host.create(*"ab")

    await host.instances.create("free", [NewInstance(id, "[{}]") for id in "xyz"])
    await rest()

    assert started(isolate) == "axyz"
    await host.forget_everything(("free",))


async def test_a_limit_above_the_places_leaves_the_places_as_they_are(hosts: Hosts) -> None:
    store = MemoryStore()
    store.journals.limit = 1
    host = hosts(store)
    isolate = limited(host, 2)
    await host.create(*"abc")
    assert started(isolate) == "a"

    isolate.codes("a")[0].done()
    await rest()

    assert started(isolate) == "ab"


# ------------------------------------------------------------------------------------------------- who holds no slot


async def test_a_waiting_instance_holds_no_slot_and_leaves_memory_at_once(host: Host) -> None:
    isolate = limited(host)
    await host.create(*"ab")
    code = isolate.codes("a")[0]

    code.sleep("1 hour")
    code.parked()
    await rest()

    assert (code.released, started(isolate)) == (True, "ab")
    assert await shown(host, "ab") == ["waiting", "running"]
    assert await host.in_memory() == 1


async def test_an_instance_in_a_retry_delay_or_an_event_wait_holds_no_slot(host: Host) -> None:
    isolate = limited(host)
    await host.create(*"abc")
    retrying = isolate.codes("a")[0]
    retrying.raises(retrying.do("a", {"retries": {"limit": 1, "delay": "1 hour"}}))
    retrying.parked()
    await rest()
    waiting = isolate.codes("b")[0]
    waiting.wait("go")
    waiting.parked()
    await rest()

    assert await shown(host, "abc") == ["waiting", "waiting", "running"]


async def test_a_paused_instance_holds_no_slot(host: Host) -> None:
    isolate = limited(host)
    await host.create(*"ab")

    await ask(host, "a", cmd.Pause())

    assert started(isolate) == "ab"
    assert await shown(host, "ab") == ["paused", "running"]


@pytest.mark.parametrize("end", [cmd.Terminate(), cmd.RunDone(output="[1]")])
async def test_an_ended_instance_holds_no_slot(host: Host, end: Any) -> None:
    isolate = limited(host)
    await host.create(*"ab")

    await ask(host, "a", end)

    assert started(isolate) == "ab"


async def test_an_instance_holds_its_slot_while_it_undoes_its_steps(host: Host) -> None:
    isolate = limited(host)
    await host.create(*"ab")
    code = isolate.codes("a")[0]
    code.returns(code.do("a", rollback=True), 1)

    code.fails()
    await rest()
    assert (started(isolate), (await host.kinds("a"))[-1]) == ("a", "rollback_attempt_started")
    isolate.says(code.message("undone", name="a", nth=1, attempt=1))
    await rest()

    assert started(isolate) == "ab"
    assert await shown(host, "ab") == ["errored", "running"]


async def test_a_deleted_instance_holds_no_slot_and_no_place_in_line(host: Host) -> None:
    isolate = limited(host)
    await host.create(*"abc")

    await host.instances.delete(Key("wf", "b"))
    await host.instances.delete(Key("wf", "a"))
    await rest()

    assert started(isolate) == "ac"


async def test_an_instance_that_ends_in_line_leaves_it(host: Host) -> None:
    isolate = limited(host)
    await host.create(*"abc")

    await ask(host, "b", cmd.Terminate())
    isolate.codes("a")[0].done()
    await rest()

    assert started(isolate) == "ac"
    assert await shown(host, "abc") == ["complete", "terminated", "running"]


async def test_an_instance_whose_run_is_lost_keeps_its_slot(host: Host) -> None:
    isolate = limited(host)
    await host.create(*"ab")

    isolate.dies()
    await rest()
    again = host.serve()
    await rest()

    assert started(again) == "a"


async def test_an_instance_whose_class_is_missing_holds_no_slot(host: Host) -> None:
    host.declare(Workflow("wf", "Wf", concurrency=1))
    host.serve(classes=())
    await host.create(*"ab")
    assert set(host.runs.held) == {Key("wf", "a"), Key("wf", "b")}

    isolate = host.serve()
    await rest()
    assert started(isolate) == "a"
    isolate.codes("a")[0].done()
    await rest()

    assert started(isolate) == "ab"


# ------------------------------------------------------------------------------------------------------------- waking


async def test_a_waking_instance_goes_before_a_new_one_and_is_queued_until_then(host: Host) -> None:
    isolate = limited(host)
    host.wakeups.start()
    await host.create("a")
    sleeper = isolate.codes("a")[0]
    sleeper.sleep("1 hour")
    sleeper.parked()
    await host.create(*"bc")
    assert started(isolate) == "ab"

    await host.later(HOUR)
    assert await shown(host, "abc") == ["queued", "running", "queued"]
    assert await listed(host, "abc") == ["queued", "running", "queued"]
    assert (await host.in_memory(), (await host.kinds("a"))[-1]) == (1, "sleep_completed")
    isolate.codes("b")[0].done()
    await rest()

    assert started(isolate) == "aba"
    assert await shown(host, "abc") == ["running", "complete", "queued"]


async def test_an_event_that_wakes_an_instance_puts_it_in_line(host: Host) -> None:
    isolate = limited(host)
    await host.create(*"ab")
    waiting = isolate.codes("a")[0]
    waiting.wait("go")
    waiting.parked()
    await rest()

    await ask(host, "a", cmd.SendEvent("go", "[1]"))
    assert await shown(host, "ab") == ["queued", "running"]
    isolate.codes("b")[0].done()
    await rest()

    again = isolate.codes("a")[1]
    assert again.start["journal"][-1][0] == "v"


async def test_a_retry_that_comes_due_stands_in_line(host: Host) -> None:
    isolate = limited(host)
    host.wakeups.start()
    await host.create(*"ab")
    code = isolate.codes("a")[0]
    code.raises(code.do("a", {"retries": {"limit": 1, "delay": "1 hour"}}))
    code.parked()

    await host.later(HOUR)
    assert await shown(host, "ab") == ["queued", "running"]
    isolate.codes("b")[0].done()
    await rest()
    again = isolate.codes("a")[1]
    call = again.do("a")

    assert again.execs == [(call, 2)]


async def test_a_resumed_instance_is_queued_and_goes_before_a_new_one(host: Host) -> None:
    isolate = limited(host)
    await host.create(*"abc")
    await ask(host, "a", cmd.Pause())

    await ask(host, "a", cmd.Resume())
    assert await shown(host, "abc") == ["queued", "running", "queued"]
    isolate.codes("b")[0].done()
    await rest()

    assert started(isolate) == "aba"


async def test_an_instance_in_line_can_be_paused_and_leaves_it(host: Host) -> None:
    isolate = limited(host)
    await host.create(*"ab")
    waiting = isolate.codes("a")[0]
    waiting.wait("go")
    waiting.parked()
    await rest()
    await ask(host, "a", cmd.SendEvent("go", "[1]"))

    await ask(host, "a", cmd.Pause())
    isolate.codes("b")[0].done()
    await rest()

    assert started(isolate) == "ab"
    assert await shown(host, "a") == ["paused"]


async def test_a_restarted_instance_stands_in_line_as_a_new_one(host: Host) -> None:
    isolate = limited(host)
    await host.create(*"abc")
    isolate.codes("a")[0].done()
    await rest()

    await ask(host, "a", cmd.Restart())
    for id in "bc":
        isolate.codes(id)[0].done()
        await rest()

    assert started(isolate) == "abca"


# ------------------------------------------------------------------------------------------------------------ restarts


async def test_after_a_crash_who_had_begun_goes_first_then_the_new_ones_in_their_order(hosts: Hosts) -> None:
    host = hosts()
    isolate = limited(host)
    await host.create(*"abcd")
    waiting = isolate.codes("a")[0]
    waiting.wait("go")
    waiting.parked()
    await rest()
    await ask(host, "a", cmd.SendEvent("go", "[1]"))  # in line, while b runs

    again = hosts(await crash(host))
    isolate = limited(again)
    await again.recover()
    assert await shown(again, "abcd") == ["running", "queued", "queued", "queued"]
    for id in "abcd":
        isolate.codes(id)[0].done()
        await rest()

    assert started(isolate) == "abcd"


async def test_after_a_crash_a_younger_one_that_had_begun_goes_before_an_older_one_that_had_not(hosts: Hosts) -> None:
    host = hosts()
    isolate = limited(host)
    await host.create(*"abc")
    isolate.codes("a")[0].done()
    await rest()
    waiting = isolate.codes("b")[0]
    waiting.wait("go")
    waiting.parked()
    await rest()
    await ask(host, "a", cmd.Restart())  # older, and new again
    await ask(host, "b", cmd.SendEvent("go", "[1]"))
    isolate.codes("c")[0].done()
    await rest()

    again = hosts(await crash(host))
    isolate = limited(again)
    await again.recover()
    isolate.codes("b")[0].done()
    await rest()

    assert started(isolate) == "ba"


async def test_after_a_crash_no_more_than_the_limit_are_opened(hosts: Hosts) -> None:
    host = hosts()
    limited(host, 2)
    await host.create(*(str(i) for i in range(50)))

    again = hosts(await crash(host))
    isolate = limited(again, 2)
    await again.recover()

    assert [start["instance"] for start in isolate.told("start")] == ["0", "1"]
    assert await again.in_memory() == 2
