"""Limits that the engine keeps, and results after which nothing goes on."""

from __future__ import annotations

from typing import Any

import pytest

from runtime.engine import Failure, fold
from runtime.engine import commands as cmd
from runtime.engine.effects import AbortRun
from runtime.engine.failures import STORAGE_LIMIT, bad_step_config, bad_stream, not_serialisable
from runtime.engine.rules import CLOUDFLARE, Rules
from tests.engine.driver import Instance, retries

FATAL = not_serialisable("a")


def fatal(instance: Instance, step: int, error: Failure = FATAL) -> None:
    instance.tell(cmd.AttemptFinished(step, instance.record(step).attempt, error=error, fatal=True))


def small(characters: int) -> Instance:
    """A running instance that may store this much besides its parameters."""
    instance = Instance(Rules(max_state=len("{}") + characters))
    return instance.start()


# ------------------------------------------------------------------------------------------------------- fatal results


def test_a_result_that_cannot_be_kept_at_all_ends_the_instance_at_once(instance: Instance) -> None:
    step = instance.do("a", config=retries(limit=5))

    fatal(instance, step)

    assert instance.kinds == ["attempt_errored", "step_errored", "workflow_errored"]
    assert instance.last.effects == [AbortRun()]
    assert instance.state.error == Failure(
        "WorkflowFatalError",
        'The execution of the Workflow instance was terminated, as the step "a" returned a value which is '
        "not serialisable",
    )


def test_no_rollback_function_runs_after_it(instance: Instance) -> None:
    instance.done(instance.do("undone", rollback=True))

    fatal(instance, instance.do("a", rollback=True))

    assert instance.status() == "errored"
    assert instance.state.rollback_result is None


def test_what_runs_beside_it_is_given_up(instance: Instance) -> None:
    outer = instance.do("outer")
    inner = instance.do("inner", **instance.inside(outer))
    beside = instance.do("beside")

    fatal(instance, inner)

    assert (instance.state.open, instance.state.live) == ({}, set())
    assert not instance.done(beside).events


def test_it_ends_an_instance_that_is_about_to_pause(instance: Instance) -> None:
    step = instance.do("a")
    instance.pause()

    fatal(instance, step)

    assert instance.status() == "errored"


def test_a_late_one_of_a_given_up_attempt_ends_nothing(instance: Instance) -> None:
    step = instance.do("a", config=retries())
    instance.tell(cmd.AttemptTimedOut(step, 1))

    instance.tell(cmd.AttemptFinished(step, 1, error=FATAL, fatal=True))

    assert instance.status() == "running"


def test_a_bad_stream_names_the_step_and_what_is_wrong_with_it() -> None:
    detail = "Step returned a ReadableStream that is already locked or otherwise unreadable."
    assert bad_stream("a", detail) == Failure(
        "WorkflowFatalError",
        'The execution of the Workflow instance was terminated, as the step "a" returned an invalid ReadableStream '
        f"output. {detail}",
    )


# ------------------------------------------------------------------------------------------------------------- storage


def test_the_result_that_exceeds_the_storage_limit_ends_the_instance() -> None:
    instance = small(20)
    instance.done(instance.do("a", rollback=True), output="x" * 20)
    assert instance.state.stored == 22

    instance.done(instance.do("b"), output="x")

    assert instance.kinds == ["attempt_errored", "step_errored", "workflow_errored"]
    assert instance.state.error == STORAGE_LIMIT
    assert STORAGE_LIMIT.name == "WorkflowFatalError"
    assert STORAGE_LIMIT.message == "The instance has exceeded the 1GiB storage limit"


def test_an_event_that_exceeds_the_storage_limit_ends_the_instance() -> None:
    instance = small(5)
    instance.send("go", "[123]")
    assert instance.status() == "running"

    instance.send("go", "1")

    assert (instance.kinds, instance.last.effects) == (["workflow_errored"], [AbortRun()])
    assert instance.state.error == STORAGE_LIMIT


@pytest.mark.parametrize("status", ["paused", "waiting"])
def test_it_does_so_too_when_the_instance_is(status: str) -> None:
    instance = small(5)
    instance.wait()
    instance.tell(cmd.RunParked() if status == "waiting" else cmd.Pause())
    assert instance.status() == status

    instance.send("other", "[12345]")

    assert instance.status() == "errored"


def test_what_a_restart_forgets_takes_no_room_any_more() -> None:
    instance = small(100)
    instance.done(instance.do("a"), output="x" * 40)
    instance.send("go", "x" * 30)
    instance.wait()
    instance.done(instance.do("b"), output="x" * 20)
    assert instance.state.stored == 92

    instance.tell(cmd.Restart("b", partial=True))
    assert instance.state.stored == 72
    instance.tell(cmd.Restart())

    assert instance.state.stored == 2
    assert fold(instance.events).stored == 2


def test_a_gibibyte_is_the_limit() -> None:
    assert CLOUDFLARE.max_state == 1 << 30


# ------------------------------------------------------------------------------------------------------------- configs


@pytest.mark.parametrize(
    "config",
    [
        {"retries": {"limit": -1, "delay": 1}},
        {"retries": {"limit": float("inf"), "delay": 1}},
        {"retries": {"limit": 1, "delay": 1, "backoff": "weird"}},
        {"retries": {"limit": 1, "delay": -1}},
        {"extra": 1},
        {"timeout": 0},
        {"timeout": -1},
        {"timeout": "garbage"},
        {"sensitive": True},
    ],
)
def test_c174_a_config_that_is_refused_leaves_no_step(instance: Instance, config: dict[str, Any]) -> None:
    instance.do("n", config=config)

    assert instance.last.refusal == bad_step_config("n")
    assert instance.state.last_step == 0


def test_ten_thousand_retries_are_the_most(instance: Instance) -> None:
    assert instance.do("a", config=retries(limit=10_000))
    assert not instance.do("b", config=retries(limit=10_001))
