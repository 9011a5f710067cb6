"""What people and programs do to an instance from outside: events, pause, resume, terminate, restart."""

from __future__ import annotations

from . import attempts, rollback
from . import commands as cmd
from . import events as ev
from .calls import good_event_type
from .effects import AbortRun, Decision, Settle, refuse
from .failures import (
    CANNOT_SEND_EVENT,
    CANNOT_TERMINATE,
    EVENT_TOO_LARGE,
    INVALID_EVENT_TYPE,
    STORAGE_LIMIT,
    TERMINATED,
    step_not_found,
)
from .rules import Rules
from .state import State

_KINDS = {"do": "do", "sleep": "sleep", "waitForEvent": "wait"}


def wake(state: State, now: int) -> list[ev.Event]:
    """A waiting instance runs again."""
    return [ev.WorkflowRunning(at=now)] if state.status == "waiting" else []


def send_event(state: State, command: cmd.SendEvent, now: int, rules: Rules) -> Decision:
    if not good_event_type(command.type, rules):
        return refuse(INVALID_EVENT_TYPE)
    if state.final:
        return refuse(CANNOT_SEND_EVENT)
    if command.size > rules.max_payload:
        return refuse(EVENT_TOO_LARGE)
    if not state.has_room(command.payload, rules.max_state):
        return Decision([ev.WorkflowErrored(at=now, error=STORAGE_LIMIT)], [AbortRun()])
    number = state.last_event + 1
    decision = Decision([ev.EventReceived(at=now, number=number, type=command.type, payload=command.payload)])
    waiter = None if state.status == "paused" else next(state.waiters(command.type, now), None)
    if waiter is not None:
        oldest = (state.buffered.get(command.type) or [number])[0]
        decision.events += wake(state, now)
        decision.events.append(ev.WaitCompleted(at=now, step=waiter.step, event=oldest))
        decision.effects.append(Settle(waiter.step))
    return decision


def pause(state: State, command: cmd.Pause, now: int, rules: Rules) -> Decision:
    """Acts on a running or waiting instance only, and silently does nothing otherwise."""
    if state.status not in ("running", "waiting"):
        return Decision()
    decision = Decision([ev.WorkflowWaitingForPause(at=now)])
    if not state.live:
        decision.events += attempts.stop_asking(state, now)
        decision.events.append(ev.WorkflowPaused(at=now))
        decision.effects.append(AbortRun())
    return decision


def resume(state: State, command: cmd.Resume, now: int, rules: Rules) -> Decision:
    if state.status == "paused":
        assert state.paused_at is not None
        resumed = ev.Resumed(at=now, shift=max(0, now - state.paused_at))
        return Decision([resumed, *_deliver(state, state.paused_at, now)])
    if state.status != "waitingForPause":
        return Decision()
    decision = Decision([ev.Resumed(at=now, shift=0), ev.WorkflowRunning(at=now)])
    for record in state.open.values():
        blocked = record.kind == "do" and not record.live and record.asked is None
        if blocked and (record.due is None or record.due <= now):
            attempts.start(record, now, decision)
    return decision


def _deliver(state: State, paused_at: int, now: int) -> list[ev.Event]:
    """Hand out what was sent during the pause: oldest event to oldest wait, as it would have been without the pause."""
    taken = [
        (event, waiter.step)
        for event_type, buffered in state.buffered.items()
        for event, waiter in zip(buffered, state.waiters(event_type, paused_at), strict=False)
    ]
    return [ev.WaitCompleted(at=now, step=step, event=event) for event, step in sorted(taken)]


def terminate(state: State, command: cmd.Terminate, now: int, rules: Rules) -> Decision:
    if state.final:
        return refuse(CANNOT_TERMINATE)
    if command.rollback and state.rollback is not None:
        return Decision()  # it undoes already, and once
    if command.rollback:
        # Whether there is a run to undo with, only the shell knows: it asks for the first attempt when there is.
        undo = rollback.begin(state, TERMINATED, "terminated", now, rules, held=True)
        if undo is not None:
            return undo
    return Decision([ev.WorkflowTerminated(at=now)], [AbortRun()])


def restart(state: State, command: cmd.Restart, now: int, rules: Rules) -> Decision:
    if not command.partial:
        return Decision([ev.Restarted(at=now), ev.WorkflowQueued(at=now)], [AbortRun()])
    kind = _KINDS.get(command.type)
    matches = [r for r in state.records.values() if r.name == command.name and r.kind == kind]
    if not 1 <= command.count <= len(matches):
        return refuse(step_not_found("undefined" if command.name is None else command.name))
    since = matches[command.count - 1].step
    return Decision([ev.Restarted(at=now, since=since)], [AbortRun()])
