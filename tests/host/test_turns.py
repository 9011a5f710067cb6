from __future__ import annotations

import pytest

from runtime.host.turns import Turns
from tests.host.virtual_clock import rest

pytestmark = pytest.mark.asyncio


async def test_a_turn_is_taken_soon_and_once() -> None:
    turns, taken = Turns(), list[str]()

    turns.ask(lambda: taken.append("a"))
    turns.ask(lambda: taken.append("b"))
    assert taken == []
    await rest()
    await rest()

    assert taken == ["a", "b"]


async def test_turns_wait_until_all_that_arrives_together_is_there() -> None:
    turns, taken = Turns(), list[str]()

    turns.hold()
    turns.ask(lambda: taken.append("a"))
    turns.hold()
    turns.ask(lambda: taken.append("b"))
    assert taken == []
    turns.take()

    assert taken == ["a", "b"]


async def test_what_was_asked_for_before_comes_with_what_arrives() -> None:
    turns, taken = Turns(), list[str]()

    turns.ask(lambda: taken.append("before"))
    turns.hold()
    turns.ask(lambda: taken.append("arrived"))
    turns.take()
    await rest()

    assert taken == ["before", "arrived"]


async def test_a_turn_that_asks_for_another_does_not_take_it_itself() -> None:
    turns, taken = Turns(), list[str]()

    def first() -> None:
        taken.append("first")
        turns.ask(lambda: taken.append("second"))

    turns.hold()
    turns.ask(first)
    turns.take()
    assert taken == ["first"]
    await rest()

    assert taken == ["first", "second"]
