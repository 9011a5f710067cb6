"""Calls made inside a step's callback."""

from __future__ import annotations

from runtime.engine import commands as cmd
from runtime.engine.effects import AbortRun, AskDelay, CancelAttempt, RunAttempt, Settle
from tests.engine.driver import Instance, retries


def test_c184_a_step_inside_a_step_is_a_step_of_its_own(instance: Instance) -> None:
    outer = instance.do("outer")
    inner = instance.do("inner", nth=1, **instance.inside(outer))
    assert instance.last.effects == [RunAttempt(inner, 1)]
    instance.done(inner)
    assert instance.last.effects == [Settle(inner)]
    instance.done(outer)
    assert instance.record(inner).parent == outer and instance.record(inner).settled


def test_c185_a_new_attempt_of_the_outer_step_runs_the_inner_one_again(instance: Instance) -> None:
    outer = instance.do("outer", config=retries(delay=0))
    first = instance.do("inner", nth=1, **instance.inside(outer))
    instance.done(first)
    instance.failed(outer)
    second = instance.do("inner", nth=2, **instance.inside(outer))
    assert instance.last.effects == [RunAttempt(second, 1)]
    assert second != first


def test_what_an_attempt_left_unfinished_inside_is_given_up_with_it(instance: Instance) -> None:
    outer = instance.do("outer", config=retries())
    inside = instance.inside(outer)
    step, nap, wait = instance.do("x", nth=1, **inside), instance.sleep(nth=1, **inside), instance.wait(nth=1, **inside)
    deep = instance.do("y", nth=1, **instance.inside(step))
    instance.tell(cmd.AttemptTimedOut(outer, 1))
    assert instance.last.effects == [CancelAttempt(outer, 1)]
    assert all(instance.record(s).abandoned for s in (step, nap, wait, deep))
    assert list(instance.state.open) == [outer] and not instance.state.live
    assert instance.done(step).events == [], "and nobody hears of it"
    instance.send()
    assert instance.kinds == ["event_received"], "an abandoned wait takes no event"


def test_code_that_goes_on_after_its_timeout_is_not_heard(instance: Instance) -> None:
    outer = instance.do("outer", config=retries(delay=0))
    dead = instance.inside(outer)
    instance.tell(cmd.AttemptTimedOut(outer, 1))
    assert instance.do("inner", nth=1, **dead) == 0
    assert instance.last.effects == [] and instance.last.refusal is None


def test_the_number_of_a_call_that_is_not_heard_is_taken(instance: Instance) -> None:
    outer = instance.do("a", config=retries(delay=0))
    dead = instance.inside(outer)
    instance.tell(cmd.AttemptTimedOut(outer, 1))
    instance.do("a", nth=2, **dead)
    assert instance.kinds == ["number_taken"]
    instance.do("a", nth=2, **dead)
    assert instance.kinds == [], "once"

    assert instance.crash().state.taken == [("do", "a", 2)], "on every replay, so that run() passes it over again"
    instance.tell(cmd.Restart())
    assert instance.state.taken == [], "code that begins anew numbers anew"


def test_code_that_goes_on_after_its_step_has_ended_is_not_heard(instance: Instance) -> None:
    outer = instance.do("outer")
    dead = instance.inside(outer)
    instance.done(outer)
    assert instance.do("inner", nth=1, **dead) == 0


def test_a_call_that_was_given_up_is_never_answered(instance: Instance) -> None:
    outer = instance.do("outer")
    instance.do("inner", nth=1, **instance.inside(outer))
    instance.done(outer)
    instance.do("inner", nth=1)
    assert instance.last.events == [] and instance.last.effects == []


def test_a_pending_pause_lets_the_inside_of_a_running_step_go_on(instance: Instance) -> None:
    outer = instance.do("outer")
    instance.pause()
    inner = instance.do("inner", nth=1, config=retries(), **instance.inside(outer))
    assert instance.last.effects == [RunAttempt(inner, 1)], "else the pause waits for the step, and the step for it"
    instance.failed(inner)
    assert instance.kinds == ["attempt_errored"] and instance.status() == "waitingForPause"
    assert instance.state.next_due() == instance.now + 100
    instance.later(100).ring()
    assert instance.last.effects == [RunAttempt(inner, 2)]
    instance.done(inner)
    assert instance.last.effects == [Settle(inner)]
    instance.done(outer)
    assert instance.last.effects == [AbortRun()]
    assert instance.status() == "paused"


def test_a_pending_pause_lets_delay_functions_inside_a_running_step_answer(instance: Instance) -> None:
    outer = instance.do("outer")
    config = retries(delay="[dynamic]")
    inner = instance.do("inner", nth=1, config=config, delay_function=True, **instance.inside(outer))
    instance.pause()
    instance.failed(inner)
    assert [type(effect) for effect in instance.last.effects] == [AskDelay]
    instance.tell(cmd.DelayAnswered(inner, 1, value=0))
    assert instance.last.effects == [RunAttempt(inner, 2)]


def test_a_pause_completes_with_the_outer_step_whatever_still_runs_inside(instance: Instance) -> None:
    outer = instance.do("outer")
    inner = instance.do("x", nth=1, **instance.inside(outer))
    instance.do("y", nth=1, **instance.inside(inner))
    instance.pause()
    instance.done(outer)
    assert instance.status() == "paused"
    assert not instance.state.live


def test_a_step_inside_waits_and_sleeps_like_any(instance: Instance) -> None:
    outer = instance.do("outer")
    wait = instance.wait(nth=1, **instance.inside(outer))
    nap = instance.sleep(100, nth=1, **instance.inside(outer))
    instance.send()
    assert instance.record(wait).settled
    instance.later(100).ring()
    assert instance.record(nap).settled
    assert instance.record(outer).live
