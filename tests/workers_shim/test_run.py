"""A run from its start to its release, driven by a scripted host."""

from __future__ import annotations

import asyncio
import gc
import weakref
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.workers_shim.scripted_host import Base, ScriptedHost, turns, value
from workers_shim import pump, values
from workers_shim.step import ImplicitStep

pytestmark = pytest.mark.asyncio


async def test_two_steps_in_a_row_are_called_executed_and_returned() -> None:
    class Flow(Base):
        async def run(self, event: Any, step: ImplicitStep) -> Any:
            @step.do("one")
            async def one() -> int:
                return 1

            @step.do("two")
            def two(one: int, ctx: Any) -> list[Any]:
                return [one, ctx.step.name, ctx["step"]["count"], ctx.attempt, ctx.config.timeout]

            return await two()

    host = ScriptedHost()
    host.start(Flow)
    seen: list[Any] = []
    done = await host.serve(seen=seen)
    assert value(done) == [1, "two", 1, 1, "10 minutes"]
    assert [(m["t"], m["call"]) for m in seen[:-1]] == [("call", 1), ("ran", 1), ("call", 2), ("ran", 2)]
    assert [m["t"] for m in host.heard] == ["call", "began", "ran", "call", "began", "ran", "done"]


async def test_event_is_a_dict_with_attributes_and_a_naive_timestamp() -> None:
    class Flow(Base):
        def run(self, event: Any, step: Any) -> Any:
            assert isinstance(event.timestamp, datetime) and event.timestamp.tzinfo is None
            return [event.payload.x, event["instanceId"], event.workflowName, event.timestamp]

    host = ScriptedHost()
    host.start(Flow, payload={"x": 5})
    assert value(await host.next("done")) == [5, "one", "flow", datetime(2025, 6, 15, 15, 6, 40, 123000)]


async def test_the_event_of_a_scheduled_instance_names_its_cron_entry_and_others_have_none() -> None:
    class Flow(Base):
        def run(self, event: Any, step: Any) -> Any:
            schedule = event.get("schedule")
            return None if schedule is None else [schedule.cron, event["schedule"]["scheduledTime"]]

    host = ScriptedHost()
    host.start(Flow, schedule={"cron": "0 3 * * *", "scheduledTime": 1_750_000_000_000})
    assert value(await host.next("done")) == ["0 3 * * *", 1_750_000_000_000]
    host.start(Flow)
    assert value(await host.next("done")) is None


async def test_error_of_run_is_told_with_its_traceback() -> None:
    class Flow(Base):
        async def run(self, event: Any, step: Any) -> Any:
            raise KeyError("gone")

    host = ScriptedHost()
    host.start(Flow)
    done = await host.next("done")
    assert done["error"]["name"] == "PythonError"
    assert done["error"]["message"].endswith("KeyError: 'gone'")


async def test_step_error_is_raised_where_the_step_was_awaited() -> None:
    class Flow(Base):
        async def run(self, event: Any, step: ImplicitStep) -> Any:
            @step.do("bad")
            def bad() -> None:
                raise ValueError("v")

            try:
                await bad()
            except ValueError as error:
                return str(error)

    host = ScriptedHost()
    host.start(Flow)
    assert value(await host.serve()) == "ValueError: v"


async def test_sys_exit_in_a_step_fails_the_attempt_and_not_the_isolate() -> None:
    class Flow(Base):
        async def run(self, event: Any, step: Any) -> Any:
            await step.do("quit")(lambda: exit_now())()

    def exit_now() -> None:
        raise SystemExit(3)

    host = ScriptedHost()
    host.start(Flow)
    host.exec(await host.next("call"))
    assert "SystemExit: 3" in (await host.next("ran"))["error"]["message"]


async def test_step_limit_counts_every_do_call_and_can_be_caught() -> None:
    class Flow(Base):
        async def run(self, event: Any, step: Any) -> Any:
            texts = []
            for number in range(4):
                try:
                    texts.append(await step.do(f"s{number}")(lambda: "ok")())
                except Exception as error:
                    texts.append(str(error))
            return texts

    host = ScriptedHost()
    host.start(Flow, limit=2)
    refusal = (
        "Error: WorkflowFatalError: The limit of 2 steps has been reached. "
        "This limit can be changed in your worker configuration."
    )
    assert value(await host.serve()) == ["ok", "ok", refusal, refusal]
    assert len(host.told("call")) == 2


async def test_call_in_a_callback_names_its_parent_and_is_answered_at_once() -> None:
    class Flow(Base):
        async def run(self, event: Any, step: Any) -> Any:
            async def outer() -> Any:
                return await step.do("inner")(lambda: "in")()

            return await step.do("outer")(outer)()

    host = ScriptedHost()
    host.start(Flow)
    assert value(await host.serve()) == "in"
    outer, inner = host.told("call")
    assert "parent" not in outer
    assert inner["parent"] == outer["call"]


async def test_cancelled_attempt_says_nothing_more_and_its_calls_are_never_answered() -> None:
    reached: list[str] = []

    class Flow(Base):
        async def run(self, event: Any, step: Any) -> Any:
            async def stubborn() -> None:
                try:
                    await asyncio.get_running_loop().create_future()
                except asyncio.CancelledError:
                    reached.append("caught")
                await step.sleep("after", 1)
                reached.append("never")

            await step.do("stubborn")(stubborn)()

    host = ScriptedHost()
    number = host.start(Flow)
    call = await host.next("call")
    host.exec(call)
    await host.next("began")
    await turns()
    run = host.runs.get(number)
    assert run is not None
    run.attempts.cancel({"t": "cancel", "run": number, "call": call["call"], "attempt": 1})
    await turns()
    assert reached == ["caught"]
    assert len(host.told("call")) == 1
    assert not host.told("ran")


async def test_release_cancels_what_is_left_and_says_so() -> None:
    cleaned: list[str] = []

    class Flow(Base):
        async def run(self, event: Any, step: Any) -> Any:
            try:
                await step.sleep("long", "1 hour")
            finally:
                cleaned.append("run")

    host = ScriptedHost()
    number = host.start(Flow)
    await host.next("call")
    host.release(number)
    assert await host.next("released") == {"t": "released", "run": number}
    assert cleaned == ["run"]
    assert not host.told("done")


async def test_code_that_catches_its_release_is_named_deaf_and_cannot_call() -> None:
    class Flow(Base):
        async def run(self, event: Any, step: Any) -> Any:
            try:
                await step.sleep("long", "1 hour")
            except asyncio.CancelledError:
                await step.sleep("more", "1 hour")

    host = ScriptedHost()
    number = host.start(Flow)
    await host.next("call")
    host.release(number)
    assert await host.next("released") == {"t": "released", "run": number, "deaf": True}
    assert [call["name"] for call in host.told("call")] == ["long"]
    for task in asyncio.all_tasks() - {asyncio.current_task()}:
        task.cancel()


async def test_call_made_after_run_returned_is_not_sent() -> None:
    background: list[asyncio.Task[Any]] = []

    class Flow(Base):
        async def run(self, event: Any, step: Any) -> Any:
            background.append(asyncio.create_task(late(step)))

    async def late(step: Any) -> None:
        await asyncio.sleep(0)
        await step.sleep("late", 1)

    host = ScriptedHost()
    number = host.start(Flow)
    await host.next("done")
    await turns()
    assert not host.told("call")
    host.release(number)
    await host.next("released")


async def test_context_of_the_call_reaches_the_callback() -> None:
    tenant: ContextVar[str] = ContextVar("tenant")

    class Flow(Base):
        async def run(self, event: Any, step: Any) -> Any:
            tenant.set("acme")
            return await step.do("s")(lambda: tenant.get())()

    host = ScriptedHost()
    host.start(Flow)
    assert value(await host.serve()) == "acme"


async def test_config_in_the_step_context_is_a_fresh_copy_for_each_attempt() -> None:
    class Flow(Base):
        async def run(self, event: Any, step: Any) -> Any:
            def spoil(ctx: Any) -> Any:
                ctx.config.retries.limit += 1
                return ctx.config.retries.limit

            return await step.do("s")(spoil)()

    host = ScriptedHost()
    number = host.start(Flow)
    call = await host.next("call")
    for attempt_number in (1, 2):
        host.exec(call, attempt_number)
        assert value(await host.next("ran")) == 6
    host.release(number)
    await host.next("released")


async def test_cancelled_attempt_that_ends_all_the_same_is_not_told() -> None:
    class Flow(Base):
        async def run(self, event: Any, step: Any) -> Any:
            async def stubborn() -> str:
                try:
                    await asyncio.Event().wait()
                except asyncio.CancelledError:
                    return "late"
                return "never"

            await step.do("stubborn")(stubborn)()

    host = ScriptedHost()
    number = host.start(Flow)
    call = await host.next("call")
    host.exec(call)
    await host.next("began")
    await turns()
    run = host.runs.get(number)
    assert run is not None
    run.attempts.cancel({"t": "cancel", "run": number, "call": call["call"], "attempt": 1})
    await turns()
    assert not host.told("ran")
    host.release(number)
    await host.next("released")


async def test_fault_of_the_machinery_ends_the_run_and_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    class Flow(Base):
        async def run(self, event: Any, step: Any) -> Any:
            await step.sleep("nap", 1)

    def broken(*_: Any) -> Any:
        raise ValueError("Cell is empty")

    host = ScriptedHost()
    number = host.start(Flow)
    await host.next("call")
    monkeypatch.setattr(pump, "own_wait", broken)
    host.rest(number)
    assert (await host.next("done"))["error"]["message"].endswith("ValueError: Cell is empty")
    assert "ValueError: Cell is empty" in host.surroundings.warnings[0]
    assert any("in broken" in message["text"] for message in host.told("log"))
    host.release(number)
    await host.next("released")


async def test_live_result_has_the_type_that_a_replay_gives() -> None:
    class Flow(Base):
        async def run(self, event: Any, step: Any) -> Any:
            given = await step.do("s")(lambda: {"n": 10.0, "when": datetime(2030, 1, 1, tzinfo=UTC), "raw": b"x"})()
            return [type(given).__name__, given.n, type(given.n).__name__, given.when, type(given.raw).__name__]

    expected = ["JsDict", 10, "int", datetime(2030, 1, 1), "memoryview"]
    host = ScriptedHost()
    host.start(Flow)
    call = await host.next("call")
    host.exec(call)
    ran = await host.next("ran")
    host.ret(call, values.decode(ran["value"]))
    assert value(await host.next("done")) == expected
    host.start(Flow, [["c", "do", "s", 1, 0], ["v", "do", "s", 1, ran["value"]]])
    assert value(await host.next("done")) == expected


async def test_result_is_seen_only_when_the_host_has_answered() -> None:
    seen: list[Any] = []

    class Flow(Base):
        async def run(self, event: Any, step: Any) -> Any:
            seen.append(await step.do("s")(lambda: "result")())

    host = ScriptedHost()
    host.start(Flow)
    call = await host.next("call")
    host.exec(call)
    await host.next("ran")
    await turns()
    assert seen == []
    host.ret(call, "result")
    await host.next("done")
    assert seen == ["result"]


async def test_nothing_is_left_of_a_released_run() -> None:
    class Flow(Base):
        async def run(self, event: Any, step: Any) -> Any:
            work = step.do("work")(lambda: asyncio.sleep(3600))
            await asyncio.gather(work(), step.sleep("nap", 1), asyncio.sleep(3600))

    host = ScriptedHost()
    number = host.start(Flow)
    host.exec(await host.next("call"))
    await host.next("began")
    await turns()
    left = weakref.ref(host.runs.get(number))
    host.release(number)
    assert await host.next("released") == {"t": "released", "run": number}
    await turns()
    gc.collect()
    assert left() is None
    assert asyncio.all_tasks() == {asyncio.current_task()}
