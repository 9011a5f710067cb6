"""Steps: what a callback is given, what becomes of its result, and how a step fails."""

from __future__ import annotations

import pytest

from tests.conformance.flow import Flow


def test_c125_a_callback_is_given_step_attempt_and_config(flow: Flow) -> None:
    output = flow.output("""
        @step.do("a")
        def a(ctx):
            return ctx
        return await a()
    """)

    assert output == {
        "step": {"name": "a", "count": 1},
        "attempt": 1,
        "config": {"retries": {"limit": 5, "delay": 10000, "backoff": "exponential"}, "timeout": "10 minutes"},
    }


def test_c126_retries_without_a_backoff_back_off_exponentially(flow: Flow) -> None:
    output = flow.output("""
        @step.do("a", config={"retries": {"limit": 3, "delay": 500}, "timeout": "5 minutes"})
        def a(ctx):
            return ctx["config"]
        return await a()
    """)

    assert output == {
        "retries": {"limit": 3, "delay": 500, "backoff": "exponential"},
        "timeout": "5 minutes",
    }


def test_c127_a_name_is_counted_each_time_that_it_is_called(flow: Flow) -> None:
    output = flow.output("""
        @step.do("a")
        def a(ctx):
            return ctx["step"]["count"]
        @step.do("b")
        def b(ctx):
            return ctx["step"]["count"]
        return [await a(), await a(), await a(), await b()]
    """)

    assert output == [1, 2, 3, 1]


def test_c128_steps_in_parallel_are_counted_in_the_order_of_their_calls(flow: Flow) -> None:
    output = flow.output("""
        @step.do("p")
        def p(ctx):
            return ctx["step"]["count"]
        return await asyncio.gather(p(), p(), p())
    """)

    assert output == [1, 2, 3]


def test_c129_c130_a_step_may_return_none_and_does_not_run_again_for_it(flow: Flow) -> None:
    instance = flow("""
        @step.do("a")
        def a():
            RAN.append("a")
        first = await a()
        await step.sleep("s", "1 hour")
        return [first]
    """)
    flow.worker.crash()
    flow.worker.clock.advance("1 hour")

    assert instance.status()["output"] == [None]
    assert flow.attempts(instance) == {"a-1": 1}


@pytest.mark.parametrize("crashed", [False, True])
def test_c131_results_keep_their_types_live_and_on_replay(flow: Flow, crashed: bool) -> None:
    instance = flow("""
        @step.do("a")
        def a():
            return {
                "date": datetime(2026, 1, 2, 3, 4, 5), "set": {1}, "big": 2**70, "none": None, "nan": math.nan,
                "infinity": math.inf, "bytes": b"abc", "error": ValueError("re"), "list": [1.5, "x", True],
            }
        got = await a()
        await step.sleep("s", "1 hour")
        return {name: f"{type(value).__name__} {value!r}" for name, value in got.items() if name != "bytes"} | {
            "bytes": bytes(got["bytes"]).decode()
        }
    """)
    if crashed:
        flow.worker.crash()
    flow.worker.clock.advance("1 hour")

    assert instance.status()["output"] == {
        "date": "datetime datetime.datetime(2026, 1, 2, 3, 4, 5)",
        "set": "set {1}",
        "big": f"int {2**70}",
        "none": "NoneType None",
        "nan": "float nan",
        "infinity": "float inf",
        "bytes": "abc",
        "error": "Exception Exception('Error: re')",
        "list": "list [1.5, 'x', True]",
    }


def test_c132_a_typed_array_keeps_its_type(flow: Flow) -> None:
    instance = flow("""
        @step.do("a")
        def a():
            return js.Int16Array.new([1, -2, 3])
        await a()
        await step.sleep("s", "1 hour")
        got = await a()
        return [got.format, list(got)]
    """)
    flow.worker.crash()
    flow.worker.clock.advance("1 hour")

    assert instance.status()["output"] == ["h", [1, -2, 3]]


def test_c133_a_view_is_kept_without_the_buffer_behind_it(flow: Flow) -> None:
    output = flow.output("""
        @step.do("a")
        def a():
            return memoryview(bytes(1_600_000))[:200_000]
        return len(await a())
    """)

    assert output == 200_000


@pytest.mark.parametrize(
    ("raised", "caught"),
    [
        ('JsException("RangeError", "boo")', ["RangeError", "boo"]),
        ('JsException("Foo", "boo")', ["Error", "Foo: boo"]),
    ],
)
def test_c134_c135_an_error_crosses_as_it_does_over_rpc(flow: Flow, raised: str, caught: list[str]) -> None:
    output = flow.output(f"""
        @step.do("a", config={{"retries": {{"limit": 0, "delay": 0}}}})
        def a():
            raise {raised}
        try:
            await a()
        except JsException as error:
            return [error.name, error.message]
    """)

    assert output == caught


def test_c139_changing_the_config_in_a_callback_changes_nothing(flow: Flow) -> None:
    output = flow.output("""
        @step.do("a", config={"retries": {"limit": 2, "delay": 0}})
        def a(ctx):
            limit = ctx["config"]["retries"]["limit"]
            ctx["config"]["retries"]["limit"] = 0
            if ctx["attempt"] < 3:
                raise ValueError("again")
            return limit
        return await a()
    """)

    assert output == 2


def test_c140_a_failing_step_can_be_caught_and_the_workflow_goes_on(flow: Flow) -> None:
    output = flow.output("""
        @step.do("a", config={"retries": {"limit": 0, "delay": 0}})
        def a():
            raise ValueError("no")
        try:
            await a()
        except ValueError as error:
            return f"caught {error}"
    """)

    assert output == "caught ValueError: no"


def test_c141_one_of_several_steps_may_fail(flow: Flow) -> None:
    instance = flow("""
        @step.do("bad", config={"retries": {"limit": 0, "delay": 0}})
        def bad():
            raise ValueError("no")
        @step.do("good")
        def good():
            return "yes"
        first, second = await asyncio.gather(bad(), good(), return_exceptions=True)
        return [type(first).__name__, second]
    """)

    assert instance.status() == {"status": "complete", "output": ["ValueError", "yes"], "error": None, "rollback": None}


def test_c162_a_value_that_cannot_be_cloned_fails_the_attempt_which_is_tried_again(flow: Flow) -> None:
    instance = flow("""
        @step.do("a", config={"retries": {"limit": 1, "delay": 0}})
        def a(ctx):
            return object() if ctx["attempt"] == 1 else "plain"
        return await a()
    """)

    assert instance.status()["output"] == "plain"
    failed = next(event for event in instance.journal() if event["kind"] == "attempt_errored")
    assert failed["error"]["name"] == "DataCloneError"


def test_c176_a_config_of_none_is_no_config(flow: Flow) -> None:
    output = flow.output("""
        @step.do("a", config=None)
        def a(ctx):
            return ctx["config"]["timeout"]
        return await a()
    """)

    assert output == "10 minutes"


def test_c267_a_result_that_holds_itself_fails_the_step(flow: Flow) -> None:
    instance = flow("""
        @step.do("a", config={"retries": {"limit": 0, "delay": 0}})
        def a():
            loop = []
            loop.append(loop)
            return loop
        await a()
    """)

    assert instance.status()["status"] == "errored"
    assert [e["kind"] for e in instance.journal()].count("step_errored") == 1
