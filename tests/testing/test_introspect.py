"""Introspection of Workflows: the names, effects and texts of Cloudflare's test API, in Python (cases C239-C261)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from runtime.testing import (
    Instance,
    IntrospectionError,
    JsException,
    NonRetryableError,
    NothingMoves,
    Worker,
    introspect_workflow,
    introspect_workflow_instance,
)
from runtime.testing.introspect import InstanceIntrospector
from runtime.testing.modifier import Modifier

SOURCE = """
    from workers import WorkflowEntrypoint

    ran = []

    class Flow(WorkflowEntrypoint):
        async def run(self, event, step):
            @step.do("a", config={"retries": {"limit": 2, "delay": "10 seconds", "backoff": "constant"}})
            async def a():
                ran.append("a")
                return "real"
            return await a()

    class Sleeper(WorkflowEntrypoint):
        async def run(self, event, step):
            await step.sleep("h", "1 hour")
            await step.sleep("h", "2 hours")
            await step.sleep("other", "1 hour")
            return "awake"

    class Flaky(WorkflowEntrypoint):
        async def run(self, event, step):
            @step.do("b", config={"retries": {"limit": 2, "delay": "10 seconds", "backoff": "exponential"}})
            async def b():
                ran.append("b")
                raise RuntimeError("no")
            await b()

    class Waiter(WorkflowEntrypoint):
        async def run(self, event, step):
            first = await step.wait_for_event("w", "go")
            return first["payload"]

    class Twice(WorkflowEntrypoint):
        async def run(self, event, step):
            @step.do("b")
            async def b(ctx):
                return {"count": ctx["step"]["count"]}
            await b()
            await step.sleep("pause", "1 minute")
            @step.do("b")
            async def again(ctx):
                return {"count": ctx["step"]["count"]}
            await again()

            @step.do("secret", config={"sensitive": "output"})
            async def secret():
                return "hidden"
            await secret()
"""


@pytest.fixture
def worker(tmp_path: Path) -> Iterator[Worker]:
    with Worker.inline(tmp_path, SOURCE) as worker:
        yield worker


def introspected(worker: Worker, binding: str, id: str = "a") -> InstanceIntrospector:
    return introspect_workflow_instance(getattr(worker.env, binding), id)


def create(worker: Worker, binding: str, id: str = "a") -> Instance:
    instance: Instance = getattr(worker.env, binding).create(id=id)
    return instance


def attempts(worker: Worker, introspector: InstanceIntrospector) -> list[tuple[str, int]]:
    kinds = ("attempt_started", "attempt_errored", "attempt_completed")
    return [(e["kind"].removeprefix("attempt_"), e["attempt"]) for e in introspector.journal() if e["kind"] in kinds]


def output(worker: Worker, binding: str, change: Any) -> Any:
    """What a new instance gives that was modified before it was created."""
    introspector = introspected(worker, binding).modify(change)
    create(worker, binding)
    return introspector.get_output()


# ------------------------------------------------------------------------------------------------- sleeps and delays


def test_c239_disable_sleeps_lets_all_sleeps_be_over_at_once(worker: Worker) -> None:
    before = worker.clock.now
    assert output(worker, "SLEEPER", lambda m: m.disable_sleeps()) == "awake"
    assert worker.clock.now == before


def test_c240_disable_sleeps_of_a_name_leaves_the_others(worker: Worker) -> None:
    introspector = introspected(worker, "SLEEPER").modify(lambda m: m.disable_sleeps([{"name": "h", "index": 2}]))
    create(worker, "SLEEPER")
    worker.clock.advance("1 hour")
    slept = [e["step_name"] for e in introspector.journal() if e["kind"] == "sleep_completed"]
    assert slept == ["h-1", "h-2"]
    worker.clock.advance("1 hour")
    assert introspector.get_output() == "awake"


def test_c241_disable_retry_delays_keeps_the_attempts_and_the_delay_that_is_told(worker: Worker) -> None:
    introspector = introspected(worker, "FLAKY").modify(lambda m: m.disable_retry_delays())
    instance = create(worker, "FLAKY")
    assert worker.module.ran == ["b", "b", "b"]
    errored = [event for event in instance.events() if event["type"] == "attempt_errored"]
    assert [event.get("retryDelayMs") for event in errored] == [10_000, 20_000, None]
    assert introspector.get_error()["name"] == "PythonError"


def test_disable_retry_delays_of_one_step_leaves_the_others(worker: Worker) -> None:
    introspected(worker, "FLAKY").modify(lambda m: m.disable_retry_delays([{"name": "c"}]))
    create(worker, "FLAKY")
    assert worker.module.ran == ["b"]


# ----------------------------------------------------------------------------------------------------- mocked results


def test_c242_a_mocked_result_takes_the_place_of_the_callback_and_is_journalled(worker: Worker) -> None:
    introspector = introspected(worker, "FLOW").modify(lambda m: m.mock_step_result({"name": "a"}, {"n": [1, None]}))
    create(worker, "FLOW")
    assert introspector.get_output() == {"n": [1, None]}
    assert worker.module.ran == []
    assert attempts(worker, introspector) == [("started", 1), ("completed", 1)]


@pytest.mark.parametrize("falsy", [0, "", False, None, []])
def test_c243_a_mocked_result_may_be_falsy(worker: Worker, falsy: Any) -> None:
    assert output(worker, "FLOW", lambda m: m.mock_step_result({"name": "a"}, falsy)) == falsy
    assert worker.module.ran == []


def test_c244_mocking_a_result_without_giving_one_is_refused(worker: Worker) -> None:
    with pytest.raises(TypeError, match=r"^put\(\) called with undefined value\.$"):
        introspected(worker, "FLOW").modify(lambda m: m.mock_step_result({"name": "a"}))


def refusal(worker: Worker, change: Any) -> str:
    with pytest.raises(IntrospectionError) as caught:
        introspected(worker, "FLOW").modify(change)
    return str(caught.value)


def test_c245_a_step_is_mocked_once(worker: Worker) -> None:
    def twice(m: Modifier) -> None:
        m.mock_step_result({"name": "a"}, 1)
        m.mock_step_result({"name": "a"}, 2)

    assert refusal(worker, twice) == "[WorkflowIntrospector] Trying to mock step 'a' multiple times!"


def test_c246_mocking_an_error_after_a_result_is_refused(worker: Worker) -> None:
    def both(m: Modifier) -> None:
        m.mock_step_result({"name": "a"}, 1)
        m.mock_step_error({"name": "a"}, ValueError("x"))

    text = "[WorkflowIntrospector] Trying to mock error on step 'a' after mocking its result!"
    assert refusal(worker, both) == text


def test_c247_forcing_a_timeout_after_a_result_is_refused(worker: Worker) -> None:
    def both(m: Modifier) -> None:
        m.mock_step_result({"name": "a"}, 1)
        m.force_step_timeout({"name": "a"})

    text = "[WorkflowIntrospector] Trying to force timeout on step 'a' after mocking its result!"
    assert refusal(worker, both) == text


# ------------------------------------------------------------------------------------------------------ mocked errors


def impatient(change: Any) -> Any:
    """The modification, and no waiting for retries."""

    def both(m: Modifier) -> None:
        m.disable_retry_delays()
        change(m)

    return both


def test_c248_a_mocked_error_fails_all_attempts(worker: Worker) -> None:
    error = {"name": "RangeError", "message": "mm"}
    introspector = introspected(worker, "FLOW").modify(impatient(lambda m: m.mock_step_error({"name": "a"}, error)))
    create(worker, "FLOW")
    assert introspector.get_error() == error
    assert [a for a in attempts(worker, introspector) if a[0] == "errored"] == [
        ("errored", 1),
        ("errored", 2),
        ("errored", 3),
    ]
    assert worker.module.ran == []


def test_c249_a_mocked_error_with_times_fails_so_many_attempts(worker: Worker) -> None:
    change = impatient(lambda m: m.mock_step_error({"name": "a"}, ValueError("x"), 2))
    introspector = introspected(worker, "FLOW").modify(change)
    create(worker, "FLOW")
    assert introspector.get_output() == "real"
    assert attempts(worker, introspector)[-1] == ("completed", 3)
    assert worker.module.ran == ["a"]


def test_a_mocked_exception_reaches_the_code_as_a_raised_one_does(worker: Worker) -> None:
    introspector = introspected(worker, "FLOW").modify(
        lambda m: m.mock_step_error({"name": "a"}, NonRetryableError("final"))
    )
    create(worker, "FLOW")
    assert introspector.get_error() == {"name": "NonRetryableError", "message": "final"}
    assert attempts(worker, introspector) == [("started", 1), ("errored", 1)]
    with pytest.raises(NonRetryableError, match="final"):
        introspector.wait_for_step_result(name="a")


def test_windows_of_errors_and_timeouts_follow_one_another_before_the_result(worker: Worker) -> None:
    def change(m: Modifier) -> None:
        m.disable_retry_delays()
        m.mock_step_error("a", {"name": "Error", "message": "first"}, 1)
        m.force_step_timeout("a", 1)
        m.mock_step_result("a", "mocked")

    introspector = introspected(worker, "FLOW").modify(change)
    create(worker, "FLOW")
    errors = [e["error"]["message"] for e in introspector.journal() if e["kind"] == "attempt_errored"]
    assert errors == ["first", "WorkflowTimeoutError: Execution timed out after 0ms"]
    assert introspector.get_output() == "mocked"


def test_c250_a_forced_timeout_says_0ms(worker: Worker) -> None:
    introspector = introspected(worker, "FLOW").modify(impatient(lambda m: m.force_step_timeout({"name": "a"})))
    create(worker, "FLOW")
    assert introspector.get_error() == {
        "name": "Error",
        "message": "WorkflowTimeoutError: Execution timed out after 0ms",
    }


def test_c251_a_forced_timeout_with_times_leaves_the_next_attempt(worker: Worker) -> None:
    introspector = introspected(worker, "FLOW").modify(impatient(lambda m: m.force_step_timeout({"name": "a"}, 1)))
    create(worker, "FLOW")
    assert introspector.get_output() == "real"
    assert attempts(worker, introspector)[-1] == ("completed", 2)


# ------------------------------------------------------------------------------------------------------------- events


def test_c252_a_mocked_event_is_there_when_the_instance_starts(worker: Worker) -> None:
    change = impatient(lambda m: m.mock_event({"type": "go", "payload": {"x": 1}}))
    assert output(worker, "WAITER", change) == {"x": 1}


def test_an_event_can_be_mocked_for_an_instance_that_waits_already(worker: Worker) -> None:
    create(worker, "WAITER")
    introspector = introspected(worker, "WAITER").modify(lambda m: m.mock_event(type="go", payload="late"))
    assert introspector.get_output() == "late"


def test_a_mocked_event_of_an_impossible_type_is_refused(worker: Worker) -> None:
    with pytest.raises(JsException, match=r"workflow\.invalid_event_type"):
        introspected(worker, "WAITER").modify(lambda m: m.mock_event(type="a.b"))


def test_c253_a_forced_event_timeout_comes_at_once_whatever_event_is_there(worker: Worker) -> None:
    def change(m: Modifier) -> None:
        m.mock_event(type="go", payload=1)
        m.force_event_timeout({"name": "w"})

    before = worker.clock.now
    introspector = introspected(worker, "WAITER").modify(change)
    create(worker, "WAITER")
    assert introspector.get_error()["message"] == "WorkflowTimeoutError: Execution timed out after 86400000ms"
    assert worker.clock.now == before


# ------------------------------------------------------------------------------------------------------------ waiting


def test_c254_wait_for_step_result_takes_the_number_of_the_step(worker: Worker) -> None:
    introspector = introspected(worker, "TWICE")
    create(worker, "TWICE")
    with pytest.raises(NothingMoves, match="everything is at rest"):
        introspector.wait_for_step_result({"name": "b", "index": 2})
    worker.clock.advance("1 minute")
    assert introspector.wait_for_step_result({"name": "b", "index": 2}) == {"count": 2}
    assert introspector.wait_for_step_result(name="b", index=0) == {"count": 1}
    assert introspector.wait_for_step_result("secret") == "[REDACTED]"


def test_a_failed_step_gives_the_error_that_it_failed_with(worker: Worker) -> None:
    introspector = introspected(worker, "FLAKY").modify(lambda m: m.disable_retry_delays())
    create(worker, "FLAKY")
    with pytest.raises(JsException, match="RuntimeError: no"):
        introspector.wait_for_step_result({"name": "b"})


def test_the_result_of_an_event_wait_is_its_payload(worker: Worker) -> None:
    introspector = introspected(worker, "WAITER").modify(lambda m: m.mock_event(type="go", payload=[1]))
    create(worker, "WAITER")
    assert introspector.wait_for_step_result({"name": "w"}) == [1]


def test_a_step_that_is_not_there_is_told_with_those_that_are(worker: Worker) -> None:
    introspector = introspected(worker, "FLOW")
    create(worker, "FLOW")
    told = "Step 'a-1-1' has not begun, and everything is at rest: a is 'complete'. Its steps so far: 'a-1'."
    with pytest.raises(NothingMoves, match=re.escape(told)):
        introspector.wait_for_step_result("a-1")


def test_one_step_may_be_chosen_without_a_list(worker: Worker) -> None:
    introspected(worker, "SLEEPER").modify(lambda m: m.disable_sleeps("h"))
    instance = create(worker, "SLEEPER")
    assert [e["step_name"] for e in instance.journal() if e["kind"] == "sleep_completed"] == ["h-1"]


def test_c255_the_output_of_an_instance_that_is_not_complete_is_refused(worker: Worker) -> None:
    introspector = introspected(worker, "FLAKY").modify(lambda m: m.disable_retry_delays())
    create(worker, "FLAKY")
    with pytest.raises(IntrospectionError) as caught:
        introspector.get_output()
    assert str(caught.value) == (
        'Cannot retrieve output: Workflow instance is in status "errored" but must be "complete" to have an output '
        "available"
    )


def test_c256_the_error_of_an_instance_that_has_none_is_refused(worker: Worker) -> None:
    introspector = introspected(worker, "FLOW")
    create(worker, "FLOW")
    with pytest.raises(IntrospectionError) as caught:
        introspector.get_error()
    assert str(caught.value) == (
        'Cannot retrieve error: Workflow instance is in status "complete" but must be "errored" to have error '
        "information available"
    )


def test_c257_a_finite_status_prevents_another_one(worker: Worker) -> None:
    introspector = introspected(worker, "FLOW")
    create(worker, "FLOW")
    introspector.wait_for_status("complete")
    with pytest.raises(IntrospectionError) as caught:
        introspector.wait_for_status("errored")
    assert str(caught.value) == (
        "[WorkflowIntrospector] The Workflow instance a has reached status 'complete'. This is a finite status that "
        "prevents it from ever reaching the expected status of 'errored'."
    )


@pytest.mark.parametrize(
    ("status", "text"),
    [
        ("bogus", "bogus was not handled because it's not a valid InstanceStatus"),
        ("unknown", "unknown cannot be parsed into a InstanceStatus"),
    ],
)
def test_c258_waiting_for_what_is_no_status_is_refused(worker: Worker, status: str, text: str) -> None:
    with pytest.raises(IntrospectionError) as caught:
        introspected(worker, "FLOW").wait_for_status(status)
    assert str(caught.value) == text


def test_c259_waiting_for_the_status_queued_ends_at_once(worker: Worker) -> None:
    introspected(worker, "FLOW").wait_for_status("queued")


def test_a_status_that_has_passed_counts_and_one_that_does_not_come_is_told(worker: Worker) -> None:
    introspector = introspected(worker, "SLEEPER")
    with pytest.raises(NothingMoves, match="is not created"):
        introspector.wait_for_status("running")
    create(worker, "SLEEPER")
    introspector.wait_for_status("waiting")
    introspector.wait_for_status("running")
    with pytest.raises(NothingMoves, match="is 'waiting' and not 'paused'"):
        introspector.wait_for_status("paused")


# ----------------------------------------------------------------------------------------------------- whole Workflows


def test_c260_a_workflow_has_one_introspector_at_a_time(worker: Worker) -> None:
    introspector = introspect_workflow(worker.env.FLOW)
    with pytest.raises(IntrospectionError) as caught:
        introspect_workflow(worker.env.FLOW)
    assert str(caught.value) == 'Workflow "flow" already has an active introspection session for binding "FLOW".'
    introspector.dispose()
    introspector.dispose()
    with pytest.raises(IntrospectionError) as caught:
        introspector.get()
    text = 'Workflow "flow" does not have an active introspection session for this introspector.'
    assert str(caught.value) == text
    introspect_workflow(worker.env.FLOW).dispose()


def test_modify_all_is_done_to_each_instance_that_is_created_afterwards(worker: Worker) -> None:
    create(worker, "FLOW", "before")
    with introspect_workflow(worker.env.FLOW) as introspector:
        introspector.modify_all(lambda m: m.mock_step_result({"name": "a"}, "mocked"))
        create(worker, "FLOW", "one")
        create(worker, "FLOW", "two")
        made = introspector.get()
        assert [(one.id, one.get_output()) for one in made] == [("one", "mocked"), ("two", "mocked")]
    assert [instance.id for instance in worker.env.FLOW.list()] == ["before"]
    assert create(worker, "FLOW", "after").status()["output"] == "real"


def test_an_introspector_needs_a_binding(worker: Worker) -> None:
    both = "[WorkflowIntrospector] Workflow binding and instance id are required."
    one = "[WorkflowIntrospector] Workflow binding is required."
    binding: Any = "FLOW"
    with pytest.raises(IntrospectionError, match=re.escape(both)):
        introspect_workflow_instance(None, "a")
    with pytest.raises(IntrospectionError, match=re.escape(both)):
        introspect_workflow_instance(worker.env.FLOW, "")
    with pytest.raises(IntrospectionError, match=re.escape(one)):
        introspect_workflow(None)
    with pytest.raises(IntrospectionError, match=r"`introspectWorkflow\(\)` needs a Workflow binding from `env`"):
        introspect_workflow(binding)


def test_disposing_removes_the_instance_and_its_mocks(worker: Worker) -> None:
    with introspected(worker, "FLOW").modify(lambda m: m.mock_step_result("a", "mocked")) as introspector:
        create(worker, "FLOW")
        assert introspector.get_output() == "mocked"
    with pytest.raises(JsException, match=r"instance\.not_found"):
        worker.env.FLOW.get("a")
    assert create(worker, "FLOW").status()["output"] == "real"
    introspector.dispose()
    introspector.dispose()


def test_c261_what_is_mocked_outlives_a_full_restart_and_a_crash(worker: Worker) -> None:
    def change(m: Modifier) -> None:
        m.mock_event(type="go", payload="mocked")

    introspector = introspected(worker, "WAITER").modify(change)
    instance = create(worker, "WAITER")
    assert introspector.get_output() == "mocked"
    instance.restart()
    assert introspector.get_output() == "mocked"

    step = introspected(worker, "FLOW", "s").modify(lambda m: m.mock_step_result("a", "mocked"))
    other = create(worker, "FLOW", "s")
    worker.crash()
    other.restart()
    assert step.get_output() == "mocked"

    failing = introspected(worker, "FLOW", "f").modify(lambda m: m.mock_step_error("a", NonRetryableError("no")))
    third = create(worker, "FLOW", "f")
    third.restart()
    assert failing.get_error()["message"] == "no"
