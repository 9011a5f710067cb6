"""What is repeated when a workflow is taken up again, and what is not."""

from __future__ import annotations

import pytest

from runtime.testing import JsException
from tests.conformance.flow import Flow


def test_c017_creating_an_id_again_does_not_run_it_again(flow: Flow) -> None:
    instance = flow("""
        @step.do("a")
        def a():
            return "once"
        return await a()
    """)

    with pytest.raises(JsException, match="already exists"):
        flow.worker.env.FLOW.create(id=instance.id)

    assert flow.attempts(instance) == {"a-1": 1}


def test_c059_status_has_no_outputs_of_steps_in_it(flow: Flow) -> None:
    instance = flow("""
        @step.do("a")
        def a():
            return "kept"
        await a()
    """)

    assert instance.status().keys() == {"status", "output", "error", "rollback"}
    assert [event["output"] for event in instance.journal() if event["kind"] == "step_completed"] == ["kept"]


def test_c218_code_outside_steps_runs_again_and_what_it_prints_is_shown_once(
    flow: Flow, capsys: pytest.CaptureFixture[str]
) -> None:
    instance = flow(
        """
        RAN.append("outside")
        print("outside")
        await step.sleep("s", "1 hour")
        return len(RAN)
        """
    )
    instance.pause()
    instance.resume()
    flow.worker.clock.advance("1 hour")

    assert instance.status()["output"] == 3  # at the start, when it was resumed, and when it woke
    assert capsys.readouterr().out.count("outside") == 1


def test_c219_a_changed_event_is_as_it_was_after_a_replay(flow: Flow) -> None:
    instance = flow(
        """
        before = event["payload"]["n"]
        event["payload"]["n"] = 2
        @step.do("a")
        def a():
            return [before, event["payload"]["n"]]
        seen = await a()
        await step.sleep("s", "1 hour")
        return seen + [before]
        """,
        params={"n": 1},
    )
    flow.worker.crash()
    flow.worker.clock.advance("1 hour")

    assert instance.status()["output"] == [1, 2, 1]
