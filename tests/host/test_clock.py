"""The one clock: it moves forward whatever the wall clock does, and its alarms are armed anew (I11)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import pytest

from runtime.host import clock as module
from runtime.host.clock import MAX_NAP, Clock


class Time:
    """Both of the system's clocks, and a loop whose timers a test sets off."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.wall_ns = 1_700_000_000_000_000_000
        self.steady_ns = 5_000_000_000
        self.naps: list[float] = []
        self.ring: Callable[[], None] = lambda: None
        monkeypatch.setattr(time, "time_ns", lambda: self.wall_ns)
        monkeypatch.setattr(module, "_steady_ns", lambda: self.steady_ns)
        monkeypatch.setattr(asyncio, "get_running_loop", lambda: self)

    def call_later(self, seconds: float, callback: Callable[[], None]) -> Time:
        self.naps.append(seconds)
        self.ring = callback
        return self

    def cancel(self) -> None:
        self.ring = lambda: None

    def passes(self, seconds: float) -> None:
        """Time passes, for the machine as well as in the world."""
        self.steady_ns += round(seconds * 1e9)
        self.wall_ns += round(seconds * 1e9)


@pytest.fixture
def time_(monkeypatch: pytest.MonkeyPatch) -> Time:
    return Time(monkeypatch)


def test_it_begins_with_the_wall_clock(time_: Time) -> None:
    assert Clock().now() == 1_700_000_000_000


@pytest.mark.parametrize("jump", [86_400, -86_400])
def test_i11_a_jump_of_the_wall_clock_does_not_move_it(time_: Time, jump: int) -> None:
    clock = Clock()

    time_.wall_ns += jump * 10**9
    time_.passes(1)

    assert clock.now() == 1_700_000_001_000


def test_the_offset_moves_it(time_: Time) -> None:
    clock = Clock(offset_ms=60_000)
    assert clock.now() == 1_700_000_060_000

    clock.offset_ms = -60_000

    assert clock.now() == 1_699_999_940_000


def test_an_alarm_rings_once_at_its_time(time_: Time) -> None:
    rung: list[int] = []
    clock = Clock()
    alarm = clock.call_at(clock.now() + 1500, lambda: rung.append(clock.now()))

    assert time_.naps == [1.5]
    time_.passes(1.5)
    time_.ring()

    assert rung == [alarm.at]
    assert time_.naps == [1.5]


def test_an_alarm_whose_time_has_passed_rings_in_the_loops_next_turn(time_: Time) -> None:
    rung: list[bool] = []
    clock = Clock()

    clock.call_at(clock.now() - 5_000, lambda: rung.append(True))
    assert (time_.naps, rung) == ([0], [])
    time_.ring()

    assert rung == [True]


def test_i11_a_distant_alarm_is_armed_anew_every_ten_seconds_so_that_a_suspend_delays_it_no_longer(
    time_: Time,
) -> None:
    rung: list[bool] = []
    clock = Clock()
    clock.call_at(clock.now() + 365 * 86_400_000, lambda: rung.append(True))

    time_.ring()
    assert time_.naps == [MAX_NAP, MAX_NAP]
    time_.passes(365 * 86_400 - 3)  # the machine was suspended
    time_.ring()
    assert (time_.naps[-1], rung) == (3, [])
    time_.passes(3)
    time_.ring()

    assert rung == [True]


def test_a_timer_of_the_loop_that_is_early_rings_nothing(time_: Time) -> None:
    rung: list[bool] = []
    clock = Clock()
    clock.call_at(clock.now() + 1000, lambda: rung.append(True))

    time_.passes(0.9995)
    time_.ring()

    assert rung == []
    assert time_.naps[-1] == pytest.approx(0.001)


def test_a_cancelled_alarm_does_not_ring(time_: Time) -> None:
    rung: list[bool] = []
    clock = Clock()
    alarm = clock.call_at(clock.now(), lambda: rung.append(True))

    alarm.cancel()
    time_.ring()

    assert rung == []


def test_the_steady_clock_is_one_that_counts_through_a_suspend_where_there_is_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[int] = []
    monkeypatch.setattr(module, "_BOOTTIME", 7)

    def gettime(clock: int) -> int:
        asked.append(clock)
        return 42

    monkeypatch.setattr(time, "clock_gettime_ns", gettime, raising=False)

    assert (module._steady_ns(), asked) == (42, [7])
    monkeypatch.setattr(module, "_BOOTTIME", None)
    assert module._steady_ns() > 0
    assert asked == [7]
