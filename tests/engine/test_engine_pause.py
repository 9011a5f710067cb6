"""Pause and resume."""

from __future__ import annotations

import pytest

from runtime.engine import Failure
from runtime.engine import commands as cmd
from runtime.engine.effects import AbortRun, RunAttempt, Settle
from tests.engine.driver import Instance, retries


def test_c061_a_pause_waits_for_the_running_attempt_and_keeps_its_result(instance: Instance) -> None:
    step = instance.do()
    instance.pause()
    assert instance.kinds == ["workflow_waiting_for_pause"]
    assert instance.last.effects == []
    instance.done(step)
    assert instance.kinds == ["attempt_completed", "step_completed", "workflow_paused"]
    assert instance.last.effects == [AbortRun()], "the code does not go on"


def test_c062_a_second_pause_changes_nothing(instance: Instance) -> None:
    instance.do()
    instance.pause()
    assert instance.pause().events == []


@pytest.mark.parametrize("kind", ["sleep", "wait", "retry"])
def test_c063_c064_c065_a_waiting_instance_is_paused_at_once(instance: Instance, kind: str) -> None:
    if kind == "sleep":
        instance.sleep()
    elif kind == "wait":
        instance.wait()
    else:
        instance.failed(instance.do(config=retries()))
    instance.tell(cmd.RunParked())
    instance.pause()
    assert instance.kinds == ["workflow_waiting_for_pause", "workflow_paused"]
    assert instance.last.effects == [AbortRun()]
    assert instance.state.next_due() is None
    assert instance.later(10**9).ring().events == [], "time stands still"


def test_a7_c066_two_parallel_steps_end_before_the_pause_and_the_third_starts_after_it(instance: Instance) -> None:
    first, second = instance.do("a"), instance.do("b")
    instance.pause()
    instance.done(first)
    assert instance.status() == "waitingForPause"
    third = instance.do("c")
    assert instance.kinds == ["step_started"]
    instance.done(second)
    assert instance.status() == "paused"
    instance.resume()
    instance.start()
    assert [instance.do("a"), instance.do("b"), instance.do("c")] == [first, second, third]
    assert instance.kinds == ["attempt_started"]
    assert instance.record(first).attempt == instance.record(second).attempt == 1


def test_a7_c069_an_early_resume_cancels_the_pause_and_lets_go_what_it_held(instance: Instance) -> None:
    first = instance.do("a")
    instance.pause()
    held = instance.do("b")
    instance.resume()
    assert instance.kinds == ["resumed", "workflow_running", "attempt_started"]
    assert instance.last.effects == [RunAttempt(held, 1)]
    instance.done(first)
    assert instance.status() == "running"


def test_a7_a_sleep_has_what_was_left_of_it_after_a_pause(instance: Instance) -> None:
    step = instance.sleep(10_000)
    instance.later(3000).pause()
    instance.later(30_000).resume()
    assert instance.record(step).due == instance.now + 7000


def test_c072_a_retry_delay_has_what_was_left_of_it_after_a_pause(instance: Instance) -> None:
    step = instance.do(config=retries(delay=1500))
    instance.failed(step)
    instance.later(200).pause()
    instance.later(2000).resume()
    instance.start().do(config=retries(delay=1500))
    assert instance.last.effects == []
    instance.later(1300).ring()
    assert instance.last.effects == [RunAttempt(step, 2)]


def test_a7_c096_an_event_sent_while_paused_is_kept_and_delivered(instance: Instance) -> None:
    step = instance.wait()
    instance.pause()
    instance.send(payload="[1]")
    assert instance.kinds == ["event_received"] and instance.status() == "paused"
    instance.later(500).resume()
    assert instance.kinds == ["resumed", "wait_completed"]
    instance.start()
    assert instance.wait() == step
    assert instance.last.effects == [Settle(step)]


def test_events_sent_while_paused_go_to_the_oldest_waits_oldest_first(instance: Instance) -> None:
    a1, b1, a2, a3 = instance.wait("a"), instance.wait("b"), instance.wait("a"), instance.wait("a")
    instance.pause()
    for event_type in ("a", "b", "a", "c"):
        instance.send(event_type)
    instance.resume()
    assert [instance.record(step).event for step in (a1, b1, a2, a3)] == [1, 2, 3, None]
    assert [step for settled, step in instance.state.timeline if settled] == [a1, b1, a2]
    instance.start().send("a")
    assert instance.record(a3).event == 5


def test_an_event_that_came_during_the_pause_is_in_time_however_long_the_code_takes_to_come_back(
    instance: Instance,
) -> None:
    step = instance.wait(timeout=1000)
    instance.later(999).pause()
    instance.later(5000).send()
    instance.resume()
    instance.later(10).ring()
    assert instance.record(step).event == 1


def test_a_wait_that_was_over_before_the_pause_takes_no_event_of_the_pause(instance: Instance) -> None:
    step = instance.wait(timeout=1000)
    instance.later(1000).pause()
    instance.send()
    instance.resume()
    instance.start().wait(timeout=1000)
    assert instance.kinds == ["wait_timed_out"]
    assert instance.record(step).event is None


def test_c067_c070_c071_pause_and_resume_do_nothing_elsewhere(instance: Instance) -> None:
    assert instance.resume().events == []
    instance.returned()
    assert instance.pause().events == []
    assert instance.resume().events == []
    assert Instance().pause().events == [], "queued"


def test_c068_after_a_resume_run_begins_anew_and_finds_its_results(instance: Instance) -> None:
    step = instance.do()
    instance.pause()
    instance.done(step)
    instance.resume()
    assert instance.status() == "queued"
    instance.start()
    assert instance.kinds == ["workflow_running"]
    assert instance.do() == step
    assert instance.last.effects == [Settle(step)]


def test_c217_a_pending_pause_is_a_pause_after_a_crash(instance: Instance) -> None:
    step = instance.do()
    instance.pause()
    instance.crash()
    assert instance.status() == "paused"
    instance.resume()
    instance.start().do()
    assert instance.last.effects == [RunAttempt(step, 2)]


def test_c264_c266_what_a_paused_run_says_is_not_heard(instance: Instance) -> None:
    instance.sleep()
    instance.pause()
    assert instance.do() == 0
    assert instance.returned().events == []
    assert instance.raised().events == []
    assert instance.status() == "paused"


def test_c265_a_step_that_may_not_be_retried_does_not_hold_up_a_pause(instance: Instance) -> None:
    step = instance.do()
    instance.pause()
    instance.failed(step, Failure("NonRetryableError", "no"))
    assert instance.status() == "paused"


def test_a_retry_without_delay_waits_for_the_resume(instance: Instance) -> None:
    step = instance.do(config=retries(delay=0))
    instance.pause()
    instance.failed(step)
    assert instance.kinds == ["attempt_errored", "workflow_paused"]
    instance.resume()
    instance.start().ring()
    assert instance.last.effects == [RunAttempt(step, 2)]


def test_with_a_pause_pending_a_due_retry_is_neither_started_nor_announced(instance: Instance) -> None:
    step = instance.do("a", config=retries(delay=100))
    instance.do("b")
    instance.failed(step)
    instance.pause()
    assert instance.state.next_due() is None
    instance.later(100).ring()
    assert instance.kinds == []
    instance.resume()
    assert instance.last.effects == [RunAttempt(step, 2)]


def test_with_a_pause_pending_sleeps_and_deadlines_still_end(instance: Instance) -> None:
    instance.do()
    nap, wait = instance.sleep(100), instance.wait(timeout=100)
    instance.pause()
    assert instance.state.next_due() == instance.now + 100
    instance.later(100).ring()
    assert instance.last.effects == [Settle(nap), Settle(wait)]
    assert instance.status() == "waitingForPause"


def test_a_run_that_returns_before_the_pause_is_complete(instance: Instance) -> None:
    instance.do()
    instance.pause()
    instance.returned()
    assert instance.status() == "complete"


def test_what_comes_due_while_a_resumed_instance_queues_is_seen_to_when_it_runs(instance: Instance) -> None:
    step = instance.sleep(100)
    instance.pause()
    instance.resume()
    assert instance.state.next_due() is None, "it waits for a place, not for a time"
    assert instance.later(100).ring(run=False).events == []
    instance.start().ring()
    assert instance.last.effects == [Settle(step)]
