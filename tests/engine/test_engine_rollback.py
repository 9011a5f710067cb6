"""Undo functions: the states of a rollback."""

from __future__ import annotations

import pytest

from runtime.engine import Failure
from runtime.engine import commands as cmd
from runtime.engine.control import TERMINATED
from runtime.engine.effects import RunRollback
from runtime.engine.failures import LOST
from runtime.engine.views import status
from tests.engine.driver import BOOM, ONCE, Instance

UNDO_FAILED = Failure("Error", "undo failed")


def undone(instance: Instance, step: int, error: Failure | None = None) -> None:
    """The undo function of the step ends."""
    assert instance.state.rollback is not None
    instance.tell(cmd.RollbackFinished(step, instance.state.rollback.attempt, error))


def test_c220_undo_functions_run_in_reverse_start_order_and_the_error_stays(instance: Instance) -> None:
    steps = [instance.do(name, rollback=True) for name in ("a", "b", "c")]
    for step in steps:
        instance.done(step)
    instance.raised()
    assert instance.kinds == ["rollback_started", "rollback_step_started", "rollback_attempt_started"]
    order = []
    for _ in steps:
        assert instance.state.rollback is not None
        assert [type(effect) for effect in instance.last.effects] == [RunRollback]
        order.append(instance.state.rollback.steps[0])
        undone(instance, order[-1])
    assert order == steps[::-1]
    assert instance.status() == "errored" and instance.state.error == BOOM
    assert instance.state.rollback_result == ("complete", None)


def test_c076_c077_terminate_with_rollback_leaves_these_events_and_this_error(instance: Instance) -> None:
    step = instance.do(rollback=True)
    instance.done(step)
    instance.tell(cmd.Terminate(rollback=True))
    assert instance.last.effects == [RunRollback(step, 1, TERMINATED)]
    undone(instance, step)
    assert instance.kinds == [
        "rollback_attempt_completed", "rollback_step_completed", "rollback_completed", "workflow_terminated",
    ]  # fmt: skip
    assert TERMINATED.message == "Instance terminated during rollback"


def test_c079_plain_terminate_undoes_nothing(instance: Instance) -> None:
    instance.done(instance.do(rollback=True))
    instance.tell(cmd.Terminate())
    assert instance.kinds == ["workflow_terminated"]


def test_c223_c238_a_run_that_succeeds_undoes_nothing(instance: Instance) -> None:
    instance.failed(instance.do(config=ONCE, rollback=True))
    instance.returned()
    assert instance.kinds == ["workflow_completed"]


def test_c222_c235_steps_that_failed_or_still_run_are_undone_too(instance: Instance) -> None:
    failed, running = instance.do("a", config=ONCE, rollback=True), instance.do("b", rollback=True)
    instance.failed(failed)
    instance.raised()
    assert instance.state.rollback is not None and instance.state.rollback.steps == [running, failed]
    assert instance.record(running).abandoned


def test_c226_the_first_undo_that_fails_for_good_ends_the_rollback(instance: Instance) -> None:
    first = instance.do("a", rollback=True)
    config = {"retries": {"limit": 1, "delay": 50, "backoff": "constant"}}
    second = instance.do("b", rollback=True, rollback_config=config)
    for step in (first, second):
        instance.done(step)
    instance.raised()
    undone(instance, second, UNDO_FAILED)
    assert instance.kinds == ["rollback_attempt_errored"]
    assert instance.state.next_due() == instance.now + 50
    instance.later(50).ring()
    assert instance.last.effects == [RunRollback(second, 2, BOOM)]
    undone(instance, second, UNDO_FAILED)
    assert instance.kinds == [
        "rollback_attempt_errored", "rollback_step_errored", "rollback_errored", "workflow_errored",
    ]  # fmt: skip
    assert instance.state.error == BOOM
    assert status(instance.state)["rollback"] == {
        "outcome": "failed",
        "error": {"name": "Error", "message": "undo failed"},
    }


def test_c227_an_undo_that_may_not_be_retried_is_not(instance: Instance) -> None:
    step = instance.do(rollback=True)
    instance.raised()
    undone(instance, step, Failure("NonRetryableError", "no"))
    assert instance.status() == "errored"


def test_c228_without_a_rollback_config_the_steps_default_holds(instance: Instance) -> None:
    step = instance.do(rollback=True)
    instance.raised()
    undone(instance, step, UNDO_FAILED)
    assert instance.state.next_due() == instance.now + 10_000


def test_the_rollback_config_is_what_the_journal_first_recorded(instance: Instance) -> None:
    step = instance.do(rollback=True, rollback_config={"retries": {"limit": 0, "delay": 0}})
    instance.crash().start().do(rollback=True, rollback_config={"retries": {"limit": 9, "delay": 0}})
    config = instance.record(step).rollback_config
    assert config is not None and config.limit == 0


def test_no_new_step_begins_during_a_rollback(instance: Instance) -> None:
    step = instance.do(rollback=True)
    instance.done(step)
    instance.raised()
    instance.crash().start()
    assert instance.do(rollback=True) == step
    assert instance.do("new") == 0
    assert instance.last.refusal == Failure("Error", "WorkflowFatalError: Cannot execute steps during rollback phase")


def test_a_late_answer_of_an_earlier_undo_is_not_heard(instance: Instance) -> None:
    step = instance.do(rollback=True)
    instance.raised()
    undone(instance, step, UNDO_FAILED)
    assert instance.tell(cmd.RollbackFinished(step, 1)).events == []
    instance.later(10_000).ring()
    assert instance.tell(cmd.RollbackFinished(step, 1)).events == []


def test_a_rollback_goes_on_after_a_crash_where_it_was(instance: Instance) -> None:
    first, second = instance.do("a", rollback=True), instance.do("b", rollback=True)
    instance.raised()
    undone(instance, second)
    instance.crash()
    assert instance.kinds == ["rollback_attempt_errored"]
    assert instance.ring(run=False).events == [], "the undo lives in the code"
    instance.start().ring()
    assert instance.last.effects == [RunRollback(first, 2, BOOM)]


def test_an_undo_that_kills_its_process_every_time_ends(instance: Instance) -> None:
    config = {"retries": {"limit": 2, "delay": 10, "backoff": "constant"}}
    instance.do(rollback=True, rollback_config=config)
    instance.raised()
    for _ in range(3):
        instance.crash().start().later(10).ring()
    instance.crash()
    assert instance.state.rollback_result == ("failed", LOST)


def test_terminate_during_a_rollback_does_not_undo_twice(instance: Instance) -> None:
    step = instance.do(rollback=True)
    instance.raised()
    assert instance.tell(cmd.Terminate(rollback=True)).events == []
    undone(instance, step)
    assert instance.status() == "errored"


def test_plain_terminate_ends_a_rollback(instance: Instance) -> None:
    instance.do(rollback=True)
    instance.raised()
    instance.tell(cmd.Terminate())
    assert instance.status() == "terminated" and instance.state.rollback is None


def test_a_step_is_undone_once_even_if_the_instance_fails_again_after_a_restart_from_a_later_step(
    instance: Instance,
) -> None:
    kept, target = instance.do("kept", rollback=True), instance.do("target", rollback=True)
    for step in (kept, target):
        instance.done(step)
    instance.raised()
    for step in (target, kept):
        undone(instance, step)
    instance.tell(cmd.Restart("target", partial=True))
    again = instance.start().do("target", rollback=True)
    instance.raised()
    assert instance.state.rollback is not None and instance.state.rollback.steps == [again]


@pytest.mark.parametrize("command", [cmd.Pause(), cmd.Resume(), cmd.RunDone(output="1"), cmd.RunParked()])
def test_nothing_else_moves_a_rollback(instance: Instance, command: cmd.Command) -> None:
    instance.do(rollback=True)
    instance.raised()
    assert instance.tell(command).events == []
