"""The loop stays awake while an answer is about to come, and no longer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest

from workers_shim.wire.busy_poll import LIMIT, BusyPoll


class Loop:
    """What is to be called soon."""

    def __init__(self) -> None:
        self.due: list[Callable[[], None]] = []
        self.time_now = 100.0

    def call_soon(self, callback: Callable[..., None], *args: Any, context: Any = None) -> Any:
        self.due.append(callback)

    def comes_round(self, seconds: float) -> bool:
        """An iteration that takes so long; gives whether it does not sleep after it."""
        self.time_now += seconds
        due, self.due = self.due, []
        for callback in due:
            callback()
        return bool(self.due)


def poll_of(loop: Loop, processors: int) -> BusyPoll:
    return BusyPoll(cast(Any, loop), now=lambda: loop.time_now, processors=processors)


@pytest.fixture
def loop() -> Loop:
    return Loop()


@pytest.fixture
def poll(loop: Loop) -> BusyPoll:
    return poll_of(loop, processors=2)


def test_a_loop_that_has_said_nothing_sleeps(loop: Loop, poll: BusyPoll) -> None:
    poll.heard()
    assert not loop.due


def test_it_is_awake_from_what_was_said_to_the_answer(loop: Loop, poll: BusyPoll) -> None:
    poll.said()
    assert loop.comes_round(LIMIT / 4)
    assert loop.comes_round(LIMIT / 4)
    poll.heard()
    assert not loop.comes_round(0)


def test_it_sleeps_when_the_answer_takes_longer(loop: Loop, poll: BusyPoll) -> None:
    poll.said()
    assert loop.comes_round(LIMIT / 2)
    assert not loop.comes_round(LIMIT / 2 + 1e-9)


def test_more_that_is_said_makes_the_time_begin_anew_without_a_second_callback(loop: Loop, poll: BusyPoll) -> None:
    poll.said()
    assert loop.comes_round(LIMIT / 2)
    poll.said()
    assert loop.comes_round(LIMIT * 3 / 4)
    assert len(loop.due) == 1


def test_after_a_slow_answer_it_sleeps_at_once_until_one_was_prompt(loop: Loop, poll: BusyPoll) -> None:
    poll.said()
    loop.comes_round(2 * LIMIT)
    poll.heard()

    poll.said()
    assert not loop.due
    loop.time_now += LIMIT / 2
    poll.heard()

    poll.said()
    assert loop.comes_round(0)


def test_with_one_processor_it_always_sleeps(loop: Loop) -> None:
    poll_of(loop, processors=1).said()
    assert not loop.due
