"""How a workflow ends when its code raises."""

from __future__ import annotations

import pytest

from tests.conformance.flow import Flow

FATAL = {
    "name": "WorkflowFatalError",
    "message": "The execution of the Workflow instance was terminated, "
    "as a step threw an NonRetryableError and it was not handled",
}
ONCE = '{"retries": {"limit": 3, "delay": 0}}'


def test_c051_an_error_of_another_name_ends_the_instance_as_error_with_the_name_in_front(flow: Flow) -> None:
    instance = flow('raise JsException("Foo", "boo")')

    assert instance.status()["error"] == {"name": "Error", "message": "Foo: boo"}


def test_c153_a_non_retryable_error_ends_the_step_at_once_and_can_be_caught(flow: Flow) -> None:
    instance = flow(f"""
        @step.do("a", config={ONCE})
        def a():
            raise NonRetryableError("nr msg")
        try:
            await a()
        except NonRetryableError as error:
            return str(error)
    """)

    assert instance.status()["output"] == "nr msg"
    assert flow.attempts(instance) == {"a-1": 1}


@pytest.mark.parametrize("where", ["a step", "run()"])
def test_c154_c160_an_uncaught_non_retryable_error_is_a_fatal_error_before_2026_05_14(flow: Flow, where: str) -> None:
    body = {
        "a step": """
            @step.do("a")
            def a():
                raise NonRetryableError("nr msg")
            await a()
        """,
        "run()": 'raise NonRetryableError("nr msg")',
    }
    instance = flow(body[where], compatibility_date="2026-05-13")

    assert instance.status()["error"] == FATAL


def test_c155_an_uncaught_non_retryable_error_keeps_name_and_message_from_2026_05_14_on(flow: Flow) -> None:
    instance = flow('raise NonRetryableError("nr msg")', compatibility_date="2026-05-14")

    assert instance.status()["error"] == {"name": "NonRetryableError", "message": "nr msg"}


@pytest.mark.parametrize(
    "raised", ['JsException("NonRetryableError", "m")', 'JsException("Error", "NonRetryableError and more")']
)
def test_c156_c157_name_or_beginning_of_the_message_make_an_error_non_retryable(flow: Flow, raised: str) -> None:
    instance = flow(f"""
        @step.do("a", config={ONCE})
        def a():
            raise {raised}
        await a()
    """)

    assert instance.status()["status"] == "errored"
    assert flow.attempts(instance) == {"a-1": 1}


def test_c158_a_non_retryable_error_of_another_name_is_tried_again(flow: Flow) -> None:
    instance = flow(f"""
        @step.do("a", config={ONCE})
        def a():
            raise JsException("CustomName", "m")
        await a()
    """)

    assert flow.attempts(instance) == {"a-1": 4}


def test_c159_a_non_retryable_error_without_a_message_is_known_too(flow: Flow) -> None:
    instance = flow(f"""
        @step.do("a", config={ONCE})
        def a():
            raise NonRetryableError()
        try:
            await a()
        except NonRetryableError as error:
            return str(error)
    """)

    assert instance.status()["output"] == ""
    assert flow.attempts(instance) == {"a-1": 1}
