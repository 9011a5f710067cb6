"""Runs that only wait: they are asked whether they rest, and leave memory."""

from __future__ import annotations

import pytest

from runtime.engine import commands as cmd
from runtime.host import runs as module
from runtime.store import Key, MemoryStore
from tests.host.conftest import Hosts
from tests.host.fake_isolate import Code, FakeIsolate
from tests.host.virtual_clock import rest
from tests.host.world import Host

pytestmark = pytest.mark.asyncio

A = Key("wf", "a")


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
