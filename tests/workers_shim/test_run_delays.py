"""A delay function stays in the run, which is asked for the delay."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.workers_shim.scripted_host import Base, ScriptedHost, turns, value
from workers_shim import attempt
from workers_shim.step import ImplicitStep

pytestmark = pytest.mark.asyncio


def ask_delay(host: ScriptedHost, number: int, call: int) -> None:
    found = host.runs.get(number)
    assert found is not None
    error: Any = {"name": "E", "message": ""}
    found.attempts.delay({"t": "delay", "run": number, "call": call, "attempt": 1, "error": error, "config": {}})


async def test_delay_function_is_asked_with_one_argument() -> None:
    class Flow(Base):
        async def run(self, event: Any, step: ImplicitStep) -> Any:
            config = {
                "retries": {"limit": 1, "delay": lambda asked: asked.ctx.attempt * 100 + len(asked.error.message)}
            }

            @step.do("s", config=config)
            def s() -> None:
                raise ValueError

            await s()

    host = ScriptedHost()
    number = host.start(Flow)
    call = await host.next("call")
    assert call["delay_function"] is True
    assert "[dynamic]" in call["arg"]
    run = host.runs.get(number)
    assert run is not None
    error = {"name": "E", "message": "four"}
    run.attempts.delay(
        {"t": "delay", "run": number, "call": 1, "attempt": 2, "error": error, "config": {}}  # type: ignore[typeddict-item]
    )
    assert value(await host.next("delayed")) == 204


async def test_c150_a_delay_function_that_does_not_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempt, "DELAY_LIMIT", 0.01)

    class Flow(Base):
        async def run(self, event: Any, step: Any) -> Any:
            config = {"retries": {"limit": 1, "delay": lambda asked: asyncio.Event().wait()}}
            await step.do("s", config=config)(lambda: 0)()

    host = ScriptedHost()
    number = host.start(Flow)
    await host.next("call")
    run = host.runs.get(number)
    assert run is not None
    error: Any = {"name": "E", "message": ""}
    run.attempts.delay({"t": "delay", "run": number, "call": 1, "attempt": 1, "error": error, "config": {}})
    assert await host.next("delayed") == {"t": "delayed", "run": number, "call": 1, "attempt": 1, "timeout": True}
    host.release(number)
    await host.next("released")


async def test_question_for_a_delay_after_the_call_settled_is_passed_over() -> None:
    class Flow(Base):
        async def run(self, event: Any, step: Any) -> Any:
            await step.do("s", config={"retries": {"limit": 1, "delay": lambda asked: 1}})(lambda: 0)()
            await step.sleep("nap", 1)

    host = ScriptedHost()
    number = host.start(Flow)
    host.ret(await host.next("call"))
    await host.next("call")
    ask_delay(host, number, 1)
    await turns()
    assert not host.told("delayed")
    host.release(number)
    await host.next("released")


async def test_delay_function_that_the_code_no_longer_has_is_an_error_of_the_step() -> None:
    class Flow(Base):
        async def run(self, event: Any, step: Any) -> Any:
            await step.do("s")(lambda: 0)()

    host = ScriptedHost()
    number = host.start(Flow)
    await host.next("call")
    ask_delay(host, number, 1)
    told = await host.next("delayed")
    assert told["error"] == 'the code has no delay function for step.do("s") number 1'
    host.release(number)
    await host.next("released")


async def test_delay_function_whose_error_cannot_be_told_is_answered_all_the_same() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    class Flow(Base):
        async def run(self, event: Any, step: Any) -> Any:
            def delay(asked: Any) -> None:
                raise Mute

            await step.do("s", config={"retries": {"limit": 1, "delay": delay}})(lambda: 0)()

    host = ScriptedHost()
    number = host.start(Flow)
    await host.next("call")
    ask_delay(host, number, 1)
    assert (await host.next("delayed"))["error"] == "<exception str() failed>"
    host.release(number)
    await host.next("released")
