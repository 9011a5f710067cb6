"""``apply(state, event)``: the fold. It consumes the state it is given and returns it; it never fails on a journal that
`decide` wrote, and asserts what must hold of one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from . import events as ev
from .state import Received, Record, Rollback, State


def apply(state: State, event: ev.Event) -> State:
    """The state after ``event``."""
    _APPLY[type(event)](state, event)
    return state


def fold(events: Iterable[ev.Event], state: State | None = None) -> State:
    """The state after all ``events``."""
    state = State() if state is None else state
    for event in events:
        _APPLY[type(event)](state, event)
    return state


# ------------------------------------------------------------------------------------------------- life of an instance


def _created(state: State, event: ev.Created) -> None:
    assert not state.workflow, "an instance is created once"
    state.workflow, state.instance = event.workflow, event.instance
    state.params, state.created = event.params, event.at
    state.retention, state.trigger, state.scheduled_by = event.retention, event.trigger, event.schedule
    state.stored = len(event.params)


def _started(state: State, event: ev.WorkflowStarted) -> None:
    state.started = True
    state.runs_on(event.code, event.at)


def _code_changed(state: State, event: ev.CodeChanged) -> None:
    assert event.code != state.code, "a change is a change"
    state.runs_on(event.code, event.at)


def _running(state: State, event: ev.WorkflowRunning) -> None:
    assert state.status in ("queued", "running", "waiting"), f"{state.status} instances do not just run"
    state.status = "running"


def _waiting(state: State, event: ev.WorkflowWaiting) -> None:
    assert state.status == "running" and state.only_waits(), "only a time or an event can wake a waiting instance"
    state.status = "waiting"


def _queued(state: State, event: ev.WorkflowQueued) -> None:
    assert state.status == "queued", "an instance queues when it is new or begins anew"


def _waiting_for_pause(state: State, event: ev.WorkflowWaitingForPause) -> None:
    assert state.status in ("running", "waiting")
    state.status = "waitingForPause"


def _paused(state: State, event: ev.WorkflowPaused) -> None:
    assert state.status == "waitingForPause" and not state.live, "a pause waits for running attempts"
    assert not state.asking, "nobody would answer for the delay function"
    state.status, state.paused_at = "paused", event.at


def _resumed(state: State, event: ev.Resumed) -> None:
    assert state.status in ("paused", "waitingForPause")
    state.paused_at = None
    state.status = "queued" if state.status == "paused" else "running"
    if event.shift:
        state.shift(event.shift)


def _terminated(state: State, event: ev.WorkflowTerminated) -> None:
    _end(state, "terminated", event.at)


def _completed(state: State, event: ev.WorkflowCompleted) -> None:
    state.output = event.output
    _end(state, "complete", event.at)


def _errored(state: State, event: ev.WorkflowErrored) -> None:
    state.error = event.error
    _end(state, "errored", event.at)


def _end(state: State, status: Any, at: int) -> None:
    assert not state.final, "an instance ends once"
    state.status, state.ended, state.rollback = status, at, None
    for record in list(state.open.values()):
        state.abandon(record)


def _restarted(state: State, event: ev.Restarted) -> None:
    state.epoch += 1
    state.status, state.output, state.error, state.ended = "queued", None, None, None
    state.paused_at, state.rollback, state.rollback_result = None, None, None
    if event.since == 0:
        state.started = False
        state.taken.clear()
    state.forget(event.since)


# --------------------------------------------------------------------------------------------------------------- steps


def _record(event: ev.Call, kind: Any) -> Record:
    return Record(event.step, kind, event.name, event.nth, event.at, event.parent, event.parent_attempt)


def _step_started(state: State, event: ev.StepStarted) -> None:
    record = _record(event, "do")
    record.config, record.rollback, record.rollback_config = event.config, event.rollback, event.rollback_config
    state.add(record)


def _sleep_started(state: State, event: ev.SleepStarted) -> None:
    record = _record(event, "sleep")
    record.duration, record.due = event.duration, event.due
    state.add(record)


def _wait_started(state: State, event: ev.WaitStarted) -> None:
    record = _record(event, "wait")
    record.event_type, record.duration, record.due = event.event_type, event.timeout, event.due
    state.add(record)


def _number_taken(state: State, event: ev.NumberTaken) -> None:
    kind: Any = event.call
    state.taken.append((kind, event.name, event.nth))


def _attempt_started(state: State, event: ev.AttemptStarted) -> None:
    record = state.records[event.step]
    assert event.step in state.open and not record.live, "one attempt of a step at a time, and none of a settled one"
    assert event.attempt == record.attempt + 1, "attempts are numbered without a gap"
    record.attempt, record.live, record.due, record.asked = event.attempt, True, None, None
    state.live.add(event.step)


def _attempt_completed(state: State, event: ev.AttemptCompleted) -> None:
    _attempt_over(state, state.records[event.step], event.attempt)
    state.records[event.step].losses = 0


def _delay_asked(state: State, event: ev.DelayAsked) -> None:
    record = state.records[event.step]
    _attempt_over(state, record, event.attempt)
    record.asked, record.error, record.losses = event.at, event.error, 0
    state.asking.add(event.step)


def _attempt_errored(state: State, event: ev.AttemptErrored) -> None:
    record = state.records[event.step]
    if record.asked is None:
        _attempt_over(state, record, event.attempt)
    record.asked, record.error = None, event.error
    record.losses = record.losses + 1 if event.lost else 0
    state.asking.discard(event.step)
    if event.retry_delay is not None:
        state.schedule(record, event.at + max(0, round(event.retry_delay)))


def _attempt_over(state: State, record: Record, attempt: int) -> None:
    assert record.live and record.attempt == attempt, "only the running attempt can end"
    record.live = False
    state.live.discard(record.step)
    for nested in state.nested_in(record.step):
        state.abandon(nested)


def _step_completed(state: State, event: ev.StepCompleted) -> None:
    record = state.records[event.step]
    record.output, record.stream, record.error = event.output, event.stream, None
    state.stored += len(event.output) + (event.stream or 0)
    state.settle(record)


def _step_errored(state: State, event: ev.StepErrored) -> None:
    record = state.records[event.step]
    record.error = event.error
    state.settle(record)


def _sleep_completed(state: State, event: ev.SleepCompleted) -> None:
    state.settle(state.records[event.step])


def _wait_completed(state: State, event: ev.WaitCompleted) -> None:
    record = state.records[event.step]
    received = state.events[event.event]
    queue = state.buffered[received.type]
    assert queue[0] == event.event, "events of a type are taken oldest first"
    queue.pop(0)
    record.event = event.event
    state.settle(record)


def _wait_timed_out(state: State, event: ev.WaitTimedOut) -> None:
    state.settle(state.records[event.step])


def _event_received(state: State, event: ev.EventReceived) -> None:
    assert event.number == state.last_event + 1
    state.last_event = event.number
    state.stored += len(event.payload)
    state.events[event.number] = Received(event.number, event.type, event.payload, event.at)
    state.buffered.setdefault(event.type, []).append(event.number)


# ------------------------------------------------------------------------------------------------------------ rollback


def _undoing(state: State) -> Rollback:
    assert state.rollback is not None
    return state.rollback


def _rollback_started(state: State, event: ev.RollbackStarted) -> None:
    outcome: Any = event.outcome
    state.status = "rollingBack"
    state.rollback = Rollback(event.error, outcome, list(event.steps))
    for record in list(state.open.values()):
        state.abandon(record)


def _rollback_step_started(state: State, event: ev.RollbackStepStarted) -> None:
    undo = _undoing(state)
    assert undo.steps[0] == event.step, "undo runs in reverse start order"
    undo.attempt, undo.due = 0, event.at


def _rollback_attempt_started(state: State, event: ev.RollbackAttemptStarted) -> None:
    undo = _undoing(state)
    assert not undo.live and event.attempt == undo.attempt + 1
    undo.attempt, undo.live, undo.due = event.attempt, True, None


def _rollback_attempt_completed(state: State, event: ev.RollbackAttemptCompleted) -> None:
    _undoing(state).live = False


def _rollback_attempt_errored(state: State, event: ev.RollbackAttemptErrored) -> None:
    undo = _undoing(state)
    undo.live = False
    if event.retry_delay is not None:
        undo.due = event.at + max(0, round(event.retry_delay))


def _rollback_step_completed(state: State, event: ev.RollbackStepCompleted) -> None:
    _undoing(state).steps.pop(0)
    state.rolled_back.add(event.step)


def _rollback_step_errored(state: State, event: ev.RollbackStepErrored) -> None:
    state.rolled_back.add(event.step)


def _rollback_completed(state: State, event: ev.RollbackCompleted) -> None:
    state.rollback_result = ("complete", None)


def _rollback_errored(state: State, event: ev.RollbackErrored) -> None:
    state.rollback_result = ("failed", event.error)


_APPLY: dict[type[ev.Event], Callable[[State, Any], None]] = {
    ev.Created: _created,
    ev.WorkflowQueued: _queued,
    ev.WorkflowStarted: _started,
    ev.CodeChanged: _code_changed,
    ev.WorkflowRunning: _running,
    ev.WorkflowWaiting: _waiting,
    ev.WorkflowWaitingForPause: _waiting_for_pause,
    ev.WorkflowPaused: _paused,
    ev.Resumed: _resumed,
    ev.WorkflowTerminated: _terminated,
    ev.WorkflowCompleted: _completed,
    ev.WorkflowErrored: _errored,
    ev.Restarted: _restarted,
    ev.StepStarted: _step_started,
    ev.NumberTaken: _number_taken,
    ev.AttemptStarted: _attempt_started,
    ev.AttemptCompleted: _attempt_completed,
    ev.DelayAsked: _delay_asked,
    ev.AttemptErrored: _attempt_errored,
    ev.StepCompleted: _step_completed,
    ev.StepErrored: _step_errored,
    ev.SleepStarted: _sleep_started,
    ev.SleepCompleted: _sleep_completed,
    ev.WaitStarted: _wait_started,
    ev.WaitCompleted: _wait_completed,
    ev.WaitTimedOut: _wait_timed_out,
    ev.EventReceived: _event_received,
    ev.RollbackStarted: _rollback_started,
    ev.RollbackStepStarted: _rollback_step_started,
    ev.RollbackAttemptStarted: _rollback_attempt_started,
    ev.RollbackAttemptCompleted: _rollback_attempt_completed,
    ev.RollbackAttemptErrored: _rollback_attempt_errored,
    ev.RollbackStepCompleted: _rollback_step_completed,
    ev.RollbackStepErrored: _rollback_step_errored,
    ev.RollbackCompleted: _rollback_completed,
    ev.RollbackErrored: _rollback_errored,
}
