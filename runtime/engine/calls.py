"""Calls of the step API: judged when they are new, answered from their record when they are known."""

from __future__ import annotations

import math
import re

from . import attempts
from . import commands as cmd
from . import events as ev
from .durations import milliseconds
from .effects import Decision, RunAttempt, Settle, refuse
from .failures import (
    INVALID_EVENT_TYPE,
    ROLLBACK_PHASE,
    TIME_TRAVEL,
    bad_duration,
    bad_rollback_config,
    bad_step_config,
    bad_step_name,
    no_rollback,
    too_long,
)
from .retries import resolve_config
from .rules import Rules
from .state import Record, State

_CONTROL = re.compile(r"[\x00-\x1f]")
_EVENT_TYPE = re.compile(r"[a-zA-Z0-9_][a-zA-Z0-9_-]*")


def call_made(state: State, command: cmd.CallMade, now: int, rules: Rules) -> Decision:
    if state.dormant:
        return Decision()
    if _from_the_dead(state, command):
        return _unheard(state, command, now)
    record = state.find((command.kind, command.name, command.nth))
    if record is not None:
        return _known(state, record, now)
    if state.rollback is not None:
        return refuse(ROLLBACK_PHASE)
    if command.kind == "do":
        return _new_step(state, command, now, rules)
    if command.kind == "sleep":
        return _new_sleep(state, command, now, rules)
    return _new_wait(state, command, now, rules)


def _from_the_dead(state: State, command: cmd.CallMade) -> bool:
    """Whether the call was made in an attempt that is over: code that goes on after its timeout is not heard (I3)."""
    if not command.parent:
        return False
    parent = state.open.get(command.parent)
    return parent is None or not parent.live or parent.attempt != command.parent_attempt


def _unheard(state: State, command: cmd.CallMade, now: int) -> Decision:
    """Keep the number of a call that is not heard: the isolate gives it to no other call of this run, so that on a
    replay, which knows the journal only, ``run()`` would number its later calls of this name differently."""
    identity = (command.kind, command.name, command.nth)
    if state.rollback is not None or identity in state.taken or state.find(identity) is not None:
        return Decision()
    return Decision([ev.NumberTaken(at=now, call=command.kind, name=command.name, nth=command.nth)])


def _known(state: State, record: Record, now: int) -> Decision:
    """Take up a recorded call again: first record wins (I6), whatever the code passes this time."""
    if record.settled:
        return Decision(effects=[Settle(record.step)])
    if record.abandoned:
        return Decision()
    if record.kind == "do":
        return _known_step(state, record, now)
    decision = Decision()
    if record.kind == "sleep" and _is_due(record, now):
        decision.events.append(ev.SleepCompleted(at=now, step=record.step))
        decision.effects.append(Settle(record.step))
    elif record.kind == "wait" and _is_due(record, now):
        decision.events.append(ev.WaitTimedOut(at=now, step=record.step))
        decision.effects.append(Settle(record.step))
    return decision


def _known_step(state: State, record: Record, now: int) -> Decision:
    decision = Decision()
    if record.live:
        # Its retry came due before the code had come back to it.
        decision.effects.append(RunAttempt(record.step, record.attempt))
    elif record.asked is None and not state.holds(record.parent) and (record.due is None or _is_due(record, now)):
        attempts.start(record, now, decision)
    return decision


def _is_due(record: Record, now: int) -> bool:
    return record.due is not None and record.due <= now


def _take_event(state: State, step: int, event_type: str, now: int, decision: Decision) -> None:
    waiting = state.buffered.get(event_type)
    if waiting:
        decision.events.append(ev.WaitCompleted(at=now, step=step, event=waiting[0]))
        decision.effects.append(Settle(step))


# ------------------------------------------------------------------------------------------------------------ new ones


def _new_step(state: State, command: cmd.CallMade, now: int, rules: Rules) -> Decision:
    if command.rollback and not rules.rollback:
        return refuse(no_rollback(command.name, rules.target))
    undo = command.rollback_config
    if undo is not None:
        undo = resolve_config(undo, delay_function=False, rules=rules)
        if undo is None:
            return refuse(bad_rollback_config(command.name))
    if not _good_name(command.name, rules):
        return refuse(bad_step_name(command.name))
    config = resolve_config(command.config, delay_function=command.delay_function, rules=rules)
    if config is None:
        return refuse(bad_step_config(command.name))
    started = ev.StepStarted(
        at=now,
        step=state.last_step + 1,
        name=command.name,
        nth=command.nth,
        parent=command.parent,
        parent_attempt=command.parent_attempt,
        config=config,
        rollback=command.rollback,
        rollback_config=undo,
    )
    decision = Decision([started])
    if not state.holds(command.parent):
        decision.events.append(ev.AttemptStarted(at=now, step=started.step, attempt=1))
        decision.effects.append(RunAttempt(started.step, 1))
    return decision


def _good_name(name: str, rules: Rules) -> bool:
    units = len(name) if name.isascii() else len(name.encode("utf-16-le", "surrogatepass")) // 2
    return units <= rules.max_step_name and not _CONTROL.search(name)


def _new_sleep(state: State, command: cmd.CallMade, now: int, rules: Rules) -> Decision:
    if command.until is not None:
        if math.isnan(command.until):
            return refuse(bad_duration(command.name, "target time"))
        duration = command.until - now
        if duration < 0:
            return refuse(TIME_TRAVEL)
    else:
        duration = milliseconds(command.duration)
    if duration > rules.max_sleep:
        return refuse(too_long(command.name, "sleep"))
    if not math.isfinite(duration):
        return refuse(bad_duration(command.name, "duration"))
    due = now + max(0, math.ceil(duration))
    step = state.last_step + 1
    decision = Decision(
        [
            ev.SleepStarted(
                at=now,
                step=step,
                name=command.name,
                nth=command.nth,
                parent=command.parent,
                parent_attempt=command.parent_attempt,
                duration=duration,
                due=due,
            )
        ]
    )
    if due <= now or command.skip:
        decision.events.append(ev.SleepCompleted(at=now, step=step))
        decision.effects.append(Settle(step))
    return decision


def _new_wait(state: State, command: cmd.CallMade, now: int, rules: Rules) -> Decision:
    event_type = command.event_type
    if not good_event_type(event_type, rules):
        return refuse(INVALID_EVENT_TYPE)
    # What JavaScript takes for false means the default; the text "0 seconds" is not among it.
    timeout = milliseconds(command.timeout) if command.timeout else float(rules.event_timeout)
    if timeout > rules.max_sleep:
        return refuse(too_long(command.name, "timeout"))
    if not math.isfinite(timeout):
        return refuse(bad_duration(command.name, "timeout"))
    step = state.last_step + 1
    decision = Decision(
        [
            ev.WaitStarted(
                at=now,
                step=step,
                name=command.name,
                nth=command.nth,
                parent=command.parent,
                parent_attempt=command.parent_attempt,
                event_type=event_type,
                timeout=timeout,
                due=now + max(0, math.ceil(timeout)),
            )
        ]
    )
    if command.skip:
        decision.events.append(ev.WaitTimedOut(at=now, step=step))
        decision.effects.append(Settle(step))
    else:
        _take_event(state, step, event_type, now, decision)
    return decision


def good_event_type(event_type: object, rules: Rules) -> bool:
    """Whether it fits the documented pattern (production checks it, the local engine does not)."""
    return (
        isinstance(event_type, str)
        and len(event_type) <= rules.max_event_type
        and _EVENT_TYPE.fullmatch(event_type) is not None
    )
