"""How long a single await outside steps takes, which counts on celld."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from runtime.engine.rules import CELLD
from tests.workers_shim.scripted_host import ScriptedHost, turns
from tests.workers_shim.test_rest import flow
from workers_shim import pump

pytestmark = pytest.mark.asyncio

EVERY = 0.3  # seconds, instead of a minute


async def test_the_isolate_tells_when_celld_wants_to_know() -> None:
    assert CELLD.max_outside_await == pump.AWAITING_EVERY * 1000


async def told(body: Callable[[Any], Awaitable[Any]], monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The first thing that the isolate tells of what the body awaits."""
    monkeypatch.setattr(pump, "AWAITING_EVERY", EVERY)
    host = ScriptedHost()
    number = host.start(flow(body))
    await turns()
    host.rest(number)
    message = await host.next("awaiting", "parked")
    host.release(number)
    await host.next("released")
    return dict(message)


async def test_one_long_await_is_told_when_its_time_has_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    async def body(step: Any) -> None:
        await asyncio.Event().wait()

    message = await told(body, monkeypatch)

    assert message["longest"] >= EVERY
    assert "test_own_awaits.py" in message["where"]


async def test_many_short_awaits_are_no_long_one(monkeypatch: pytest.MonkeyPatch) -> None:
    async def body(step: Any) -> None:
        while True:
            await asyncio.sleep(0.001)

    message = await told(body, monkeypatch)

    assert message["longest"] < EVERY <= message["seconds"]


async def test_a_long_await_behind_the_standard_combinators_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    async def body(step: Any) -> None:
        await asyncio.gather(step.sleep("a", 1000), asyncio.Event().wait())

    assert (await told(body, monkeypatch))["longest"] >= EVERY


async def test_waiting_for_a_task_of_short_awaits_is_no_long_one(monkeypatch: pytest.MonkeyPatch) -> None:
    async def beat() -> None:
        while True:
            await asyncio.sleep(0.001)

    async def body(step: Any) -> None:
        await asyncio.gather(step.sleep("a", 1000), beat())

    message = await told(body, monkeypatch)

    assert message["longest"] < EVERY <= message["seconds"]


async def test_a_timer_around_a_call_of_the_engine_is_no_long_await(monkeypatch: pytest.MonkeyPatch) -> None:
    async def body(step: Any) -> None:
        async with asyncio.timeout(1000):
            await step.sleep("a", 1000)

    message = await told(body, monkeypatch)

    assert (message["t"], message["longest"]) == ("awaiting", 0.0)
