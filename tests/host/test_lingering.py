"""Runs on an isolate that ends what rests: when they are asked, and what becomes of them."""

from __future__ import annotations

import pytest
import pytest_asyncio

from runtime.host.lingering import MAX_WAITING, SETTLED
from runtime.host.workflows import Workflow
from tests.host.conftest import Hosts
from tests.host.fake_isolate import Code, FakeIsolate
from tests.host.virtual_clock import rest
from tests.host.world import GRACE_MS, Host

pytestmark = pytest.mark.asyncio

GRACE = GRACE_MS / 1000


@pytest_asyncio.fixture
async def isolate(host: Host) -> FakeIsolate:
    return host.serve(parks_by_ending=True)


def asked(code: Code) -> int:
    """How often the run was asked whether it rests."""
    return sum(message["t"] == "rest" for message in code.heard)


async def test_a_waiting_run_is_asked_when_its_grace_period_is_over_and_leaves_memory_with_its_answer(
    host: Host, isolate: FakeIsolate
) -> None:
    code = await host.code(isolate)
    code.sleep("1 hour")

    await host.later(GRACE - 0.001)
    assert asked(code) == 0
    await host.later(0.001)
    assert asked(code) == 1

    code.parked()
    assert code.released
    assert (await host.status(), await host.in_memory()) == ("waiting", 0)


async def test_an_instance_is_called_waiting_long_before_that(host: Host, isolate: FakeIsolate) -> None:
    code = await host.code(isolate)
    code.sleep("1 hour")

    assert await host.status() == "running"
    await host.later(SETTLED / 1000)
    assert await host.status() == "waiting"
    assert (await host.kinds()).count("workflow_waiting") == 1
    await host.later(GRACE)
    assert (await host.kinds()).count("workflow_waiting") == 1


async def test_code_between_two_calls_is_not_waiting(host: Host, isolate: FakeIsolate) -> None:
    code = await host.code(isolate)
    code.sleep("1 hour")
    await host.later(SETTLED / 1000 - 0.001)
    code.step("a")
    await host.later(SETTLED / 1000 - 0.001)

    assert await host.status() == "running"
    assert "workflow_waiting" not in await host.kinds()


async def test_a_sleep_that_is_over_within_the_grace_period_is_answered_in_place(
    host: Host, isolate: FakeIsolate
) -> None:
    code = await host.code(isolate)
    sleep = code.sleep("4 seconds")

    await host.later(4)

    assert sleep in code.rets
    assert (asked(code), code.released) == (0, False)


async def test_a_run_that_awaits_something_of_its_own_stays_and_goes_on(host: Host, isolate: FakeIsolate) -> None:
    code = await host.code(isolate)
    code.sleep("365 days")
    await host.later(GRACE)
    code.isolate.says(code.message("awaiting", seconds=60.0, where="src/index.ts:7 in run"))
    assert not code.released

    code.step("taken")
    code.done()
    await rest()

    assert await host.status() == "complete"


async def test_after_news_it_is_asked_anew(host: Host, isolate: FakeIsolate) -> None:
    code = await host.code(isolate)
    code.wait("go")
    code.wait("end", "other")
    await host.later(GRACE)
    await host.bind("sendEvent", "a", {"type": "go", "payload": "[1]"})
    assert (1 in code.rets, asked(code)) == (True, 1)

    await host.later(GRACE)

    assert asked(code) == 2


async def test_what_crossed_the_answer_is_not_lost_the_instance_begins_anew(host: Host, isolate: FakeIsolate) -> None:
    code = await host.code(isolate)
    code.sleep("1 day")
    await host.later(GRACE)
    parked = code.message("parked", calls=1, rets=0)
    await host.later(24 * 60 * 60)  # it is over before the answer is here
    assert 1 in code.rets

    isolate.says(parked)
    await rest()

    again = isolate.codes("a")[-1]
    assert code.released and again.run != code.run
    assert [entry[0] for entry in again.start["journal"]] == ["c", "v"]
    again.done()
    await rest()
    assert await host.status() == "complete"


async def test_what_arrives_together_with_the_answer_counts(host: Host, isolate: FakeIsolate) -> None:
    code = await host.code(isolate)
    call = code.do()
    other = code.sleep("1 day")
    assert (call, other) == (1, 2)

    isolate.says(code.value(call, "kept"), code.message("parked", calls=2, rets=0))
    await rest()

    again = isolate.codes("a")[-1]
    assert again.run != code.run
    assert ["v", "do", "a", 1] in [entry[:4] for entry in again.start["journal"]]


async def test_of_more_than_64_waiting_runs_the_longest_waiting_are_asked_at_once(
    host: Host, isolate: FakeIsolate
) -> None:
    codes = []
    for n in range(MAX_WAITING + 2):
        codes.append(await host.code(isolate, str(n)))
        codes[-1].sleep("1 day")
    await rest()

    assert [asked(code) for code in codes] == [1, 1] + [0] * MAX_WAITING


async def test_where_others_may_want_the_slot_it_is_asked_at_once(hosts: Hosts) -> None:
    host = hosts()
    host.declare(Workflow("wf", "Wf", concurrency=1))
    isolate = host.serve(parks_by_ending=True)
    code = await host.code(isolate)

    code.sleep("1 day")
    await rest()

    assert asked(code) == 1


async def test_a_race_with_a_timer_is_won_by_the_timer_however_many_others_wait(
    host: Host, isolate: FakeIsolate
) -> None:
    code = await host.code(isolate, "race")
    code.sleep("365 days")
    waiting: dict[str, Code] = {}
    for n in range(3 * MAX_WAITING):
        other = await host.code(isolate, str(n))
        other.sleep("1 day")
        await rest()
        for id in waiting:
            if asked(waiting[id]) and not waiting[id].released:
                waiting[id].parked()
        waiting = {id: each for id, each in [*waiting.items(), (str(n), other)] if not each.released}
    await host.later(2 * GRACE)
    assert (asked(code), code.released) == (1, False)

    code.step("timer")
    code.done("timer")
    await rest()

    assert await host.status("race") == "complete"


async def test_results_that_wait_for_a_call_which_the_code_does_not_make_are_given_to_the_next_replay(
    host: Host, isolate: FakeIsolate
) -> None:
    await host.recover()
    code = await host.code(isolate)
    code.sleep("1 hour", "first")
    code.sleep("2 hours", "second")
    code.sleep("1 day", "third")
    isolate.dies()
    fresh = host.serve(parks_by_ending=True)
    await rest()
    replay = fresh.codes("a")[-1]
    replay.sleep("2 hours", "second")
    replay.sleep("1 day", "third")
    await host.later(2 * 60 * 60)
    assert (replay.rets, asked(replay)) == ({}, 1)

    replay.parked()
    await rest()

    again = replay.isolate.codes("a")[-1]
    assert replay.released and again.run != replay.run
    assert [entry[:3] for entry in again.start["journal"] if entry[0] == "v"] == [
        ["v", "sleep", "first"],
        ["v", "sleep", "second"],
    ]
