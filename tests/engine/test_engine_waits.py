"""Event waits and events: each acknowledged event goes to one wait, oldest first."""

from __future__ import annotations

from typing import Any

import pytest

from runtime.engine import Failure
from runtime.engine import commands as cmd
from runtime.engine.durations import HOUR
from runtime.engine.effects import Settle
from tests.engine.driver import Instance


def took(instance: Instance, step: int) -> str | None:
    """The payload that a wait got, None while or if it got none."""
    number = instance.record(step).event
    return None if number is None else instance.state.events[number].payload


def test_c091_an_event_sent_during_a_wait_is_delivered(instance: Instance) -> None:
    step = instance.wait()
    instance.later(5).send(payload="[7]")
    assert instance.kinds == ["event_received", "wait_completed"]
    assert instance.last.effects == [Settle(step)]
    assert took(instance, step) == "[7]"
    assert instance.state.events[1].at == instance.now


def test_c092_events_sent_before_are_delivered_in_sending_order(instance: Instance) -> None:
    for n in range(12):
        instance.send(payload=f"[{n}]")
    assert [took(instance, instance.wait()) for _ in range(12)] == [f"[{n}]" for n in range(12)]


def test_c093_the_wait_that_was_registered_first_gets_the_first_event(instance: Instance) -> None:
    steps = [instance.wait(), instance.wait(), instance.wait()]
    for n in range(3):
        instance.send(payload=f"[{n}]")
    assert [took(instance, step) for step in steps] == ["[0]", "[1]", "[2]"]


@pytest.mark.parametrize("lost", [False, True])
def test_a9_c094_an_event_that_comes_early_is_kept(lost: bool) -> None:
    instance = Instance()
    instance.send(payload="[0]")  # while it is still queued
    instance.start().send("other")
    step = instance.do()
    instance.send(payload="[1]")  # while an earlier step runs
    instance.done(step)
    if lost:
        instance.crash().start()
        instance.do()
    first, second = instance.wait(), instance.wait()
    assert [took(instance, first), took(instance, second)] == ["[0]", "[1]"]
    assert list(instance.state.buffered["other"]) == [2]


def test_c095_another_type_is_not_delivered(instance: Instance) -> None:
    step = instance.wait("go")
    instance.send("Go")
    assert instance.kinds == ["event_received"]
    assert not instance.record(step).settled


def test_c101_a_payload_of_exactly_1_mib_is_taken_and_a_larger_one_refused(instance: Instance) -> None:
    assert instance.send(size=1 << 20).refusal is None
    assert instance.send(size=(1 << 20) + 1).refusal == Failure(
        "Error", "WorkflowError: (body) The payload exceeds the maximum size of 1MiB"
    )


@pytest.mark.parametrize("event_type", ["a.b", "", "-a", "x" * 101, "a\n", "é", None, 5])
def test_c102_a_type_outside_the_pattern_is_refused_on_both_sides(instance: Instance, event_type: Any) -> None:
    invalid = Failure("Error", "WorkflowError: workflow.invalid_event_type")
    assert instance.send(event_type).refusal == invalid
    instance.wait(event_type)
    assert instance.last.refusal == invalid


@pytest.mark.parametrize("event_type", ["a", "_a-b_C9", "x" * 100])
def test_types_within_the_pattern_are_taken(instance: Instance, event_type: str) -> None:
    assert instance.wait(event_type)


def test_c097_a_finished_instance_rejects_events(instance: Instance) -> None:
    instance.returned()
    assert instance.send().refusal is not None


@pytest.mark.parametrize("timeout", [100, "0.1 seconds"])
def test_c202_c203_a_wait_times_out_at_its_deadline(instance: Instance, timeout: Any) -> None:
    step = instance.wait(timeout=timeout)
    instance.later(100).ring()
    assert instance.kinds == ["wait_timed_out"]
    assert instance.last.effects == [Settle(step)]
    assert instance.record(step).duration == 100


@pytest.mark.parametrize("timeout", [None, 0, ""])
def test_c204_a_wait_times_out_after_24_hours_unless_it_says_otherwise(instance: Instance, timeout: Any) -> None:
    step = instance.wait(timeout=timeout)
    assert instance.record(step).due == instance.now + 86_400_000


def test_c206_two_waits_of_one_name_time_out_by_themselves(instance: Instance) -> None:
    first = instance.wait(timeout=100)
    instance.later(50)
    second = instance.wait(timeout=100)
    instance.later(50).ring()
    assert instance.record(first).settled and not instance.record(second).settled


@pytest.mark.parametrize("lost", [False, True])
def test_a1_c207_a_wait_that_timed_out_does_not_swallow_the_next_event(instance: Instance, lost: bool) -> None:
    first = instance.wait(timeout=1000)
    instance.later(1000).ring()
    if lost:
        instance.crash().start()
        instance.wait(timeout=1000)
    second = instance.wait(timeout=1000)
    instance.send(payload="[2]")
    third = instance.wait(timeout=1000)
    instance.send(payload="[3]")
    assert [took(instance, step) for step in (first, second, third)] == [None, "[2]", "[3]"]


def test_a1_a_wait_past_its_deadline_takes_no_event_even_before_its_timer_comes_round(instance: Instance) -> None:
    first = instance.wait(timeout=1000)
    instance.later(1000).send(payload="[2]")
    assert instance.kinds == ["event_received"]
    instance.ring()
    assert instance.kinds == ["wait_timed_out"]
    assert took(instance, first) is None
    assert took(instance, instance.wait()) == "[2]"


def test_an_event_just_before_the_deadline_is_in_time(instance: Instance) -> None:
    step = instance.wait(timeout=1000)
    instance.later(999).send(payload="[2]")
    instance.later(1).ring()
    assert instance.kinds == []
    assert took(instance, step) == "[2]"


def test_c214_a_deadline_that_passed_while_the_host_was_down_is_kept(instance: Instance) -> None:
    step = instance.wait(timeout=6000)
    instance.later(20_000).crash().start().wait(timeout=6000)
    assert instance.kinds == ["wait_timed_out"]
    assert instance.last.effects == [Settle(step)]


def test_the_first_deadline_wins(instance: Instance) -> None:
    step, due = instance.wait(timeout=1000), instance.now + 1000
    instance.later(300).crash().start().wait(timeout=99)
    assert instance.record(step).due == due


def test_c262_an_event_is_delivered_once_also_after_a_crash_and_a_pause(instance: Instance) -> None:
    first = instance.wait()
    instance.send()
    instance.pause()
    instance.resume()
    instance.crash().start().wait()
    second = instance.wait()
    assert instance.record(first).event == 1
    assert instance.kinds == ["wait_started"]
    assert not instance.record(second).settled


def test_an_event_wakes_a_waiting_instance(instance: Instance) -> None:
    instance.wait()
    instance.tell(cmd.RunParked())
    instance.send("other")
    assert instance.kinds == ["event_received"]
    assert instance.status() == "waiting"
    instance.send()
    assert instance.kinds == ["event_received", "workflow_running", "wait_completed"]


def test_a_timeout_of_no_time_is_over_at_once_and_one_that_is_false_is_the_default(instance: Instance) -> None:
    at_once, later = instance.wait(timeout="0 seconds"), instance.wait(timeout=0, name="later")
    assert instance.record(at_once).due == instance.now
    assert instance.record(later).due == instance.now + 24 * HOUR


@pytest.mark.parametrize("timeout", ["soon", float("nan"), float("-inf")])
def test_a_timeout_that_cannot_be_read_is_refused_naming_the_step(instance: Instance, timeout: Any) -> None:
    instance.wait(timeout=timeout, name="answer")
    assert instance.last.refusal is not None and 'Step "answer" has an invalid timeout' in instance.last.refusal.message


def test_c209_a_timeout_of_more_than_365_days_is_refused(instance: Instance) -> None:
    instance.wait(timeout="366 days")
    assert instance.last.refusal is not None and "365 days" in instance.last.refusal.message


def test_a_clock_that_goes_back_keeps_the_order_of_events(instance: Instance) -> None:
    step = instance.wait(timeout=1000)
    instance.later(1000).send(payload="[1]")  # too late for the wait
    instance.later(-500).send(payload="[2]")  # and now it is not
    assert took(instance, step) == "[1]"
