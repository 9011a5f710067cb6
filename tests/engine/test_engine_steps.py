"""Steps: judged, run, settled, remembered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from runtime.engine import Failure, Record
from runtime.engine import commands as cmd
from runtime.engine.effects import CancelAttempt, RunAttempt, Settle
from tests.engine.driver import BOOM, ONCE, Instance, retries

DOCS = "See https://developers.cloudflare.com/workflows/build/sleeping-and-retrying/"


def test_c108_a_step_that_succeeds_leaves_these_events() -> None:
    instance = Instance().start()
    step = instance.do("a")
    instance.done(step)
    instance.returned()
    assert [type(event).__struct_config__.tag for event in instance.events] == [
        "created", "workflow_queued", "workflow_started", "workflow_running", "step_started", "attempt_started",
        "attempt_completed", "step_completed", "workflow_completed",
    ]  # fmt: skip


def test_an_attempt_is_journalled_before_it_runs(instance: Instance) -> None:
    step = instance.do("a")
    assert instance.kinds == ["step_started", "attempt_started"]
    assert instance.last.effects == [RunAttempt(step, 1)]


def test_attempt_and_step_complete_in_one_decision(instance: Instance) -> None:
    step = instance.do("a")
    decision = instance.done(step, '["value"]')
    assert instance.kinds == ["attempt_completed", "step_completed"]
    assert decision.effects == [Settle(step)]
    assert instance.record(step).output == '["value"]'


def test_a_step_that_fails_for_good_fails_in_one_decision(instance: Instance) -> None:
    step = instance.do("a", config=ONCE)
    instance.failed(step)
    assert instance.kinds == ["attempt_errored", "step_errored"]


def test_c127_calls_of_one_name_are_steps_of_their_own(instance: Instance) -> None:
    assert [instance.do("a"), instance.do("a"), instance.do("a"), instance.do("b")] == [1, 2, 3, 4]
    assert [record.label for record in instance.state.records.values()] == ["a-1", "a-2", "a-3", "b-1"]


def test_do_sleep_and_wait_may_share_a_name(instance: Instance) -> None:
    assert {instance.do("x"), instance.sleep(name="x"), instance.wait(name="x")} == {1, 2, 3}


def test_c181_a_settled_step_is_answered_and_not_run_again(instance: Instance) -> None:
    step = instance.do("a")
    instance.done(step)
    instance.crash().start()
    assert instance.do("a") == step
    assert instance.kinds == []
    assert instance.last.effects == [Settle(step)]


def test_c182_a_failure_is_remembered_too(instance: Instance) -> None:
    step = instance.do("a", config=ONCE)
    instance.failed(step)
    instance.crash().start().do("a", config=ONCE)
    assert instance.kinds == []
    assert instance.record(step).error == BOOM


def test_c183_the_first_config_wins(instance: Instance) -> None:
    step = instance.do("a", config=retries(limit=1))
    instance.crash().start().do("a", config=retries(limit=9))
    config = instance.record(step).config
    assert config is not None and config.limit == 1


def test_a_late_answer_of_an_earlier_attempt_is_not_heard(instance: Instance) -> None:
    step = instance.do("a", config=retries(delay=0))
    instance.tell(cmd.AttemptTimedOut(step, 1))
    assert instance.record(step).attempt == 2
    assert instance.done(step, '["late"]', attempt=1).events == []
    assert instance.failed(step, attempt=1).events == []
    assert instance.tell(cmd.AttemptTimedOut(step, 1)).events == []
    assert instance.record(step).live


def test_an_answer_to_a_settled_step_is_not_heard(instance: Instance) -> None:
    step = instance.do("a")
    instance.done(step)
    assert instance.done(step, '["again"]').events == []
    assert instance.record(step).output == '["done"]'


def test_answers_from_before_a_restart_are_not_heard(instance: Instance) -> None:
    old = instance.do("a")
    instance.tell(cmd.Restart())
    new = instance.start().do("a")
    assert new != old and instance.state.epoch == 2
    assert instance.tell(cmd.AttemptFinished(old, 1, output="[1]")).events == []
    assert instance.record(new).live


def test_c151_a_timeout_fails_the_attempt_with_its_length(instance: Instance) -> None:
    step = instance.do("a", config={**ONCE, "timeout": 50})
    decision = instance.tell(cmd.AttemptTimedOut(step, 1))
    assert decision.effects == [CancelAttempt(step, 1), Settle(step)]
    assert instance.record(step).error == Failure("Error", "WorkflowTimeoutError: Execution timed out after 50ms")


def test_c152_each_attempt_times_out_by_itself(instance: Instance) -> None:
    step = instance.do("a", config={**retries(limit=2, delay=0), "timeout": 60})
    for attempt in (1, 2, 3):
        assert instance.record(step).attempt == attempt
        instance.tell(cmd.AttemptTimedOut(step, attempt))
    assert instance.record(step).settled


def test_c175_a_timeout_of_zero_seconds_is_a_timeout_after_0ms(instance: Instance) -> None:
    step = instance.do("a", config={**ONCE, "timeout": "0 seconds"})
    instance.tell(cmd.AttemptTimedOut(step, 1))
    assert instance.record(step).error == Failure("Error", "WorkflowTimeoutError: Execution timed out after 0ms")


def test_c163_a_result_of_exactly_1_mib_is_kept(instance: Instance) -> None:
    step = instance.do("a")
    instance.done(step, size=1 << 20)
    assert instance.record(step).settled and instance.record(step).error is None


def test_c164_a_larger_result_fails_the_attempt(instance: Instance) -> None:
    step = instance.do("big", config=ONCE)
    instance.done(step, size=(1 << 20) + 1)
    assert instance.record(step).error == Failure(
        "Error", "WorkflowInternalError: Step big-1 output is too large. Maximum allowed size is 1MiB."
    )


def test_a_larger_result_is_tried_again(instance: Instance) -> None:
    step = instance.do("big", config=retries())
    instance.done(step, size=(1 << 20) + 1)
    assert instance.kinds == ["attempt_errored"]


@pytest.mark.parametrize("name", ["x" * 256, "", "\x7f", "é" * 256, "😀" * 128])
def test_c168_c171_names_of_256_units_and_empty_names_are_fine(instance: Instance, name: str) -> None:
    assert instance.do(name)


@pytest.mark.parametrize("name", ["x" * 257, "a\nb", "\x00", "😀" * 129, "\ud800" * 257])
def test_c169_c170_longer_names_and_control_characters_are_refused(instance: Instance, name: str) -> None:
    instance.do(name)
    assert instance.last.refusal == Failure(
        "Error",
        f'WorkflowFatalError: Step name "{name}" exceeds max length (256 chars) or invalid characters found',
    )
    assert instance.state.last_step == 0


def test_c173_a_config_in_an_invalid_format_is_refused_in_the_words_of_cloudflare(instance: Instance) -> None:
    instance.do("n", config={"retries": {"limit": 1}})
    assert instance.last.refusal == Failure(
        "Error", f'WorkflowFatalError: Step config for "n" is in a invalid format. {DOCS}'
    )


def test_c232_a_rollback_config_in_an_invalid_format_is_refused_in_the_words_of_cloudflare(instance: Instance) -> None:
    instance.do("n", rollback=True, rollback_config={"timeout": 0})
    assert instance.last.refusal == Failure(
        "Error", f'WorkflowFatalError: Rollback config for "n" is in a invalid format. {DOCS}'
    )


def test_rollback_options_are_judged_before_name_and_config(instance: Instance) -> None:
    instance.do("a\nb", config="bad", rollback=True, rollback_config={"timeout": 0})
    assert instance.last.refusal is not None and "Rollback config" in instance.last.refusal.message


def test_parallel_steps_settle_in_the_order_in_which_they_end(instance: Instance) -> None:
    first, second = instance.do("a"), instance.do("b")
    instance.done(second)
    instance.done(first)
    assert instance.state.timeline == [(False, first), (False, second), (True, second), (True, first)]


def test_c188_a_step_in_flight_does_not_keep_a_returned_run_alive(instance: Instance) -> None:
    step = instance.do("a")
    instance.returned()
    assert instance.status() == "complete"
    assert instance.done(step).events == []
    assert instance.record(step).abandoned


def test_calls_of_a_finished_instance_are_not_heard(instance: Instance) -> None:
    instance.returned()
    assert instance.do("a") == 0
    assert instance.raised().events == []
    assert instance.status() == "complete"


def test_an_instance_is_created_once() -> None:
    instance = Instance()
    with pytest.raises(AssertionError, match="created once"):
        instance.commit(instance.events[:1])


class Unsearched(dict[int, Record]):
    """Open calls that may be looked up, but not looked through."""

    def __iter__(self) -> Iterator[int]:
        raise AssertionError("this costs time for every open call")

    def values(self) -> Any:
        return iter(self)

    items = values


def test_a_step_costs_the_same_however_many_calls_are_open(instance: Instance) -> None:
    outer, other, waiting = instance.do("outer"), instance.do("other"), instance.wait()
    instance.do("inner", nth=1, **instance.inside(outer))
    instance.sleep(10)
    state = instance.state
    state.open = Unsearched(state.open)
    instance.check = False
    instance.later(10).ring()
    instance.failed(other)
    instance.send()
    instance.done(outer)
    instance.later(state.next_due() or 0).ring()
    assert [step for settled, step in state.timeline if settled] == [5, waiting, outer]


def test_limits_come_from_the_target() -> None:
    rules = replace(Instance().rules, max_result=5, max_step_name=3)
    instance = Instance(rules).start()
    step = instance.do("abc", config=ONCE)
    instance.done(step, size=6)
    assert instance.record(step).error is not None
    assert instance.do("abcd") == 0
