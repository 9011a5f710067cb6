"""Undo functions on their isolate: what it is told, and when an attempt's time is up."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from runtime.engine import Rules, State
from runtime.engine import effects as fx
from runtime.engine.durations import milliseconds
from runtime.engine.rollback import undo_config
from runtime.engine.views import context_config, failure

from .clock import Alarm, Clock

NEVER = 2**53  # ms; the end of a timeout such as "Infinity", which is a duration too


class UndoTime:
    """The end of the time of a run's undo function, while one is running. There is one at a time."""

    def __init__(self) -> None:
        self._alarm: Alarm | None = None

    def begin(self, clock: Clock, at: int, time_out: Callable[[], None]) -> None:
        """Its time is up ``at``; what was told first counts."""
        if self._alarm is None:
            self._alarm = clock.call_at(at, time_out)

    @property
    def at(self) -> int | None:
        """When (ms) that is."""
        return None if self._alarm is None else self._alarm.at

    def over(self) -> None:
        """It has ended, or is given up."""
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None


def undo_message(state: State, effect: fx.RunRollback) -> dict[str, Any]:
    """The `Undo` that lets the isolate run a step's undo function."""
    record = state.records[effect.step]
    assert record.config is not None
    step = {"name": record.name, "count": record.nth}
    message = {
        **_head("undo", state, effect.step, effect.attempt),
        "context": {"step": step, "attempt": record.attempt, "config": context_config(record.config)},
        "error": failure(effect.error),
    }
    return message if record.output is None else {**message, "output": record.output}


def cancel_message(state: State, effect: fx.CancelRollback) -> dict[str, Any]:
    """The `CancelUndo` that gives an attempt up."""
    return _head("cancel_undo", state, effect.step, effect.attempt)


def _head(t: str, state: State, step: int, attempt: int) -> dict[str, Any]:
    record = state.records[step]
    return {"t": t, "name": record.name, "nth": record.nth, "attempt": attempt}


def running_undo(state: State, message: Mapping[str, Any]) -> int | None:
    """The step of which the isolate speaks, None when that attempt of its undo function is not the running one."""
    undo = state.rollback
    if undo is None or not undo.live or undo.attempt != message["attempt"]:
        return None
    record = state.records[undo.steps[0]]
    return record.step if (record.name, record.nth) == (message["name"], message["nth"]) else None


def end_of_time(state: State, began: int, rules: Rules) -> int:
    """When (ms) the running attempt of an undo function that began then is to be given up."""
    assert state.rollback is not None
    config = undo_config(state, state.rollback.steps[0], rules)
    return round(min(began + milliseconds(config.timeout), NEVER))
