"""``decide(state, command, now, rules)``: what a command makes of an instance. Pure: it reads, and changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import attempts, calls, control, rollback
from . import commands as cmd
from . import events as ev
from .effects import Decision, Settle
from .failures import final_error
from .rules import Rules
from .state import State


def decide(state: State, command: cmd.Command, now: int, rules: Rules) -> Decision:
    """The events that the command adds to the journal, and the effects that follow once they are committed."""
    return _DECIDE[type(command)](state, command, now, rules)


def run_started(state: State, command: cmd.RunStarted, now: int, rules: Rules) -> Decision:
    assert not state.final and state.status != "paused", f"{state.status} instances do not run"
    assert not state.live and not state.asking, "a run starts when nothing of an earlier one is left"
    events: list[ev.Event] = []
    if not state.started:
        events.append(ev.WorkflowStarted(at=now, code=command.code))
    elif command.code and command.code != state.code:
        events.append(ev.CodeChanged(at=now, code=command.code))
    if state.status in ("queued", "waiting"):
        events.append(ev.WorkflowRunning(at=now))
    return Decision(events)


def run_parked(state: State, command: cmd.RunParked, now: int, rules: Rules) -> Decision:
    if state.status != "running" or not state.only_waits():
        return Decision()
    return Decision([ev.WorkflowWaiting(at=now)])


def run_done(state: State, command: cmd.RunDone, now: int, rules: Rules) -> Decision:
    if state.dormant or state.rollback is not None:
        return Decision()
    if command.error is None:
        assert command.output is not None
        return Decision([ev.WorkflowCompleted(at=now, output=command.output)])
    undo = None if command.fatal else rollback.begin(state, command.error, "errored", now, rules, held=command.held)
    return undo or Decision(
        [ev.WorkflowErrored(at=now, error=final_error(command.error, preserve=rules.preserve_non_retryable))]
    )


def timer_due(state: State, command: cmd.TimerDue, now: int, rules: Rules) -> Decision:
    if state.dormant:
        return Decision()
    if state.rollback is not None:
        return rollback.retry(state, now) if command.run else Decision()
    due = state.due_by(now)
    decision = Decision(control.wake(state, now) if due else [])
    for record in due:
        if record.kind == "sleep":
            decision.events.append(ev.SleepCompleted(at=now, step=record.step))
        elif record.kind == "wait":
            decision.events.append(ev.WaitTimedOut(at=now, step=record.step))
        else:
            if command.run and not state.holds(record.parent):
                attempts.start(record, now, decision)
            continue
        decision.effects.append(Settle(record.step))
    return decision


_DECIDE: dict[type[Any], Callable[[State, Any, int, Rules], Decision]] = {
    cmd.RunStarted: run_started,
    cmd.RunParked: run_parked,
    cmd.RunLost: attempts.run_lost,
    cmd.RunDone: run_done,
    cmd.CallMade: calls.call_made,
    cmd.AttemptFinished: attempts.finished,
    cmd.AttemptTimedOut: attempts.timed_out,
    cmd.DelayAnswered: attempts.delay_answered,
    cmd.TimerDue: timer_due,
    cmd.SendEvent: control.send_event,
    cmd.Pause: control.pause,
    cmd.Resume: control.resume,
    cmd.Terminate: control.terminate,
    cmd.Restart: control.restart,
    cmd.RollbackFinished: rollback.finished,
    cmd.RollbackTimedOut: rollback.timed_out,
}
