"""workerd is asked to collect its garbage now and then, and never for much of the time."""

from __future__ import annotations

import asyncio

import pytest

from runtime.isolates.workerd import garbage
from runtime.isolates.workerd.garbage import EVERY, Garbage

pytestmark = pytest.mark.asyncio


class Collector:
    """What is asked to collect; each time takes until it is let go."""

    def __init__(self) -> None:
        self.began = 0
        self.may_end = asyncio.Event()
        self.may_end.set()
        self.tasks: list[asyncio.Future[None]] = []
        self.garbage = Garbage(self.collect, lambda work: self.tasks.append(asyncio.ensure_future(work)))

    async def collect(self) -> None:
        self.began += 1
        await self.may_end.wait()

    async def over(self) -> None:
        await asyncio.gather(*self.tasks)


async def test_many_ended_runs_are_collected_at_once() -> None:
    asked = Collector()
    for _ in range(EVERY):
        asked.garbage.left()
    await asked.over()
    assert asked.began == 1
    asked.garbage.stop()


async def test_a_few_are_collected_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(garbage, "QUIET", 0.01)
    asked = Collector()
    asked.garbage.left()
    asked.garbage.left()
    assert asked.began == 0
    async with asyncio.timeout(10):
        while not asked.began:
            await asyncio.sleep(0.01)
    await asked.over()
    assert asked.began == 1
    asked.garbage.stop()


async def test_after_one_that_took_long_there_is_a_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(garbage, "SHARE", 1_000_000)
    asked = Collector()
    asked.may_end.clear()
    for _ in range(EVERY):
        asked.garbage.left()
    await asyncio.sleep(0.01)
    asked.may_end.set()
    await asked.over()
    for _ in range(3 * EVERY):
        asked.garbage.left()
    await asyncio.sleep(0)
    assert asked.began == 1
    asked.garbage.stop()


async def test_what_ends_while_it_is_collected_is_collected_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(garbage, "QUIET", 0.01)
    monkeypatch.setattr(garbage, "SHARE", 0)
    asked = Collector()
    asked.may_end.clear()
    for _ in range(EVERY + 1):
        asked.garbage.left()
    await asyncio.sleep(0)
    asked.may_end.set()
    async with asyncio.timeout(10):
        while asked.began < 2:
            await asyncio.sleep(0.01)
    await asked.over()
    asked.garbage.stop()


async def test_of_an_isolate_that_is_gone_nothing_is_asked() -> None:
    asked = Collector()
    asked.garbage.left()
    asked.garbage.stop()
    for _ in range(EVERY):
        asked.garbage.left()
    await asyncio.sleep(0)
    assert asked.began == 0
