"""What the isolate counts and names by itself."""

from __future__ import annotations

from typing import Any

import pytest

from runtime.engine.failures import step_limit_reached
from tests.workers_shim.scripted_host import Base, ScriptedHost, value

pytestmark = pytest.mark.asyncio


async def outcome(entrypoint: type[Any], limit: int) -> Any:
    host = ScriptedHost()
    host.start(entrypoint, limit=limit)
    return value(await host.serve())


async def test_c178_beyond_the_limit_each_step_is_refused_and_the_code_may_catch_it() -> None:
    class Flow(Base):
        async def run(self, event: Any, step: Any) -> Any:
            told = []
            for number in range(5):
                try:
                    told.append(await step.do(f"s{number}")(lambda: "ok")())
                except Exception as error:
                    told.append(str(error))
            return told

    text = f"Error: {step_limit_reached(3).message}"
    assert text.endswith(
        "WorkflowFatalError: The limit of 3 steps has been reached. "
        "This limit can be changed in your worker configuration."
    )
    assert await outcome(Flow, 3) == ["ok", "ok", "ok", text, text]


async def test_c179_sleeps_and_event_waits_are_not_counted() -> None:
    class Flow(Base):
        async def run(self, event: Any, step: Any) -> Any:
            for number in range(5):
                await step.sleep(f"s{number}", 1)
                await step.wait_for_event(f"w{number}", "go")
            return await step.do("last")(lambda: "ok")()

    assert await outcome(Flow, 1) == "ok"


async def test_c180_exactly_as_many_steps_as_the_limit_are_fine() -> None:
    class Flow(Base):
        async def run(self, event: Any, step: Any) -> Any:
            return [await step.do(f"s{number}")(lambda: "ok")() for number in range(3)]

    assert await outcome(Flow, 3) == ["ok", "ok", "ok"]


async def test_c172_a_step_without_a_name_is_called_after_its_function() -> None:
    class Flow(Base):
        async def run(self, event: Any, step: Any) -> Any:
            async def charge() -> str:
                return "ok"

            return await step.do()(charge)()

    host = ScriptedHost()
    host.start(Flow)
    await host.serve()
    assert [call["name"] for call in host.told("call")] == ["charge"]
