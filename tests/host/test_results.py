"""Results reach a run in the order of the journal (I5), also those that nobody waited for yet when they settled."""

from __future__ import annotations

import pytest

from runtime.engine import commands as cmd
from runtime.host.results import Results
from runtime.store import Key
from tests.host.conftest import Hosts
from tests.host.fake_isolate import Code
from tests.host.virtual_clock import rest
from tests.host.world import Host, crash


@pytest.mark.asyncio
async def test_i5_results_that_settle_before_the_code_has_come_back_to_them_keep_their_order(hosts: Hosts) -> None:
    code = await raced(hosts)

    late, early = code.sleep(2_000, "late"), code.sleep(1_000, "early")
    await rest()

    told = [message["call"] for message in code.heard if message["t"] == "ret"]
    assert told == [early, late], "as the journal has it, and every later replay"


@pytest.mark.asyncio
async def test_a_result_that_goes_along_with_the_start_keeps_no_other_one_waiting(host: Host) -> None:
    first = host.serve()
    code = await host.code(first)
    code.wait("go")
    code.do("busy")
    first.dies()
    await rest()
    isolate = host.serve()  # the run begins
    instance = await host.instances.activate(Key("wf", "a"))
    instance.tell(cmd.SendEvent("go", "[1]"))  # in the same turn
    await rest()
    (code,) = isolate.codes("a")
    assert [entry[:2] for entry in code.start["journal"]] == [["c", "wait"], ["c", "do"], ["v", "wait"]]

    call = code.step("new", "result")
    await rest()

    assert code.rets == {call: "result"}


@pytest.mark.asyncio
async def test_a_result_for_which_changed_code_does_not_come_back_keeps_no_other_one_waiting(hosts: Hosts) -> None:
    code = await raced(hosts)
    late = code.sleep(2_000, "late")
    await rest()
    assert code.rets == {}

    code.parked()
    await rest()

    assert list(code.rets) == [late]


async def raced(hosts: Hosts) -> Code:
    """The second run of code that raced two sleeps; both ended while no host was there."""
    host = hosts()
    first = await host.code(host.serve())
    first.sleep(2_000, "late")
    first.sleep(1_000, "early")
    first.do("busy")  # so that the instance does not just wait
    after = hosts(await crash(host))
    await after.later(10)
    isolate = after.serve()
    await after.recover()
    await after.later(0)
    assert (await after.kinds()).count("sleep_completed") == 2
    return isolate.codes("a")[0]


@pytest.mark.asyncio
async def test_the_number_of_a_call_that_was_not_heard_is_told_to_the_next_run(hosts: Hosts) -> None:
    host = hosts()
    code = await host.code(host.serve())
    outer = code.do("a", {"retries": {"limit": 0, "delay": 0}, "timeout": 1_000})
    code.began(outer)
    await host.later(1)
    code.do("a", parent=outer)  # said before it heard that its time was up

    after = hosts(await crash(host))
    isolate = after.serve()
    await after.recover()

    assert isolate.codes("a")[0].start["journal"][0] == ["c", "do", "a", 2, 1]


@pytest.mark.asyncio
async def test_an_attempt_that_is_given_up_in_the_turn_in_which_it_was_decided_does_not_begin(host: Host) -> None:
    code = await host.code(host.serve())
    outer = code.do("outer")
    code.isolate.says(code.call("do", "inner", None, parent=outer), code.error(outer))
    await rest()

    assert [call for call, _ in code.execs] == [outer]


def test_results_go_out_when_all_before_them_can() -> None:
    results = Results()

    assert (results.settled(1, ()), results.settled(2, {2})) == ([], [])
    assert results.settled(1, {1, 2}) == [1, 2]
    assert not results


def test_what_is_passed_over_is_forgotten() -> None:
    results = Results()
    results.settled(1, ())
    results.settled(2, ())

    assert results.pass_over({2}) == [2]
    assert not results


def test_a_result_is_found_among_thousands_without_a_look_at_each() -> None:
    class Step(int):
        looks = 0

        def __eq__(self, other: object) -> bool:
            Step.looks += 1
            return int(self) == other

        __hash__ = int.__hash__

    results = Results()
    for number in range(5000):
        results.settled(Step(number), ())

    assert results.settled(Step(0), dict.fromkeys(range(5000))) == list(range(5000))
    assert Step.looks < 50_000
