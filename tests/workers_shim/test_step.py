"""The step object: names, dependencies, results, and what a wrong use says."""

from __future__ import annotations

import asyncio
import functools
import gc
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.inbox import Message
from tests.workers_shim.scripted_host import ScriptedHost, text, turns, value
from workers_shim import values
from workers_shim.step import ImplicitStep

pytestmark = pytest.mark.asyncio


def flow(body: Callable[[Any], Awaitable[Any]]) -> type[Any]:
    class Flow:
        def __init__(self, ctx: Any, env: Any) -> None:
            pass

        async def run(self, event: Any, step: Any) -> Any:
            return await body(step)

    return Flow


async def result(body: Callable[[Any], Awaitable[Any]], *, implicit: bool = True) -> tuple[Any, list[Message]]:
    """What a run of this body returns, or its error's text, and the calls it made."""
    host = ScriptedHost(implicit=implicit)
    host.start(flow(body))
    done = await host.serve()
    return value(done), host.told("call")


async def test_c268_a_step_without_a_name_has_that_of_its_function() -> None:
    async def body(step: ImplicitStep) -> Any:
        @step.do()
        def charge() -> str:
            return "charged"

        assert getattr(charge, "_step_name") == "charge"  # noqa: B009
        return [await charge(), await step.do()(lambda: "x")()]

    given, calls = await result(body)
    assert given == ["charged", "x"]
    assert [call["name"] for call in calls] == ["charge", "<lambda>"]


async def test_functions_of_every_kind_can_be_steps() -> None:
    class Shop:
        async def sell(self) -> str:
            return "sold"

    async def body(step: Any) -> Any:
        plain = step.do("plain")(lambda: "plain")
        bound = step.do()(Shop().sell)
        partial = step.do("partial")(functools.partial(str.upper, "partial"))
        return [await plain(), await bound(), await partial()]

    assert (await result(body))[0] == ["plain", "sold", "PARTIAL"]


async def test_wrapper_takes_no_argument() -> None:
    async def body(step: Any) -> Any:
        with pytest.raises(TypeError):
            step.do("s")(lambda: 0)(1)

    await result(body)


async def test_nothing_runs_until_the_step_is_called() -> None:
    async def body(step: Any) -> Any:
        step.do("s")(lambda: 0)

    assert (await result(body))[1] == []


@pytest.mark.parametrize("concurrent", [False, True])
async def test_c269_parameters_take_the_results_of_the_steps_they_are_named_after(concurrent: bool) -> None:
    async def body(step: ImplicitStep) -> Any:
        step.do("a")(lambda: "A")
        step.do("b")(lambda: "B")

        @step.do("c", concurrent=concurrent)
        def c(b: str, ctx: Any, *, a: str) -> Any:
            return b + a + ctx.step.name

        return await c()

    assert (await result(body))[0] == "BAc"


async def test_shared_dependency_runs_once_and_a_direct_call_runs_again() -> None:
    async def body(step: Any) -> Any:
        base = step.do("base")(lambda ctx: ctx.step.count)
        step.do("left")(lambda base: base)
        step.do("right")(lambda base: base)
        top = step.do("top", concurrent=True)(lambda left, right: [left, right])
        return [await top(), await base()]

    given, calls = await result(body)
    assert given == [[1, 1], 2]
    assert sorted((call["name"], call["nth"]) for call in calls) == [
        ("base", 1), ("base", 2), ("left", 1), ("right", 1), ("top", 1)
    ]  # fmt: skip


async def test_dependency_gives_the_same_object_as_the_direct_call() -> None:
    async def body(step: Any) -> Any:
        base = step.do("base")(lambda: [1])
        step_two = step.do("two")(lambda base: base)
        first = await base()
        first.append(2)
        return await step_two()

    assert (await result(body))[0] == [1, 2]


async def test_dependency_waits_for_a_direct_call_in_flight() -> None:
    async def body(step: Any) -> Any:
        base = step.do("base")(lambda ctx: ctx.step.count)
        two = step.do("two")(lambda base: base)
        return await asyncio.gather(base(), two())

    given, calls = await result(body)
    assert given == [1, 1]
    assert len(calls) == 2


async def test_failed_dependency_fails_its_dependents_and_runs_again_for_the_next() -> None:
    async def body(step: ImplicitStep) -> Any:
        attempts: list[int] = []

        @step.do("base")
        def base() -> str:
            attempts.append(1)
            if len(attempts) == 1:
                raise ValueError("first")
            return "second"

        one = step.do("one")(lambda base: base)
        two = step.do("two")(lambda base: base)
        with pytest.raises(ValueError, match="ValueError: first"):
            await one()
        return await two()

    given, calls = await result(body)
    assert given == "second"
    assert [(call["name"], call["nth"]) for call in calls] == [("base", 1), ("base", 2), ("two", 1)]


async def test_steps_of_one_name_keep_their_own_results_and_the_later_one_is_the_dependency() -> None:
    async def body(step: Any) -> Any:
        first = step.do("same")(lambda: 1)
        second = step.do("same")(lambda: 2)
        both = await asyncio.gather(first(), second())
        return [*both, await step.do("user")(lambda same: same)()]

    assert (await result(body))[0] == [1, 2, 2]


async def test_c270_an_unknown_parameter_fails_when_the_step_is_called_and_a_note_lists_the_known_steps() -> None:
    async def body(step: Any) -> Any:
        step.do("load")(lambda: 0)
        seen = []
        for function in (lambda other: 0, lambda other=1: 0, lambda *other: 0):
            try:
                await step.do("s")(function)()
            except TypeError as error:
                seen.append([str(error), error.__notes__])
        return seen

    given, calls = await result(body)
    note = 'A step\'s parameters are named after steps, or ctx. Known steps: "load", "s".'
    assert given == [["Received unexpected parameter other", [note]]] * 3
    assert calls == []


async def test_depends_is_refused_where_dependencies_are_implicit() -> None:
    async def body(step: Any) -> Any:
        with pytest.raises(TypeError):
            step.do("x", depends=[])
        with pytest.raises(TypeError):
            step.do("x", [])

    await result(body)


async def test_legacy_steps_take_what_depends_lists_in_order() -> None:
    async def body(step: Any) -> Any:
        one = step.do("step one")(lambda: 1)
        two = step.do("step two")(lambda: 2)
        last = step.do("last", [one, two], True)(lambda a, ctx, b: [a, ctx.step.name, b])
        return await last()

    assert (await result(body, implicit=False))[0] == [1, "last", 2]


async def test_legacy_misuse_says_what_is_wrong() -> None:
    async def body(step: Any) -> Any:
        with pytest.raises(TypeError):
            step.do()
        one = step.do(None)(lambda: 1)
        assert one._step_name == "<lambda>"
        seen = []
        for depends in (None, [one], [one, print]):
            try:
                await step.do("s", depends)(lambda a, b: 0)()
            except TypeError as error:
                seen.append(str(error))
        return seen

    assert (await result(body, implicit=False))[0] == [
        "Step has 2 non-ctx parameter(s) but no 'depends' list provided",
        "Step declares 2 non-ctx parameter(s) but 'depends' has 1 item(s)",
        "'depends' entry for parameter 'b' is not a function decorated with step.do",
    ]


async def test_step_has_four_names() -> None:
    async def body(step: Any) -> Any:
        return [name for name in dir(step) if not name.startswith("_")]

    assert (await result(body))[0] == ["do", "sleep", "sleep_until", "wait_for_event"]


async def test_cancelling_a_caller_cancels_only_that_waiter() -> None:
    host = ScriptedHost()

    async def body(step: Any) -> Any:
        slow = step.do("slow")(lambda: "slow")
        user = step.do("user")(lambda slow: slow)
        task = asyncio.create_task(slow())
        await asyncio.sleep(0)
        task.cancel()
        return await user()

    host.start(flow(body))
    call = await host.next("call")
    await turns()
    host.ret(call, "late")
    assert value(await host.serve()) == "late"


async def test_arguments_travel_as_given() -> None:
    until = datetime(2030, 1, 1, tzinfo=UTC)

    async def body(step: Any) -> Any:
        await step.sleep("n", 5)
        await step.sleep("t", "10 seconds")
        await step.sleep_until("d", until)
        await step.wait_for_event("w", "paid")
        await step.wait_for_event("w", "paid", 50)
        await step.do("s", config={"timeout": "5 minutes"})(lambda: 0)()

    _, calls = await result(body)
    assert [(call["kind"], values.decode(call["arg"])) for call in calls] == [
        ("sleep", 5),
        ("sleep", "10 seconds"),
        ("until", datetime(2030, 1, 1)),
        ("wait", {"type": "paid", "timeout": "24 hours"}),
        ("wait", {"type": "paid", "timeout": 50}),
        ("do", {"timeout": "5 minutes"}),
    ]
    assert [call["nth"] for call in calls] == [1, 1, 1, 1, 2, 1]


async def test_name_and_type_of_an_event_are_positional_only() -> None:
    async def body(step: Any) -> Any:
        with pytest.raises(TypeError):
            step.wait_for_event(name="w", event_type="t")

    await result(body)


async def test_sleep_and_sleep_until_share_their_numbers() -> None:
    async def body(step: Any) -> Any:
        await step.sleep("s", 1)
        await step.sleep_until("s", 1)

    _, calls = await result(body)
    assert [(call["kind"], call["nth"]) for call in calls] == [("sleep", 1), ("until", 2)]


async def test_timedelta_is_taken_as_milliseconds_with_a_warning() -> None:
    host = ScriptedHost()

    async def body(step: Any) -> Any:
        await step.sleep("s", timedelta(seconds=1.5))
        config = {"retries": {"limit": 1, "delay": timedelta(seconds=2)}, "timeout": timedelta(minutes=1)}
        await step.do("d", config=config)(lambda: 0)()

    host.start(flow(body))
    await host.serve()
    assert [call["arg"] for call in host.told("call")] == [
        text(1500),
        text({"retries": {"limit": 1, "delay": 2000}, "timeout": 60000}),
    ]
    assert "timedelta" in host.surroundings.warnings[0]


async def test_config_that_cannot_travel_is_invalid() -> None:
    async def body(step: Any) -> Any:
        try:
            await step.do("s", config={"timeout": object()})(lambda: 0)()
        except Exception as error:
            return str(error)

    assert (await result(body))[0] == (
        'Error: WorkflowFatalError: Step config for "s" is in a invalid format. '
        "See https://developers.cloudflare.com/workflows/build/sleeping-and-retrying/"
    )


async def test_error_that_no_waiter_is_left_for_is_nobodys(caplog: pytest.LogCaptureFixture) -> None:
    host = ScriptedHost()

    async def body(step: Any) -> Any:
        step.do("base")(lambda: 0)
        task = asyncio.create_task(step.do("user")(lambda base: 0)())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        task.cancel()
        await step.sleep("nap", 1)

    host.start(flow(body))
    base, nap = await host.next("call"), await host.next("call")
    await turns()
    host.ret(base, error={"name": "Error", "message": "late"})
    await turns()
    host.ret(nap)
    await host.next("done")
    gc.collect()
    assert not caplog.records
