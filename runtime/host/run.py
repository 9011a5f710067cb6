"""One execution of a workflow's ``run()`` on an isolate, as the host sees it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from runtime.engine import State
from runtime.engine.failures import Failure, timed_out
from runtime.engine.state import Record
from runtime.isolates.transport import Isolate
from workers_shim.wire.messages import INLINE_TOTAL, INLINE_VALUE

from .clock import Alarm
from .values import UNDEFINED_VALUE, received_event


@dataclass(slots=True, eq=False)
class Run:
    """Which calls the run has made, and what it was told. It dies with its isolate, its epoch, or at the end."""

    id: int
    isolate: Isolate
    calls: dict[int, int] = field(default_factory=dict)  # the run's call number -> step
    attached: dict[int, int] = field(default_factory=dict)  # step -> call number
    made: int = 0  # calls it has sent
    told: int = 0  # calls it was answered
    resting: bool = False  # it was asked to say when it is parked
    parked: bool = False  # it said so, and nothing has happened since
    moving: bool = False  # it is leaving its isolate for new code: no new calls are taken from it
    began: dict[int, int] = field(default_factory=dict)  # step -> ms when its attempt's callback began
    timeouts: dict[int, Alarm] = field(default_factory=dict)  # step -> end of its attempt's time

    def attach(self, call: int, step: int) -> None:
        """The run made a call that the journal knows as ``step``."""
        self.calls[call] = step
        self.attached[step] = call

    def over(self, step: int) -> None:
        """The step's attempt is over."""
        self.began.pop(step, None)
        alarm = self.timeouts.pop(step, None)
        if alarm is not None:
            alarm.cancel()

    def end(self) -> None:
        """Nothing of the run counts any more."""
        for alarm in self.timeouts.values():
            alarm.cancel()
        self.timeouts.clear()
        self.began.clear()


def start_message(run: Run, state: State, class_name: str, step_limit: int) -> dict[str, Any]:
    """The `Start` that puts a run on its isolate, with all that a replay needs."""
    return {
        "t": "start",
        "run": run.id,
        "workflow": state.workflow,
        "class_name": class_name,
        "instance": state.instance,
        "event": {"payload": state.params, "timestamp": state.created},
        "step_limit": step_limit,
        "journal": _entries(state),
    }


def _entries(state: State) -> list[list[Any]]:
    entries: list[list[Any]] = []
    room = INLINE_TOTAL
    for settled, step in state.timeline:
        record = state.records[step]
        if not settled:
            entries.append(["c", *record.identity, 1 if record.parent else 0])
        elif not record.parent:
            entry = _settlement(state, record, room)
            room -= len(entry[4]) if entry[0] == "v" else 0
            entries.append(entry)
    return entries


def _settlement(state: State, record: Record, room: int) -> list[Any]:
    value, error = outcome(state, record)
    if error is not None:
        return ["e", *record.identity, {"name": error.name, "message": error.message}]
    if len(value) > min(INLINE_VALUE, room):
        return ["l", *record.identity]
    return ["v", *record.identity, value]


def outcome(state: State, record: Record) -> tuple[str, Failure | None]:
    """What a settled call gives: a value as devalue text, or an error."""
    assert record.settled
    if record.kind == "do":
        return record.output or UNDEFINED_VALUE, record.error
    if record.kind == "sleep":
        return UNDEFINED_VALUE, None
    if record.event is None:
        return UNDEFINED_VALUE, timed_out(record.duration)
    return received_event(state.events[record.event]), None
