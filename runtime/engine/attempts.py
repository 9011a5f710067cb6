"""Attempts of a step's callback: begin, end, fail, wait, try again."""

from __future__ import annotations

from collections.abc import Collection

from . import commands as cmd
from . import events as ev
from . import rollback
from .durations import milliseconds
from .effects import AbortRun, AskDelay, CancelAttempt, Decision, RunAttempt, Settle
from .failures import (
    LOST,
    STORAGE_LIMIT,
    Failure,
    delay_failed,
    is_non_retryable,
    not_serialisable,
    result_too_large,
)
from .failures import timed_out as timeout_error
from .retries import backoff, delay_base
from .rules import LOST_DELAY, Rules
from .state import Record, State


def start(record: Record, now: int, decision: Decision) -> None:
    """Add the next attempt of ``record`` to the decision."""
    attempt = record.attempt + 1
    decision.events.append(ev.AttemptStarted(at=now, step=record.step, attempt=attempt))
    decision.effects.append(RunAttempt(record.step, attempt))


def finished(state: State, command: cmd.AttemptFinished, now: int, rules: Rules) -> Decision:
    record = _running(state, command.step, command.attempt)
    if record is None:
        return Decision()
    error = result_too_large(record.label) if command.size > rules.max_result else command.error
    if command.fatal:
        assert error is not None
        return _end_at_once(record, error, now)
    if error is not None:
        return _starting(_fail(state, record, error, now, at_once=command.no_delay), held=command.held)
    assert command.output is not None
    if command.stream is not None and not rules.streams:
        return _end_at_once(record, not_serialisable(record.name), now)
    if not state.has_room(command.output, rules.max_state, command.stream):
        return _end_at_once(record, STORAGE_LIMIT, now)
    return _settled(
        state,
        record,
        now,
        ev.AttemptCompleted(at=now, step=record.step, attempt=record.attempt),
        ev.StepCompleted(at=now, step=record.step, output=command.output, stream=command.stream),
    )


def _end_at_once(record: Record, error: Failure, now: int) -> Decision:
    """The instance ends in the middle of its run: nothing is tried again, caught or undone."""
    failed = ev.StepErrored(at=now, step=record.step, error=error)
    ended = ev.WorkflowErrored(at=now, error=error)
    return Decision([_errored(record, error, now, None), failed, ended], [AbortRun()])


def timed_out(state: State, command: cmd.AttemptTimedOut, now: int, rules: Rules) -> Decision:
    record = _running(state, command.step, command.attempt)
    if record is None:
        return Decision()
    assert record.config is not None
    decision = _fail(state, record, timeout_error(milliseconds(record.config.timeout)), now, at_once=command.no_delay)
    decision.effects.insert(0, CancelAttempt(record.step, record.attempt))
    return _starting(decision, held=command.held)


def _starting(decision: Decision, *, held: bool) -> Decision:
    """The decision, which starts nothing while attempts are held: a retry that is due at once is then taken up where
    the run goes on."""
    if held:
        decision.events = [event for event in decision.events if not isinstance(event, ev.AttemptStarted)]
        decision.effects = [effect for effect in decision.effects if not isinstance(effect, RunAttempt)]
    return decision


def _running(state: State, step: int, attempt: int) -> Record | None:
    """The record whose attempt this is, None when a late answer of an older attempt came in (I3)."""
    record = state.open.get(step)
    return record if record is not None and record.live and record.attempt == attempt else None


def _fail(state: State, record: Record, error: Failure, now: int, *, at_once: bool) -> Decision:
    assert record.config is not None
    if is_non_retryable(error) or record.attempt > record.config.limit:
        return _give_up(state, record, error, error, now)
    if record.dynamic and not state.holds(record.parent):
        asked = ev.DelayAsked(at=now, step=record.step, attempt=record.attempt, error=error)
        return Decision([asked], [AskDelay(record.step, record.attempt, error)])
    # With a pause pending the delay function is not asked: nobody may be there to answer.
    base = LOST_DELAY if record.dynamic else milliseconds(record.config.delay)
    return _retry(state, record, error, backoff(record.config, base, record.attempt), now, at_once=at_once)


def _retry(state: State, record: Record, error: Failure, delay: float, now: int, *, at_once: bool) -> Decision:
    decision = Decision([_errored(record, error, now, delay)])
    if (delay <= 0 or at_once) and not state.holds(record.parent):
        start(record, now, decision)
        return decision
    return _pause_if_idle(state, record, now, decision)


def _give_up(state: State, record: Record, attempt_error: Failure, error: Failure, now: int) -> Decision:
    failed = ev.StepErrored(at=now, step=record.step, error=error)
    return _settled(state, record, now, _errored(record, attempt_error, now, None), failed)


def _errored(record: Record, error: Failure, now: int, delay: float | None, lost: bool = False) -> ev.AttemptErrored:
    return ev.AttemptErrored(
        at=now, step=record.step, attempt=record.attempt, error=error, retry_delay=delay, lost=lost
    )


def _settled(state: State, record: Record, now: int, *events: ev.Event) -> Decision:
    return _pause_if_idle(state, record, now, Decision([*events], [Settle(record.step)]))


def _pause_if_idle(state: State, record: Record, now: int, decision: Decision) -> Decision:
    """Complete a pending pause when ``record`` was the last one with a running attempt."""
    if state.status != "waitingForPause":
        return decision
    over = {record.step, *(r.step for r in state.nested_in(record.step))}
    if not state.live - over:
        decision.events += stop_asking(state, now, over)
        decision.events.append(ev.WorkflowPaused(at=now))
        decision.effects = [AbortRun()]
    return decision


# ----------------------------------------------------------------------------------------------------- delay functions


def delay_answered(state: State, command: cmd.DelayAnswered, now: int, rules: Rules) -> Decision:
    record = state.open.get(command.step)
    if record is None or record.asked is None or record.attempt != command.attempt:
        return Decision()
    assert record.config is not None and record.error is not None
    base = None if command.problem is not None else delay_base(command.value)
    if base is None:
        problem = command.problem or (
            'returned an invalid delay value (expected a number of ms or a duration string like "30 seconds")'
        )
        return _give_up(state, record, record.error, delay_failed(record.label, problem), now)
    delay = backoff(record.config, base, record.attempt)
    return _retry(state, record, record.error, delay, now, at_once=command.no_delay)


def stop_asking(state: State, now: int, over: Collection[int] = ()) -> list[ev.Event]:
    """Close every open question to a delay function, but those of steps that are ``over`` with this decision; the
    retry comes `LOST_DELAY` after it was asked."""
    events: list[ev.Event] = []
    for step in sorted(state.asking.difference(over)):
        record = state.records[step]
        assert record.asked is not None and record.error is not None
        wait = max(0, record.asked + LOST_DELAY - now)
        events.append(_errored(record, record.error, now, wait))
    return events


# ------------------------------------------------------------------------------------------------------- lost attempts


def run_lost(state: State, command: cmd.RunLost, now: int, rules: Rules) -> Decision:
    """Journal what was running as failed. The first loss runs again at once; of those that follow one another, all but
    the first count against the step's limit, with its backoff, so that a step which kills its process ends."""
    if state.final:
        return Decision()
    decision = Decision(stop_asking(state, now))
    for step in sorted(state.live):
        record = state.records[step]
        if record.parent not in state.live:  # else it ends with the attempt that called it
            decision.events.extend(_lose(record, now))
    decision.events += rollback.lost(state, now, rules)
    if state.status == "waitingForPause":
        decision.events.append(ev.WorkflowPaused(at=now))
    return decision


def _lose(record: Record, now: int) -> list[ev.Event]:
    assert record.config is not None
    if record.losses == 0:
        return [_errored(record, LOST, now, 0, lost=True)]
    if record.attempt - 1 > record.config.limit:
        return [
            _errored(record, LOST, now, None, lost=True),
            ev.StepErrored(at=now, step=record.step, error=LOST),
        ]
    base = LOST_DELAY if record.dynamic else milliseconds(record.config.delay)
    delay = backoff(record.config, base, record.attempt - 1)
    return [_errored(record, LOST, now, delay, lost=True)]
