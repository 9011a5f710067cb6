"""Undo functions: which run, in which order, and what becomes of the instance."""

from __future__ import annotations

from . import commands as cmd
from . import events as ev
from .durations import milliseconds
from .effects import CancelAttempt, CancelRollback, Decision, RunRollback
from .failures import LOST, ROLLBACK_MISSING, Failure, final_error, is_non_retryable
from .failures import timed_out as timeout_error
from .retries import backoff, resolve_config
from .rules import Rules
from .state import Rollback, State


def begin(state: State, error: Failure, outcome: str, now: int, rules: Rules, *, held: bool) -> Decision | None:
    """Start undoing, newest start first; None when no step has an undo function that has not run.

    Every rollback begins here. What still runs is given up. ``held`` leaves the first attempt to the timer.
    """
    steps = [r.step for r in state.records.values() if r.rollback and r.step not in state.rolled_back]
    if not steps:
        return None
    steps.reverse()
    decision = Decision([ev.RollbackStarted(at=now, error=error, steps=steps, outcome=outcome)])
    decision.effects += [CancelAttempt(step, state.records[step].attempt) for step in sorted(state.live)]
    decision.events.append(ev.RollbackStepStarted(at=now, step=steps[0], config=undo_config(state, steps[0], rules)))
    if not held:
        _first_attempt(decision, steps[0], error, now)
    return decision


def _first_attempt(decision: Decision, step: int, error: Failure, now: int) -> None:
    decision.events.append(ev.RollbackAttemptStarted(at=now, step=step, attempt=1))
    decision.effects.append(RunRollback(step, 1, error))


def finished(state: State, command: cmd.RollbackFinished, now: int, rules: Rules) -> Decision:
    undo = _running(state, command)
    if undo is None:
        return Decision()
    if command.missing:
        return _attempt_failed(state, ROLLBACK_MISSING, None, now, rules)
    if command.error is not None:
        return _failed(state, command.error, now, rules)
    decision = Decision(
        [
            ev.RollbackAttemptCompleted(at=now, step=command.step, attempt=command.attempt),
            ev.RollbackStepCompleted(at=now, step=command.step),
        ]
    )
    if len(undo.steps) == 1:
        decision.events += [ev.RollbackCompleted(at=now), _end(state, now, rules)]
        return decision
    step = undo.steps[1]
    decision.events.append(ev.RollbackStepStarted(at=now, step=step, config=undo_config(state, step, rules)))
    if not command.held:
        _first_attempt(decision, step, undo.error, now)
    return decision


def timed_out(state: State, command: cmd.RollbackTimedOut, now: int, rules: Rules) -> Decision:
    if _running(state, command) is None:
        return Decision()
    config = undo_config(state, command.step, rules)
    decision = _failed(state, timeout_error(milliseconds(config.timeout)), now, rules)
    decision.effects.insert(0, CancelRollback(command.step, command.attempt))
    return decision


def _running(state: State, command: cmd.RollbackFinished | cmd.RollbackTimedOut) -> Rollback | None:
    """The rollback whose running attempt this is, None when a late answer of an older one came in (I3)."""
    undo = state.rollback
    if undo is None or not undo.live or undo.steps[0] != command.step or undo.attempt != command.attempt:
        return None
    return undo


def _failed(state: State, error: Failure, now: int, rules: Rules) -> Decision:
    """Try again as a step would; the first undo that fails for good ends the rollback."""
    undo = state.rollback
    assert undo is not None
    step = undo.steps[0]
    config = undo_config(state, step, rules)
    final = is_non_retryable(error) or undo.attempt > config.limit
    delay = backoff(config, milliseconds(config.delay), undo.attempt)
    return _attempt_failed(state, error, None if final else delay, now, rules)


def lost(state: State, now: int, rules: Rules) -> list[ev.Event]:
    """The isolate or the host died during an undo. As of a step's attempts, the first loss is tried again at once, and
    the others count, so that an undo which kills its process ends."""
    undo = state.rollback
    if undo is None or not undo.live:
        return []
    config = undo_config(state, undo.steps[0], rules)
    if undo.attempt - 1 > config.limit:
        return _attempt_failed(state, LOST, None, now, rules).events
    delay = 0 if undo.attempt == 1 else backoff(config, milliseconds(config.delay), undo.attempt - 1)
    return _attempt_failed(state, LOST, delay, now, rules).events


def undo_config(state: State, step: int, rules: Rules) -> ev.Config:
    """Retries and timeout of the step's undo function: those that came with it, or a step's defaults."""
    config = state.records[step].rollback_config or resolve_config(None, delay_function=False, rules=rules)
    assert config is not None
    return config


def _attempt_failed(state: State, error: Failure, delay: float | None, now: int, rules: Rules) -> Decision:
    undo = state.rollback
    assert undo is not None
    step = undo.steps[0]
    decision = Decision(
        [ev.RollbackAttemptErrored(at=now, step=step, attempt=undo.attempt, error=error, retry_delay=delay)]
    )
    if delay is None:
        decision.events += [
            ev.RollbackStepErrored(at=now, step=step, error=error),
            ev.RollbackErrored(at=now, error=error),
            _end(state, now, rules),
        ]
    return decision


def retry(state: State, now: int) -> Decision:
    """The next attempt of the undo whose delay is over."""
    undo = state.rollback
    if undo is None or undo.live or undo.due is None or undo.due > now:
        return Decision()
    step, attempt = undo.steps[0], undo.attempt + 1
    return Decision(
        [ev.RollbackAttemptStarted(at=now, step=step, attempt=attempt)],
        [RunRollback(step, attempt, undo.error)],
    )


def _end(state: State, now: int, rules: Rules) -> ev.Event:
    undo = state.rollback
    assert undo is not None
    if undo.outcome == "terminated":
        return ev.WorkflowTerminated(at=now)
    return ev.WorkflowErrored(at=now, error=final_error(undo.error, preserve=rules.preserve_non_retryable))
