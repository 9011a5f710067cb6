"""`--replay-every-step`: a run is dropped when a step has settled, and begins anew when its isolate has let it go."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from tests.host.conftest import Hosts
from tests.host.fake_isolate import Code, FakeIsolate
from tests.host.test_mismatch import misfits, serve
from tests.host.virtual_clock import rest
from tests.host.world import Host, store_with_places

pytestmark = pytest.mark.asyncio
NewCode = Callable[..., Awaitable[Code]]


@pytest.fixture
def host(hosts: Hosts) -> Host:
    """A host that replays every step."""
    made = hosts()
    made.runs.repeats = 3
    return made


async def let_go(isolate: FakeIsolate, id: str = "a") -> Code:
    """The isolate has let the last run go; gives the next one."""
    last = isolate.codes(id)[-1]
    isolate.says(last.message("released"))
    await rest()
    assert isolate.codes(id)[-1].run != last.run, "no new run has begun"
    return isolate.codes(id)[-1]


async def test_a_run_is_dropped_when_its_step_has_settled(isolate: FakeIsolate, code: NewCode) -> None:
    run = await code()
    run.step("one", 1)
    await rest()
    assert run.released
    assert run.rets == {1: 1}, "so that it can say that the call did not fit"
    assert (await let_go(isolate)).start["journal"] == [["c", "do", "one", 1, 0], ["v", "do", "one", 1, "[1]"]]


async def test_the_next_run_waits_until_nothing_of_the_last_is_left(isolate: FakeIsolate, code: NewCode) -> None:
    run = await code()
    run.step()
    await rest()
    assert len(isolate.codes("a")) == 1
    await let_go(isolate)


async def test_nothing_is_journalled_for_it(host: Host, isolate: FakeIsolate, code: NewCode) -> None:
    run = await code()
    run.step()
    await rest()
    before = await host.kinds()
    await let_go(isolate)
    assert await host.kinds() == before
    assert before[-1] == "step_completed"


async def test_a_run_stays_while_another_step_is_running(isolate: FakeIsolate, code: NewCode) -> None:
    run = await code()
    first, second = run.do("one"), run.do("two")
    run.returns(first)
    await rest()
    assert not run.released
    assert run.rets == {first: None}
    run.returns(second)
    await rest()
    assert run.released


async def test_a_run_stays_while_the_step_around_the_settled_one_is_running(
    isolate: FakeIsolate, code: NewCode
) -> None:
    run = await code()
    outer = run.do("outer")
    inner = run.do("inner", parent=outer)
    run.returns(inner)
    await rest()
    assert not run.released
    run.returns(outer)
    await rest()
    assert run.released


async def test_a_run_stays_while_a_delay_function_is_asked(isolate: FakeIsolate, code: NewCode) -> None:
    run = await code()
    flaky = run.do("flaky", {"retries": {"limit": 1, "delay": "[dynamic]"}}, delay_function=True)
    other = run.do("other")
    run.raises(flaky)
    run.returns(other)
    await rest()
    assert not run.released
    run.isolate.says(run.message("delayed", call=flaky, attempt=1, value="[1000]"))
    await rest()
    assert run.released


async def test_sleeps_and_waits_are_steps_too(host: Host, isolate: FakeIsolate, code: NewCode) -> None:
    run = await code()
    run.sleep("1 second")
    await host.later(1)
    assert run.released
    run = await let_go(isolate)
    run.wait("go")
    await host.bind("sendEvent", "a", {"type": "go", "payload": "[1]"})
    await rest()
    assert run.released
    assert [entry[0] for entry in (await let_go(isolate)).start["journal"]] == ["c", "v", "c", "v"]


async def test_a_failed_step_is_a_settled_one_and_a_failed_attempt_is_not(isolate: FakeIsolate, code: NewCode) -> None:
    run = await code()
    step = run.do("a", {"retries": {"limit": 1, "delay": 0}})
    run.raises(step)
    await rest()
    assert not run.released
    run.raises(step, attempt=2)
    await rest()
    assert run.released


async def test_asking_for_a_large_recorded_result_is_not_settling(
    host: Host, isolate: FakeIsolate, code: NewCode
) -> None:
    run = await code()
    run.step("large")
    await rest()
    run = await let_go(isolate)
    run.do("large")
    await rest()
    assert run.rets == {1: None}
    assert not run.released


async def test_code_that_does_not_fit_is_replayed_no_more(host: Host, isolate: FakeIsolate, code: NewCode) -> None:
    run = await code()
    run.step("one")
    await rest()
    misfits(run)  # it hears of the drop only now
    run = await let_go(isolate)
    run.step("two")
    await rest()
    assert not run.released
    run.done()
    await rest()
    assert await host.status() == "complete"


async def test_an_instance_is_replayed_so_often_and_no_more(isolate: FakeIsolate, code: NewCode) -> None:
    run = await code()
    for number in range(3):
        run.step(f"s{number}")
        await rest()
        assert run.released
        run = await let_go(isolate)
    run.step("last")
    await rest()
    assert not run.released


async def test_a_dropped_run_keeps_its_place(hosts: Hosts) -> None:
    host = hosts(store_with_places(1))
    host.runs.repeats = 3
    isolate = host.serve()
    await host.create("a", "b")
    isolate.codes("a")[-1].step()
    await rest()
    assert isolate.codes("b") == []
    (await let_go(isolate)).done()
    await rest()
    assert len(isolate.codes("b")) == 1


async def test_an_isolate_that_dies_before_it_has_let_go_keeps_nobody(host: Host) -> None:
    first = serve(host, "one")
    run = await host.code(first)
    run.step()
    await rest()
    second = serve(host, "one")
    assert second.codes("a") == []
    first.dies()
    await rest()
    assert len(second.codes("a")) == 1


async def test_an_instance_that_is_ended_between_two_runs_begins_no_other(host: Host, isolate: FakeIsolate) -> None:
    run = await host.code(isolate)
    run.step()
    await rest()
    await host.bind("terminate", "a")
    isolate.says(run.message("released"))
    await rest()
    assert await host.status() == "terminated"
    assert len(isolate.codes("a")) == 1


async def test_a_pause_between_two_runs_is_one(host: Host, isolate: FakeIsolate) -> None:
    run = await host.code(isolate)
    run.step()
    await rest()
    await host.bind("pause", "a")
    isolate.says(run.message("released"))
    await rest()
    assert await host.status() == "paused"
    await host.bind("resume", "a")
    await rest()
    assert len(isolate.codes("a")) == 2


async def test_what_comes_due_between_two_runs_is_heard_by_the_next(host: Host, isolate: FakeIsolate) -> None:
    run = await host.code(isolate)
    run.sleep("1 second", "short")
    run.sleep("2 seconds", "long")
    await host.later(1)
    assert run.released
    await host.later(1)
    run = await let_go(isolate)
    long = run.sleep("2 seconds", "long")
    await rest()
    assert long in run.rets


async def test_without_it_runs_stay(hosts: Hosts) -> None:
    host = hosts()
    run = await host.code(host.serve())
    run.step()
    await rest()
    assert not run.released
