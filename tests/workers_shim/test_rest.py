"""When a run waits on the engine only, and when it awaits something of its own."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any

import pytest

from tests.workers_shim.scripted_host import ScriptedHost, turns
from workers_shim import pump, rest
from workers_shim.scope import Scope
from workers_shim.step import ImplicitStep

pytestmark = pytest.mark.asyncio

Body = Callable[[ImplicitStep], Awaitable[Any]]


def flow(body: Body) -> type[Any]:
    class Flow:
        def __init__(self, ctx: Any, env: Any) -> None:
            pass

        async def run(self, event: Any, step: Any) -> None:
            await body(step)

    return Flow


async def parks(body: Body, calls: int) -> None:
    host = ScriptedHost()
    number = host.start(flow(body))
    for _ in range(calls):
        await host.next("call")
    host.rest(number)
    assert await host.next("parked") == {"t": "parked", "run": number, "calls": calls, "rets": 0}
    host.release(number)
    await host.next("released")


async def awaits_its_own(body: Body, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(pump, "AWAITING_EVERY", 0.0)
    host = ScriptedHost()
    number = host.start(flow(body))
    await turns()
    host.rest(number)
    told = await host.next("awaiting", "parked")
    assert told["t"] == "awaiting"
    host.release(number)
    await host.next("released")
    return str(told["where"])


@pytest.mark.parametrize("busy", [rest.busy, rest.busy_in])
async def test_a_thread_may_wake_the_loop_while_its_queue_is_looked_through(busy: Callable[..., bool]) -> None:
    ready: deque[Any] = deque()

    class Context:
        def get(self, _: Any) -> None:  # what another thread does at this moment
            ready.append(None)

    ready += [SimpleNamespace(_cancelled=False, _context=Context())] * 2
    scope = Scope(None, None, 0)  # type: ignore[arg-type]
    mine: Any = scope if busy is rest.busy_in else lambda one: one is scope

    assert not busy(SimpleNamespace(_ready=ready), mine)


async def test_a_wait_parks() -> None:
    await parks(lambda step: step.wait_for_event("e", "t"), 1)


async def test_gather_of_waits_parks() -> None:
    await parks(lambda step: asyncio.gather(step.sleep("a", 1), step.sleep("b", 1)), 2)


async def test_nested_gather_parks() -> None:
    async def body(step: Any) -> None:
        inner = asyncio.gather(step.sleep("a", 1), step.sleep("b", 1))
        await asyncio.gather(inner, step.sleep("c", 1))

    await parks(body, 3)


async def test_wait_for_the_first_parks() -> None:
    async def body(step: Any) -> None:
        tasks = {asyncio.create_task(step.sleep(name, 1)) for name in "ab"}
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)

    await parks(body, 2)


async def test_task_group_parks() -> None:
    async def body(step: Any) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(step.sleep("a", 1))
            group.create_task(step.sleep("b", 1))

    await parks(body, 2)


async def test_shield_parks() -> None:
    await parks(lambda step: asyncio.shield(step.sleep("a", 1)), 1)


async def test_as_completed_parks() -> None:
    async def body(step: Any) -> None:
        for next_one in asyncio.as_completed([step.sleep("a", 1), step.sleep("b", 1)]):
            await next_one

    await parks(body, 2)


async def test_wait_for_without_a_limit_parks() -> None:
    await parks(lambda step: asyncio.wait_for(step.sleep("a", 1), None), 1)


async def test_dependency_in_flight_parks() -> None:
    async def body(step: ImplicitStep) -> None:
        @step.do("base")
        def base() -> None: ...

        @step.do("left")
        def left(base: Any) -> None: ...

        @step.do("right")
        def right(base: Any) -> None: ...

        await asyncio.gather(left(), right())

    await parks(body, 1)


async def test_sleep_of_its_own_is_named_with_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    where = await awaits_its_own(lambda step: asyncio.sleep(3600), monkeypatch)
    assert where.startswith(f"{__file__}:")
    assert "Flow.run" in where


async def test_time_limit_around_a_step_is_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    async def body(step: Any) -> None:
        async with asyncio.timeout(3600):
            await step.sleep("a", 1)

    assert "body" in await awaits_its_own(body, monkeypatch)


async def test_limit_of_wait_is_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    async def body(step: Any) -> None:
        await asyncio.wait([asyncio.create_task(step.sleep("a", 1))], timeout=3600)

    await awaits_its_own(body, monkeypatch)


async def test_future_of_unknown_origin_is_its_own_wherever_it_hides(monkeypatch: pytest.MonkeyPatch) -> None:
    future = asyncio.get_running_loop().create_future()
    await awaits_its_own(lambda step: asyncio.gather(step.sleep("a", 1), future), monkeypatch)
    future = asyncio.get_running_loop().create_future()
    waiting = lambda step: asyncio.wait([asyncio.create_task(step.sleep("a", 1)), future])  # noqa: E731
    await awaits_its_own(waiting, monkeypatch)


async def test_answer_comes_when_what_it_awaited_is_over() -> None:
    gate = asyncio.Event()

    async def body(step: Any) -> None:
        await gate.wait()
        await step.sleep("a", 1)

    host = ScriptedHost()
    number = host.start(flow(body))
    await turns()
    host.rest(number)
    await turns()
    assert not host.told("parked")
    gate.set()
    assert (await host.next("parked"))["calls"] == 1
    host.release(number)
    await host.next("released")


async def test_counts_tell_an_answer_that_crossed_newer_news() -> None:
    async def body(step: Any) -> None:
        await step.sleep("a", 1)
        await step.sleep("b", 1)

    host = ScriptedHost()
    number = host.start(flow(body))
    host.ret(await host.next("call"))
    await host.next("call")
    host.rest(number)
    told = await host.next("parked")
    assert (told["calls"], told["rets"]) == (2, 1)
    host.release(number)
    await host.next("released")


async def test_task_of_nobody_is_awaited_as_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    foreign = asyncio.create_task(asyncio.Event().wait())
    await awaits_its_own(lambda step: asyncio.wait([foreign]), monkeypatch)
    foreign.cancel()


async def test_step_that_works_is_not_parked() -> None:
    gate = asyncio.Event()

    async def body(step: Any) -> None:
        await step.do("work")(gate.wait)()

    host = ScriptedHost()
    number = host.start(flow(body))
    host.exec(await host.next("call"))
    await host.next("began")
    host.rest(number)
    await turns()
    assert not host.told("parked")
    gate.set()
    await host.next("ran")
    assert (await host.next("parked"))["calls"] == 1
    host.release(number)
    await host.next("released")
