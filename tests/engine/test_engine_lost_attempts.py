"""Attempts lost with their isolate or host."""

from __future__ import annotations

from runtime.engine.effects import RunAttempt
from runtime.engine.failures import LOST
from tests.engine.driver import BOOM, Instance, retries


def test_c210_c211_a_lost_attempt_is_journalled_as_failed_and_tried_again_at_once(instance: Instance) -> None:
    step = instance.do(config=retries(limit=0))
    instance.crash()
    assert instance.kinds == ["attempt_errored"]
    assert instance.last.events[0].error == LOST  # type: ignore[attr-defined]
    assert instance.state.next_due() == instance.now
    instance.start().do()
    assert instance.last.effects == [RunAttempt(step, 2)]
    instance.done(step)
    assert instance.record(step).error is None


def test_c213_a_crash_in_a_retry_delay_costs_no_attempt(instance: Instance) -> None:
    step = instance.do(config=retries(delay=1000))
    instance.failed(step)
    instance.later(400).crash()
    assert instance.kinds == []
    instance.start().do()
    instance.later(599).ring()
    assert instance.kinds == []
    instance.later(1).ring()
    assert instance.last.effects == [RunAttempt(step, 2)]


def test_a_step_that_kills_its_process_every_time_ends(instance: Instance) -> None:
    step, waits = instance.do(config=retries(limit=3, delay=100, backoff="linear")), []
    for _ in range(5):
        instance.crash()
        due = instance.record(step).due
        if due is not None:
            waits.append(due - instance.now)
            instance.later(waits[-1]).start().do()
    assert waits == [0, 100, 200, 300]
    assert instance.record(step).error == LOST


def test_losses_that_do_not_follow_one_another_are_each_the_first(instance: Instance) -> None:
    step = instance.do(config=retries(limit=9, delay=100))
    instance.crash()
    instance.start().do()
    instance.failed(step)
    instance.later(100).ring()
    instance.crash()
    assert instance.record(step).due == instance.now


def test_a_lost_attempt_counts_against_the_limit_when_a_later_one_fails(instance: Instance) -> None:
    step = instance.do(config=retries(limit=1, delay=0))
    instance.crash().start().do()
    instance.failed(step)
    assert instance.record(step).error == BOOM


def test_a_loss_of_a_step_with_a_delay_function_asks_nobody(instance: Instance) -> None:
    config = retries(delay="[dynamic]")
    step = instance.do(config=config, delay_function=True)
    instance.crash().start().do(config=config)
    instance.crash()
    assert instance.record(step).due == instance.now + 1000


def test_all_that_was_running_is_lost_together_and_steps_inside_others_go_with_them(instance: Instance) -> None:
    a, b = instance.do("a"), instance.do("b")
    inner = instance.do("x", nth=1, **instance.inside(a))
    deep = instance.do("y", nth=1, **instance.inside(inner))
    instance.crash()
    assert instance.kinds == ["attempt_errored", "attempt_errored"]
    assert [instance.record(step).abandoned for step in (a, b, inner, deep)] == [False, False, True, True]
    assert not instance.state.live
    instance.start()


def test_a_run_lost_with_nothing_running_leaves_no_trace(instance: Instance) -> None:
    instance.sleep()
    assert instance.crash().last.events == []
    instance.returned()
    assert instance.crash().last.events == []
