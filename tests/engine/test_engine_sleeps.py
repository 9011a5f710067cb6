"""Sleeps, and the clock under them."""

from __future__ import annotations

import math
from typing import Any

import pytest

from runtime.engine import Failure
from runtime.engine import commands as cmd
from runtime.engine.effects import Settle
from runtime.engine.failures import bad_duration, too_long
from tests.engine.driver import Instance

DAY = 86_400_000


def test_c194_a_number_sleeps_milliseconds(instance: Instance) -> None:
    step = instance.sleep(100)
    assert instance.record(step).due == instance.now + 100
    instance.later(99).ring()
    assert not instance.record(step).settled
    instance.later(1).ring()
    assert instance.kinds == ["sleep_completed"]
    assert instance.last.effects == [Settle(step)]


@pytest.mark.parametrize("duration", [-5, 0, "-5 seconds", None])
def test_c195_a_negative_sleep_returns_at_once(instance: Instance, duration: Any) -> None:
    step = instance.sleep(duration)
    assert instance.kinds == ["sleep_started", "sleep_completed"]
    assert instance.last.effects == [Settle(step)]


def test_c196_a_sleep_may_have_any_name(instance: Instance) -> None:
    assert instance.sleep(1, name="x" * 300)


@pytest.mark.parametrize("duration", ["5s", math.nan, -math.inf, {}])
def test_a_duration_that_cannot_be_read_is_refused_naming_the_step(instance: Instance, duration: Any) -> None:
    instance.sleep(duration, name="nap")
    assert instance.last.refusal is not None and 'Step "nap" has an invalid duration' in instance.last.refusal.message


@pytest.mark.parametrize("duration", [365.25 * DAY + 1, "366 days", math.inf, 10**400])
def test_c197_a_sleep_of_more_than_365_days_is_refused(instance: Instance, duration: Any) -> None:
    instance.sleep(duration)
    assert instance.last.refusal is not None and "365 days" in instance.last.refusal.message


def test_a_sleep_of_1_year_is_accepted(instance: Instance) -> None:
    instance.sleep("1 year")
    assert instance.last.refusal is None


def test_a_sleep_of_exactly_365_days_ends_when_it_is_due(instance: Instance) -> None:
    instance.sleep("365 days")
    instance.later(365 * DAY - 1).ring()
    assert instance.kinds == []
    instance.later(1).ring()
    assert instance.kinds == ["sleep_completed"]


def test_c198_c199_a_first_sleep_until_a_time_in_the_past_is_refused(instance: Instance) -> None:
    instance.sleep(None, until=instance.now - 1)
    assert instance.last.refusal == Failure("Error", "You can't sleep until a time in the past, time-traveler")
    instance.sleep(None, name="seconds", until=instance.now / 1000)
    assert instance.last.refusal == Failure("Error", "You can't sleep until a time in the past, time-traveler")


def test_c200_sleep_until_ends_at_its_time(instance: Instance) -> None:
    step = instance.sleep(None, until=instance.now + 100)
    assert instance.record(step).due == instance.now + 100


def test_sleep_until_this_very_moment_is_done(instance: Instance) -> None:
    instance.sleep(None, until=instance.now)
    assert instance.kinds == ["sleep_started", "sleep_completed"]


def test_sleep_until_obeys_the_same_maximum(instance: Instance) -> None:
    instance.sleep(None, until=instance.now + 366 * DAY)
    assert instance.last.refusal == too_long("s", "sleep")
    instance.sleep(None, until=math.nan, name="n")
    assert instance.last.refusal == bad_duration("n", "target time")


def test_c201_a_target_that_has_passed_on_a_replay_is_simply_done(instance: Instance) -> None:
    target = instance.now + 100
    step = instance.sleep(None, until=target)
    instance.later(100).ring()
    instance.later(1000).crash().start()
    assert instance.sleep(None, until=target) == step
    assert instance.last.refusal is None and instance.last.effects == [Settle(step)]


def test_duration_is_not_part_of_a_sleeps_identity_and_the_first_due_time_wins(instance: Instance) -> None:
    step, due = instance.sleep(1000), instance.now + 1000
    instance.later(300).crash().start()
    assert instance.sleep(9999) == step
    assert instance.record(step).due == due


def test_c212_a_sleep_that_ended_while_the_host_was_down_ends_when_the_code_is_back(instance: Instance) -> None:
    step = instance.sleep(1000)
    instance.later(5000).crash().start().sleep(1000)
    assert instance.kinds == ["sleep_completed"]
    assert instance.last.effects == [Settle(step)]


def test_sleeps_end_in_the_order_of_their_due_times_however_late_the_timer_is(instance: Instance) -> None:
    long, short = instance.sleep(200), instance.sleep(100)
    instance.later(DAY).ring()
    assert instance.last.effects == [Settle(short), Settle(long)]


def test_a_timer_that_comes_early_or_twice_does_nothing(instance: Instance) -> None:
    instance.sleep(100)
    assert instance.ring().events == []
    instance.later(100).ring()
    assert instance.ring().events == []


def test_a_clock_that_goes_back_neither_loses_nor_doubles_a_wake_up(instance: Instance) -> None:
    step = instance.sleep(100)
    instance.later(-5000).ring()
    assert instance.kinds == []
    assert instance.state.next_due() == instance.record(step).due
    instance.later(5100).ring()
    assert instance.kinds == ["sleep_completed"]


def test_a_fraction_of_a_millisecond_is_slept_in_full(instance: Instance) -> None:
    step = instance.sleep(0.5)
    assert instance.record(step).due == instance.now + 1


def test_an_instance_that_only_sleeps_is_waiting_until_it_is_due(instance: Instance) -> None:
    instance.sleep(1000)
    instance.tell(cmd.RunParked())
    assert instance.kinds == ["workflow_waiting"]
    assert instance.tell(cmd.RunParked()).events == [], "told once"
    instance.later(1000).ring(run=False)
    assert instance.kinds == ["workflow_running", "sleep_completed"]
    instance.start()
    assert instance.kinds == [], "it runs already"


def test_an_instance_with_a_running_attempt_is_not_waiting(instance: Instance) -> None:
    instance.sleep(1000)
    instance.do()
    assert instance.tell(cmd.RunParked()).events == []


def test_an_instance_that_waits_for_nothing_of_ours_is_not_waiting(instance: Instance) -> None:
    assert instance.tell(cmd.RunParked()).events == []
