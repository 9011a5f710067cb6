"""Terminate, restart, and restart from a step."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from runtime.engine import Failure
from runtime.engine import commands as cmd
from runtime.engine.effects import AbortRun, RunAttempt, Settle
from tests.engine.driver import NOW, ONCE, Instance

STORIES: dict[str, Callable[[Instance], object]] = {
    "running": lambda instance: None,
    "waiting": lambda instance: instance.tell(cmd.RunParked()),
    "paused": lambda instance: instance.pause(),
    "complete": lambda instance: instance.returned(),
    "errored": lambda instance: instance.raised(),
    "terminated": lambda instance: instance.tell(cmd.Terminate()),
}


def names(instance: Instance) -> list[str]:
    return [record.label for record in instance.state.records.values()]


def abz_b() -> Instance:
    """Steps a, b, a sleep z, and b again, all settled."""
    instance = Instance().start()
    for name in ("a", "b"):
        instance.done(instance.do(name))
    instance.sleep(0, name="z")
    instance.done(instance.do("b"))
    return instance


def test_c073_a_terminated_instance_goes_no_further(instance: Instance) -> None:
    instance.sleep()
    instance.tell(cmd.Terminate())
    assert instance.kinds == ["workflow_terminated"]
    assert instance.last.effects == [AbortRun()]
    assert instance.later(10_000).ring().events == []
    assert instance.do() == 0


@pytest.mark.parametrize("how", ["complete", "errored", "terminated"])
def test_c074_a_finished_instance_cannot_be_terminated(instance: Instance, how: str) -> None:
    STORIES[how](instance)
    assert instance.status() == how
    assert instance.tell(cmd.Terminate()).refusal == Failure(
        "Error",
        "WorkflowError: (instance.cannot_terminate) Cannot terminate instance since its on a finite state",
    )


def test_an_attempt_in_flight_is_not_heard_after_a_terminate(instance: Instance) -> None:
    step = instance.do()
    instance.tell(cmd.Terminate())
    assert instance.done(step).events == []
    assert not instance.state.live


@pytest.mark.parametrize("how", ["queued", "running", "waiting", "paused", "complete", "errored", "terminated"])
def test_c080_c081_a_restart_begins_from_scratch_from_every_status(how: str) -> None:
    instance = Instance()
    if how != "queued":
        instance.start().sleep()
        STORIES[how](instance)
    assert instance.status() == how
    instance.later(100).tell(cmd.Restart())
    assert instance.kinds == ["restarted", "workflow_queued"]
    assert instance.last.effects == [AbortRun()]
    state = instance.state
    assert (state.status, state.epoch, state.records) == ("queued", 2, {})
    assert (state.instance, state.params, state.created) == ("id", "{}", NOW)
    assert (state.output, state.error, state.ended) == (None, None, None)
    instance.start()
    assert instance.kinds == ["workflow_started", "workflow_running"]


def test_c090_a_restart_drops_events_that_nobody_took(instance: Instance) -> None:
    instance.send()
    instance.tell(cmd.Restart())
    step = instance.start().wait()
    assert not instance.record(step).settled
    instance.send()
    assert instance.record(step).event == 2


def test_steps_are_numbered_on_over_a_restart(instance: Instance) -> None:
    old = instance.do()
    instance.tell(cmd.Restart())
    assert instance.start().do() > old


def test_c083_a_restart_from_a_step_runs_everything_again_that_started_later() -> None:
    instance = abz_b()
    instance.tell(cmd.Restart("b", partial=True))
    assert instance.kinds == ["restarted"], "queued and started records stay"
    assert names(instance) == ["a-1"]
    instance.start()
    assert instance.kinds == ["workflow_running"]
    assert instance.do("a") == 1
    assert instance.last.effects == [Settle(1)]
    step = instance.do("b")
    assert instance.last.effects == [RunAttempt(step, 1)]


def test_c084_a_restart_from_the_second_step_of_a_name_keeps_the_first() -> None:
    instance = abz_b()
    instance.tell(cmd.Restart("b", count=2, partial=True))
    assert names(instance) == ["a-1", "b-1", "z-1"]


def test_c085_a_restart_from_a_sleep_keeps_what_started_before_it() -> None:
    instance = abz_b()
    instance.tell(cmd.Restart("z", type="sleep", partial=True))
    assert names(instance) == ["a-1", "b-1"]


@pytest.mark.parametrize(
    ("restart", "name"),
    [
        pytest.param(cmd.Restart("z", partial=True), "z", id="c086 another kind"),
        pytest.param(cmd.Restart("b", count=3, partial=True), "b", id="c087 too high a count"),
        pytest.param(cmd.Restart("b", count=0, partial=True), "b", id="count 0"),
        pytest.param(cmd.Restart("b", type="bogus", partial=True), "b", id="c087 unknown type"),
        pytest.param(cmd.Restart(partial=True), "undefined", id="c088 no name"),
    ],
)
def test_c086_c087_c088_a_step_that_is_not_there_is_refused(restart: cmd.Restart, name: str) -> None:
    instance = abz_b()
    assert instance.tell(restart).refusal == Failure(
        "Error", f'WorkflowError: (instance.cannot_restart) Step "{name}" not found in execution history'
    )
    assert instance.state.epoch == 1


def test_c089_a_restart_from_a_failed_step_runs_it_again(instance: Instance) -> None:
    step = instance.do(config=ONCE)
    instance.failed(step)
    instance.raised()
    instance.tell(cmd.Restart("a", partial=True))
    instance.start()
    assert instance.do() != step
    assert instance.record(instance.state.last_step).live


def test_order_is_start_order_and_a_parallel_step_that_started_earlier_is_kept(instance: Instance) -> None:
    early, target, late = instance.do("early"), instance.do("target"), instance.do("late")
    for step in (late, target, early):
        instance.done(step)
    instance.tell(cmd.Restart("target", partial=True))
    assert names(instance) == ["early-1"]
    assert instance.state.timeline == [(False, early), (True, early)]


def test_what_started_earlier_and_is_unfinished_begins_anew(instance: Instance) -> None:
    nap, running = instance.sleep(10_000), instance.do("running")
    instance.done(instance.do("target"))
    instance.tell(cmd.Restart("target", partial=True))
    assert names(instance) == []
    instance.later(500).start()
    assert instance.sleep(10_000) != nap
    assert instance.state.next_due() == instance.now + 10_000
    assert instance.do("running") != running


def test_what_begins_anew_keeps_its_place_among_the_calls(instance: Instance) -> None:
    slow, fast = instance.do("slow"), instance.do("fast")
    instance.done(fast)
    instance.done(instance.do("target"))
    instance.tell(cmd.Restart("target", partial=True))
    assert instance.state.anew == {slow: ("do", "slow", 1)}
    assert instance.state.timeline == [(False, slow), (False, fast), (True, fast)]
    instance.start().do("slow")
    instance.tell(cmd.Restart("fast", partial=True))
    assert instance.state.anew == {slow: ("do", "slow", 1)}, "once, however often it begins anew"
    instance.tell(cmd.Restart())
    assert not instance.state.anew and not instance.state.timeline


def test_from_a_step_drops_buffered_events_and_keeps_delivered_ones(instance: Instance) -> None:
    instance.send()
    wait = instance.wait()
    instance.done(instance.do("target"))
    instance.send()
    instance.tell(cmd.Restart("target", partial=True))
    assert not instance.state.buffered
    assert instance.start().wait() == wait
    assert instance.record(wait).event == 1
    second = instance.wait()
    assert not instance.record(second).settled


def test_numbers_taken_inside_a_kept_step_stay_taken(instance: Instance) -> None:
    outer = instance.do("outer")
    given_up = instance.do("x", nth=1, **instance.inside(outer))
    deep = instance.do("y", nth=1, **instance.inside(given_up))
    instance.done(outer)
    after = instance.do("x", nth=2)
    instance.done(after)
    instance.done(instance.do("target"))
    instance.tell(cmd.Restart("target", partial=True))
    assert set(instance.state.records) == {outer, given_up, deep, after}
    instance.start()
    assert instance.do("x", nth=2) == after


@pytest.mark.parametrize("finished", [True, False])
def test_numbers_taken_inside_a_step_that_begins_anew_stay_taken_too(instance: Instance, finished: bool) -> None:
    outer = instance.do("outer")
    inner = instance.do("x", nth=1, **instance.inside(outer))
    if finished:
        instance.done(inner)
    after = instance.do("x", nth=2)
    instance.done(after)
    instance.done(instance.do("target"))
    instance.tell(cmd.Restart("target", partial=True))
    assert names(instance) == ["x-1", "x-2"]
    assert not instance.state.open and instance.record(inner).abandoned is not finished
    instance.start()
    assert instance.do("outer") != outer, "it did not finish"
    assert instance.do("x", nth=2) == after, "as the code numbers it, which skips what is nested"
    assert instance.last.effects == [Settle(after)]


def test_from_a_step_inside_a_finished_one_keeps_the_finished_one(instance: Instance) -> None:
    outer = instance.do("outer")
    inner = instance.do("x", nth=1, **instance.inside(outer))
    instance.done(inner)
    instance.done(outer)
    instance.done(instance.do("after"))
    instance.tell(cmd.Restart("x", partial=True))
    assert names(instance) == ["outer-1"]
