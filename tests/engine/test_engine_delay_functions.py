"""Delay functions: asked once per failed attempt, and what becomes of their answers."""

from __future__ import annotations

from typing import Any

import pytest

from runtime.engine import Failure
from runtime.engine import commands as cmd
from runtime.engine.effects import AskDelay, RunAttempt, Settle
from tests.engine.driver import BOOM, Instance, retries


def dynamic(instance: Instance, limit: int = 3, backoff: str = "constant", **more: Any) -> int:
    """A step whose delay is a function."""
    config = retries(limit=limit, delay="[dynamic]", backoff=backoff)
    return instance.do(config=config, delay_function=True, **more)


def answer(instance: Instance, step: int, value: Any = None, problem: str | None = None) -> None:
    attempt = instance.record(step).attempt
    instance.tell(cmd.DelayAnswered(step, attempt, value=value, problem=problem))


def test_c146_a_delay_function_is_asked_about_each_failure_but_the_last(instance: Instance) -> None:
    step = dynamic(instance)
    for attempt in (1, 2, 3):
        assert instance.failed(step).effects == [AskDelay(step, attempt, BOOM)]
        assert instance.kinds == ["delay_asked"]
        answer(instance, step, 0)
    instance.failed(step)
    assert instance.kinds == ["attempt_errored", "step_errored"]


def test_c111_the_backoff_applies_to_what_a_delay_function_answers(instance: Instance) -> None:
    step, waits = dynamic(instance, backoff="linear"), []
    for _ in range(3):
        instance.failed(step)
        answer(instance, step, 20)
        waits.append((instance.state.next_due() or 0) - instance.now)
        instance.later(waits[-1]).ring()
    assert waits == [20, 40, 60]


def test_the_delay_counts_from_the_answer(instance: Instance) -> None:
    step = dynamic(instance)
    instance.failed(step)
    instance.later(300)
    answer(instance, step, 100)
    assert instance.state.next_due() == instance.now + 100


def test_c147_a_delay_function_that_raises_fails_the_step(instance: Instance) -> None:
    step = dynamic(instance)
    instance.failed(step)
    answer(instance, step, problem="threw an error: dd")
    assert instance.last.effects == [Settle(step)]
    assert instance.record(step).error == Failure(
        "Error", 'NonRetryableDelayError: The delay function for step "a-1" threw an error: dd'
    )


@pytest.mark.parametrize("value", [-1, float("nan"), float("inf"), "zzz", {}, 10**400])
def test_c148_an_invalid_delay_from_a_delay_function_fails_the_step(instance: Instance, value: Any) -> None:
    step = dynamic(instance)
    instance.failed(step)
    answer(instance, step, value)
    error = instance.record(step).error
    assert error is not None and error.message.endswith(
        'returned an invalid delay value (expected a number of ms or a duration string like "30 seconds")'
    )


@pytest.mark.parametrize(("value", "ms"), [(None, 0), (True, 1), ("5", 5), ("30 seconds", 30_000)])
def test_c149_a_delay_function_may_give_none_or_true_or_a_text(instance: Instance, value: Any, ms: int) -> None:
    step = dynamic(instance)
    instance.failed(step)
    answer(instance, step, value)
    if ms:
        assert instance.state.next_due() == instance.now + ms
    else:
        assert instance.last.effects == [RunAttempt(step, 2)]


def test_an_answer_to_another_attempt_is_not_heard(instance: Instance) -> None:
    step = dynamic(instance)
    instance.failed(step)
    answer(instance, step, 0)
    assert instance.tell(cmd.DelayAnswered(step, 1, value=5)).events == []
    assert instance.record(step).live


def test_after_a_crash_the_retry_comes_a_second_after_the_function_was_asked(instance: Instance) -> None:
    step = dynamic(instance)
    instance.failed(step)
    asked = instance.now
    instance.later(400).crash()
    assert instance.kinds == ["attempt_errored"]
    assert instance.record(step).due == asked + 1000
    instance.start().later(600).ring()
    assert instance.last.effects == [RunAttempt(step, 2)]


def test_a_pause_does_not_wait_for_the_answer(instance: Instance) -> None:
    step = dynamic(instance)
    instance.failed(step)
    instance.pause()
    assert instance.kinds == ["workflow_waiting_for_pause", "attempt_errored", "workflow_paused"]
    instance.resume()
    instance.start()
    dynamic(instance)
    instance.later(1000).ring()
    assert instance.last.effects == [RunAttempt(step, 2)]


def test_a_pause_that_waited_for_another_step_does_not_wait_for_the_answer_either(instance: Instance) -> None:
    asking, other = dynamic(instance), instance.do("other")
    instance.failed(asking)
    instance.pause()
    assert instance.status() == "waitingForPause"
    instance.done(other)
    assert instance.status() == "paused" and not instance.state.asking
    instance.resume()
    instance.start()
    dynamic(instance)
    instance.later(1000).ring()
    assert instance.last.effects == [RunAttempt(asking, 2)]


def test_an_answer_during_a_pending_pause_sets_the_time_and_starts_nothing(instance: Instance) -> None:
    asking, other = dynamic(instance), instance.do("other")
    instance.failed(asking)
    instance.pause()
    answer(instance, asking, 0)
    assert instance.kinds == ["attempt_errored"]
    assert instance.status() == "waitingForPause"
    instance.done(other)
    assert instance.status() == "paused"


def test_a_failure_during_a_pending_pause_asks_nobody(instance: Instance) -> None:
    step = dynamic(instance)
    instance.pause()
    instance.failed(step)
    assert instance.kinds == ["attempt_errored", "workflow_paused"]
    assert instance.record(step).due == instance.now + 1000


def test_a_question_inside_a_step_is_dropped_when_the_step_ends_and_the_pause_with_it(instance: Instance) -> None:
    outer = instance.do("outer")
    inner = dynamic(instance, nth=1, **instance.inside(outer))
    instance.failed(inner)
    instance.pause()
    instance.done(outer)
    assert instance.kinds == ["attempt_completed", "step_completed", "workflow_paused"]
    assert instance.record(inner).abandoned and not instance.state.asking
