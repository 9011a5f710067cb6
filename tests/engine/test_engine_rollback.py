"""Undo functions: the states of a rollback."""

from __future__ import annotations

import pytest

from runtime.engine import Failure
from runtime.engine import commands as cmd
from runtime.engine.effects import CancelAttempt, CancelRollback, RunAttempt, RunRollback
from runtime.engine.failures import LOST, ROLLBACK_MISSING, ROLLBACK_PHASE, TERMINATED
from runtime.engine.rules import CELLD
from runtime.engine.views import PublicEvents, status
from tests.engine.driver import BOOM, ONCE, Instance

UNDO_FAILED = Failure("Error", "undo failed")


TIMED_OUT = Failure("Error", "WorkflowTimeoutError: Execution timed out after 200ms")


def undone(instance: Instance, step: int, error: Failure | None = None, **more: bool) -> None:
    """The undo function of the step ends."""
    assert instance.state.rollback is not None
    instance.tell(cmd.RollbackFinished(step, instance.state.rollback.attempt, error, **more))


def to_undo(instance: Instance) -> list[int]:
    """The steps that are still to be undone, in order."""
    assert instance.state.rollback is not None
    return instance.state.rollback.steps


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
    assert instance.kinds == ["rollback_started", "rollback_step_started"]
    instance.ring()
    assert instance.kinds == ["rollback_attempt_started"]
    assert instance.last.effects == [RunRollback(step, 1, TERMINATED)]
    undone(instance, step)
    assert instance.kinds == [
        "rollback_attempt_completed", "rollback_step_completed", "rollback_completed", "workflow_terminated",
    ]  # fmt: skip
    assert Failure("Error", "Instance terminated during rollback") == TERMINATED


def test_c078_terminate_with_rollback_of_a_paused_instance_undoes_once_there_is_a_run(instance: Instance) -> None:
    step = instance.do(rollback=True)
    instance.done(step)
    instance.sleep()
    instance.pause()
    instance.tell(cmd.Terminate(rollback=True))
    assert instance.ring(run=False).events == []
    instance.start().ring()
    assert instance.last.effects == [RunRollback(step, 1, TERMINATED)], "no attempt was lost on the way"
    undone(instance, step)
    assert instance.status() == "terminated"


def test_c079_plain_terminate_undoes_nothing(instance: Instance) -> None:
    instance.done(instance.do(rollback=True))
    instance.tell(cmd.Terminate())
    assert instance.kinds == ["workflow_terminated"]


def test_c223_c238_a_run_that_succeeds_undoes_nothing(instance: Instance) -> None:
    instance.failed(instance.do(config=ONCE, rollback=True))
    instance.returned()
    assert instance.kinds == ["workflow_completed"]


def test_c221_steps_are_undone_in_the_order_of_their_starts_and_not_of_their_ends(instance: Instance) -> None:
    first, second = instance.do("first", rollback=True), instance.do("second", rollback=True)
    for step in (second, first):
        instance.done(step)
    instance.raised()
    assert to_undo(instance) == [second, first]


def test_c222_c235_steps_that_failed_or_still_run_are_undone_too(instance: Instance) -> None:
    failed, running = instance.do("a", config=ONCE, rollback=True), instance.do("b", rollback=True)
    instance.failed(failed)
    instance.raised()
    assert to_undo(instance) == [running, failed]
    assert instance.record(running).abandoned


def test_c224_a_step_whose_error_was_caught_is_undone_when_the_instance_fails_later(instance: Instance) -> None:
    caught = instance.do("caught", config=ONCE, rollback=True)
    instance.failed(caught)
    later = Failure("Error", "later")
    instance.raised(later)
    assert instance.last.effects == [RunRollback(caught, 1, later)]


def test_steps_without_an_undo_function_are_passed_over(instance: Instance) -> None:
    first, plain, last = instance.do("a", rollback=True), instance.do("b"), instance.do("c", rollback=True)
    for step in (first, plain, last):
        instance.done(step)
    instance.raised()
    assert to_undo(instance) == [last, first]


def test_i3_what_still_runs_is_given_up_before_anything_is_undone(instance: Instance) -> None:
    done, running = instance.do("a", rollback=True), instance.do("b")
    instance.done(done)
    instance.tell(cmd.Terminate(rollback=True))
    assert instance.last.effects == [CancelAttempt(running, 1)]
    assert instance.done(running).events == []


def test_an_error_that_ends_an_instance_at_once_undoes_nothing(instance: Instance) -> None:
    instance.done(instance.do(rollback=True))
    instance.tell(cmd.RunDone(error=BOOM, fatal=True))
    assert instance.kinds == ["workflow_errored"]


def test_c226_the_first_undo_function_that_fails_for_good_ends_the_rollback(instance: Instance) -> None:
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


def test_c227_an_undo_that_may_not_be_retried_has_one_attempt(instance: Instance) -> None:
    step = instance.do(rollback=True)
    instance.raised()
    undone(instance, step, Failure("NonRetryableError", "no"))
    assert instance.status() == "errored"


def test_an_undo_that_outlives_its_timeout_is_given_up_and_tried_again(instance: Instance) -> None:
    config = {"timeout": 200, "retries": {"limit": 1, "delay": 50, "backoff": "constant"}}
    step = instance.do(rollback=True, rollback_config=config)
    instance.raised()
    instance.tell(cmd.RollbackTimedOut(step, 1))
    assert instance.last.effects == [CancelRollback(step, 1)]
    assert instance.tell(cmd.RollbackFinished(step, 1)).events == [], "a late answer is not heard"
    instance.later(50).ring()
    instance.tell(cmd.RollbackTimedOut(step, 1))
    assert instance.last.events == [], "nor a late alarm"
    instance.tell(cmd.RollbackTimedOut(step, 2))
    assert instance.state.rollback_result == ("failed", TIMED_OUT)
    assert instance.state.error == BOOM


def test_c234_an_undo_function_that_the_code_no_longer_has_fails_the_rollback_at_once(instance: Instance) -> None:
    first, second = instance.do("a", rollback=True), instance.do("b", rollback=True)
    for step in (first, second):
        instance.done(step)
    instance.tell(cmd.Terminate(rollback=True))
    instance.ring()
    undone(instance, second, missing=True)
    assert instance.kinds == [
        "rollback_attempt_errored", "rollback_step_errored", "rollback_errored", "workflow_terminated",
    ]  # fmt: skip
    assert instance.state.rollback_result == ("failed", ROLLBACK_MISSING)
    assert Failure("RollbackMissing", "Rollback function not available in registry") == ROLLBACK_MISSING


def test_c228_without_a_rollback_config_the_default_of_a_step_holds(instance: Instance) -> None:
    step = instance.do(rollback=True)
    instance.raised()
    undone(instance, step, UNDO_FAILED)
    assert instance.state.next_due() == instance.now + 10_000


def test_c228_the_start_of_a_rollback_shows_with_which_config_the_step_is_undone(instance: Instance) -> None:
    instance.do(rollback=True)
    instance.raised()
    shown = PublicEvents()
    (started,) = [e for e in map(shown.show, instance.events) if e is not None and e["type"] == "rollback_step_started"]
    retries = {"limit": 5, "delay": 10_000, "backoff": "exponential"}
    assert (started["stepName"], started["config"]) == ("a-1", {"retries": retries, "timeout": "10 minutes"})


@pytest.mark.parametrize("config", [{"timeout": 0}, {"retries": {"limit": -1, "delay": 1}}, [], "x", {"delay": 1}])
def test_c232_a_step_with_a_bad_rollback_config_is_refused(instance: Instance, config: object) -> None:
    instance.do("n", rollback=True, rollback_config=config)
    assert instance.last.refusal == Failure(
        "Error",
        'WorkflowFatalError: Rollback config for "n" is in a invalid format. '
        "See https://developers.cloudflare.com/workflows/build/sleeping-and-retrying/",
    )


def test_a_target_without_undo_functions_refuses_a_step_that_has_one() -> None:
    instance = Instance(CELLD).start()
    assert instance.do("n", rollback=True) == 0
    text = 'Step "n" has a rollback function, which the target "celld" does not support'
    assert instance.last.refusal == Failure("Error", f"WorkflowFatalError: {text}")
    assert instance.do("n") == 1


def test_c236_a_program_sees_a_running_instance_while_it_is_undone(instance: Instance) -> None:
    instance.do(rollback=True)
    instance.raised()
    assert status(instance.state) == {"status": "running", "output": None, "rollback": None}


def test_c237_after_a_rollback_a_program_sees_how_it_ended(instance: Instance) -> None:
    step = instance.do(rollback=True)
    instance.raised()
    undone(instance, step)
    assert status(instance.state) == {
        "status": "errored",
        "output": None,
        "error": {"name": "Error", "message": "boom"},
        "rollback": {"outcome": "complete", "error": None},
    }


def test_the_rollback_config_is_what_the_journal_first_recorded(instance: Instance) -> None:
    step = instance.do(rollback=True, rollback_config={"retries": {"limit": 0, "delay": 0}})
    instance.crash().start().do(rollback=True, rollback_config={"retries": {"limit": 9, "delay": 0}})
    config = instance.record(step).rollback_config
    assert config is not None and config.limit == 0


@pytest.mark.parametrize("kind", ["sleep", "wait"])
def test_no_new_sleep_or_wait_begins_during_a_rollback(instance: Instance, kind: str) -> None:
    instance.do(rollback=True)
    instance.raised()
    getattr(instance, kind)()
    assert instance.last.refusal == ROLLBACK_PHASE


def test_while_a_run_leaves_its_isolate_no_undo_begins(instance: Instance) -> None:
    first, second = instance.do("a", rollback=True), instance.do("b", rollback=True)
    instance.tell(cmd.RunDone(error=BOOM, held=True))
    assert RunRollback not in map(type, instance.last.effects) and not instance.state.busy
    instance.tell(cmd.RunLost())
    assert instance.last.events == [], "nothing was lost"
    instance.start().ring()
    assert instance.state.busy
    undone(instance, second, held=True)
    assert instance.kinds == ["rollback_attempt_completed", "rollback_step_completed", "rollback_step_started"]
    instance.crash().start().ring()
    assert instance.last.effects == [RunRollback(first, 1, BOOM)]


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


def test_a_step_that_a_restart_forgot_is_undone_again(instance: Instance) -> None:
    instance.done(instance.do(rollback=True))
    instance.raised()
    undone(instance, 1)
    instance.tell(cmd.Restart("a", partial=True))
    again = instance.start().do(rollback=True)
    instance.done(again)
    instance.raised()
    assert to_undo(instance) == [again]


def test_what_is_paused_before_its_first_attempt_is_undone_without_one(instance: Instance) -> None:
    running = instance.do("running")
    instance.pause()
    held = instance.do("held", rollback=True)
    assert RunAttempt(held, 1) not in instance.last.effects
    instance.tell(cmd.Terminate(rollback=True))
    assert to_undo(instance) == [held] and instance.record(running).abandoned


@pytest.mark.parametrize("command", [cmd.Pause(), cmd.Resume(), cmd.RunDone(output="1"), cmd.RunParked()])
def test_nothing_else_moves_a_rollback(instance: Instance, command: cmd.Command) -> None:
    instance.do(rollback=True)
    instance.raised()
    assert instance.tell(command).events == []
