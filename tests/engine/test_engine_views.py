"""What programs see: status(), and what subscribe() delivers."""

from __future__ import annotations

from typing import Any

from runtime.engine import Failure
from runtime.engine import commands as cmd
from runtime.engine.views import PUBLIC, PublicEvents, Value, context_config, show_config, status
from tests.engine.driver import NOW, ONCE, Instance, retries


def shown(instance: Instance, *kinds: str) -> list[dict[str, Any]]:
    """The public events, of these kinds if some are given."""
    view = PublicEvents()
    public = [event for event in map(view.show, instance.events) if event is not None]
    return [event for event in public if not kinds or event["type"] in kinds]


def test_c046_a_complete_instance_has_its_output_and_no_error(instance: Instance) -> None:
    instance.returned('["out"]')
    assert status(instance.state) == {"status": "complete", "output": Value('["out"]'), "rollback": None}


def test_c049_an_errored_instance_has_name_and_message_of_its_error(instance: Instance) -> None:
    instance.raised(Failure("RangeError", "rr"))
    assert status(instance.state) == {
        "status": "errored",
        "output": None,
        "error": {"name": "RangeError", "message": "rr"},
        "rollback": None,
    }


def test_c045_a_sleeping_instance_is_waiting(instance: Instance) -> None:
    instance.sleep()
    instance.tell(cmd.RunParked())
    assert status(instance.state)["status"] == "waiting"


def test_c236_c237_during_a_rollback_the_status_is_running_and_after_it_the_outcome_is_told(
    instance: Instance,
) -> None:
    step = instance.do(rollback=True)
    instance.raised()
    assert status(instance.state)["status"] == "running"
    instance.tell(cmd.RollbackFinished(step, 1))
    assert status(instance.state)["rollback"] == {"outcome": "complete", "error": None}


def test_c108_c124_public_events_are_numbered_from_one_and_carry_these_fields(instance: Instance) -> None:
    instance.done(instance.do("a"))
    instance.returned()
    public = shown(instance)
    assert [event["eventId"] for event in public] == list(range(1, 9))
    assert {(event["instanceId"], event["timestamp"]) for event in public} == {("id", NOW)}
    assert public[1] == {
        "type": "workflow_started", "instanceId": "id", "eventId": 2, "timestamp": NOW, "params": Value("{}"),
    }  # fmt: skip
    assert public[3]["config"] == {
        "retries": {"limit": 5, "delay": 10_000, "backoff": "exponential"},
        "timeout": "10 minutes",
    }
    assert public[4]["stepName"] == "a-1" and public[4]["attempt"] == 1
    assert public[6]["output"] == Value('["done"]')
    assert public[7]["output"] == Value('["out"]')


def test_internal_events_are_neither_shown_nor_numbered(instance: Instance) -> None:
    instance.send()
    instance.pause()
    instance.resume()
    kinds = [event["type"] for event in shown(instance)]
    assert kinds == [
        "workflow_queued", "workflow_started", "workflow_running", "workflow_waiting_for_pause", "workflow_paused",
    ]  # fmt: skip
    assert set(kinds) <= PUBLIC


def test_c109_c110_only_a_retried_attempt_tells_its_delay(instance: Instance) -> None:
    step = instance.do(config=retries(limit=2, delay=0))
    for _ in range(3):
        instance.failed(step)
    errored = shown(instance, "attempt_errored")
    assert [event.get("retryDelayMs") for event in errored] == [0, 0, None]
    assert [event["attempt"] for event in errored] == [1, 2, 3]
    assert errored[0]["error"] == {"name": "Error", "message": "boom"}
    assert shown(instance, "step_errored")[0].keys() == {"type", "instanceId", "eventId", "timestamp", "stepName"}


def test_c111_a_delay_function_is_shown_as_dynamic_and_hidden_from_the_step(instance: Instance) -> None:
    step = instance.do(config=retries(delay="[dynamic]"), delay_function=True)
    config = instance.record(step).config
    assert config is not None
    assert show_config(config)["retries"]["delay"] == "[dynamic]"
    assert context_config(config)["retries"] == {"limit": 3, "backoff": "constant"}


def test_c112_sleeps_are_counted_by_name_and_duration(instance: Instance) -> None:
    for duration in (10, 10, 20):
        instance.sleep(duration)
    sleeps = shown(instance, "sleep_started")
    assert [(event["stepName"], str(event["durationMs"])) for event in sleeps] == [
        ("s-1", "10"), ("s-2", "10"), ("s-1", "20"),
    ]  # fmt: skip


def test_sleeps_that_a_restart_repeats_are_counted_anew(instance: Instance) -> None:
    instance.sleep(0)
    instance.done(instance.do("target"))
    instance.sleep(0)
    instance.sleep(10)
    instance.tell(cmd.Restart("target", partial=True))
    instance.start().do("target")
    instance.sleep(0, nth=2)
    instance.sleep(10, nth=3)
    names = [event["stepName"] for event in shown(instance, "sleep_started")]
    assert names == ["s-1", "s-2", "s-1", "s-2", "s-1"]


def test_c113_a_wait_shows_its_type_and_its_timeout(instance: Instance) -> None:
    instance.wait("go", timeout=100)
    instance.later(100).ring()
    started, over = shown(instance, "wait_started", "wait_timed_out")
    assert started["eventType"] == "go"
    assert over["stepName"] == "w-1"


def test_a_step_without_a_result_has_no_output(instance: Instance) -> None:
    instance.done(instance.do(), "-1")
    assert "output" not in shown(instance, "step_completed")[0]


def test_c114_c186_the_output_of_a_sensitive_step_is_redacted_and_that_of_the_workflow_is_not(
    instance: Instance,
) -> None:
    instance.done(instance.do(config={"sensitive": "output"}), '["secret"]')
    instance.returned('["secret"]')
    assert shown(instance, "step_completed")[0]["output"] == "[REDACTED]"
    assert shown(instance, "workflow_completed")[0]["output"] == Value('["secret"]')
    assert shown(instance, "step_started")[0]["config"]["sensitive"] == "output"


def test_c187_the_error_of_a_sensitive_step_is_not_redacted(instance: Instance) -> None:
    instance.failed(instance.do(config={**ONCE, "sensitive": "output"}))
    assert shown(instance, "attempt_errored")[0]["error"]["message"] == "boom"


def test_c115_pause_and_resume_show_these_events(instance: Instance) -> None:
    step = instance.do()
    instance.pause()
    instance.done(step)
    instance.resume()
    instance.start()
    assert [event["type"] for event in shown(instance)][5:] == [
        "workflow_waiting_for_pause", "attempt_completed", "step_completed", "workflow_paused", "workflow_running",
    ]  # fmt: skip


def test_c082_after_a_full_restart_numbers_begin_again_and_after_a_partial_one_they_go_on(instance: Instance) -> None:
    instance.done(instance.do())
    instance.tell(cmd.Restart("a", partial=True))
    instance.start()
    assert shown(instance)[-1]["eventId"] == 8
    instance.tell(cmd.Restart())
    instance.start()
    assert [(event["eventId"], event["type"]) for event in shown(instance)[-3:]] == [
        (1, "workflow_queued"), (2, "workflow_started"), (3, "workflow_running"),
    ]  # fmt: skip


def test_c076_rollback_events_show_step_attempt_and_error(instance: Instance) -> None:
    step = instance.do(rollback=True)
    instance.raised()
    instance.tell(cmd.RollbackFinished(step, 1, Failure("NonRetryableError", "no")))
    attempt, failed = shown(instance, "rollback_attempt_errored", "rollback_step_errored")
    assert (attempt["stepName"], attempt["attempt"]) == ("a-1", 1) and "retryDelayMs" not in attempt
    assert failed["error"] == {"name": "NonRetryableError", "message": "no"}
