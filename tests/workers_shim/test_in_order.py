"""`asyncio.as_completed` starts what it is given in the order in which it is given."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from workers_shim import current, in_order


class Ear:
    """Hears warnings."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def warn(self, text: str, *, once: str | None = None) -> None:
        self.said.append(text)


@pytest.fixture
def ear(monkeypatch: pytest.MonkeyPatch) -> Ear:
    ear = Ear()
    monkeypatch.setattr(current, "host", ear, raising=False)
    return ear


async def started(collect: Callable[[Iterable[Any]], Iterable[Any]]) -> list[int]:
    order: list[int] = []

    async def one(n: int) -> int:
        order.append(n)
        return n

    results = [await each for each in in_order.as_completed(collect(one(n) for n in range(50)))]
    assert sorted(results) == list(range(50))
    return order


@pytest.mark.parametrize("collect", [list, tuple])
def test_coroutines_start_in_the_order_given(collect: Callable[[Iterable[Any]], Iterable[Any]], ear: Ear) -> None:
    assert asyncio.run(started(collect)) == list(range(50))
    assert ear.said == []


def test_a_set_of_coroutines_gets_a_warning(ear: Ear) -> None:
    asyncio.run(started(set))
    (text,) = ear.said
    assert "test_in_order.py" in text and "Use a list" in text


def test_a_set_of_tasks_gets_none_for_they_have_started_already(ear: Ear) -> None:
    async def main() -> None:
        tasks = {asyncio.create_task(asyncio.sleep(0)) for _ in range(3)}
        for each in in_order.as_completed(tasks):
            await each

    asyncio.run(main())
    assert ear.said == []


def test_the_same_awaitable_twice_is_awaited_once(ear: Ear) -> None:
    async def main() -> int:
        task = asyncio.create_task(asyncio.sleep(0))
        return len([await each for each in in_order.as_completed([task, task])])

    assert asyncio.run(main()) == 1


def test_a_single_awaitable_is_refused_as_ever(ear: Ear) -> None:
    async def main() -> None:
        future = asyncio.get_running_loop().create_future()
        with pytest.raises(TypeError, match="expect"):
            list(in_order.as_completed(future))

    asyncio.run(main())
