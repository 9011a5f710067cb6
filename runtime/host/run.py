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
from .results import Results
from .undo import UndoTime
from .values import UNDEFINED_VALUE, received_event


@dataclass(slots=True, eq=False)
class Run:
    """Which calls the run has made, and what it was told. It dies with its isolate, its epoch, or at the end."""

    id: int
    isolate: Isolate
    code: str = ""  # digest of the sources that it runs on
    outside_await: int | None = None  # ms that an await outside a step may take
    calls: dict[int, int] = field(default_factory=dict)  # the run's call number -> step
    attached: dict[int, int] = field(default_factory=dict)  # step -> call number
    made: int = 0  # calls it has sent
    told: int = 0  # calls it was answered
    starting: bool = True  # its `Start` is not sent, or was sent in this turn: what settles now goes along with it
    resting: bool = False  # it was asked to say when it is parked
    parked: bool = False  # it said so, and nothing has happened since
    settled: bool = False  # one of the instance's calls has settled since it began; kept for `Runs.repeat` only
    moving: bool = False  # it is leaving its isolate for new code: no new calls are taken from it
    began: dict[int, int] = field(default_factory=dict)  # step -> ms when its attempt's callback began
    timeouts: dict[int, Alarm] = field(default_factory=dict)  # step -> end of its attempt's time
    look: Alarm | None = None  # when it is asked what it awaits outside steps
    undo: UndoTime = field(default_factory=UndoTime)
    results: Results = field(default_factory=Results)
    large: set[int] = field(default_factory=set)  # steps that had settled at its start, with values too large for it

    def stirs(self) -> None:
        """Something happens in the run: what it said of its rest, or was asked, holds no longer."""
        self.parked = False
        if self.isolate.parks_by_ending:
            self.resting = False  # the isolate would end it when it comes to rest again; it is asked anew, in time

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
        if self.look is not None:
            self.look.cancel()
        self.began.clear()
        self.undo.over()


def start_message(run: Run, state: State, class_name: str, step_limit: int) -> dict[str, Any]:
    """The `Start` that puts a run on its isolate, with all that a replay needs."""
    message: dict[str, Any] = {
        "t": "start",
        "run": run.id,
        "workflow": state.workflow,
        "class_name": class_name,
        "instance": state.instance,
        "event": _event(state),
        "step_limit": step_limit,
        "journal": _entries(run, state),
    }
    return message if state.rollback is None else {**message, "undo": True}


def _event(state: State) -> dict[str, Any]:
    event: dict[str, Any] = {"payload": state.params, "timestamp": state.created}
    if state.scheduled_by is not None:
        event["schedule"] = {"cron": state.scheduled_by.cron, "scheduledTime": state.scheduled_by.scheduled}
    return event


def _entries(run: Run, state: State) -> list[list[Any]]:
    entries: list[list[Any]] = [["c", *identity, 1] for identity in state.taken]
    room = INLINE_TOTAL
    begun_anew = set(state.anew.values())
    for settled, step in state.timeline:
        if step in state.anew:
            entries.append(["c", *state.anew[step], 0])
            continue
        record = state.records[step]
        if not settled:
            if record.identity not in begun_anew:  # else it has the place that it had at first
                entries.append(["c", *record.identity, 1 if record.parent else 0])
        elif not record.parent:
            entry = _settlement(state, record, room)
            room -= len(entry[4]) if entry[0] == "v" else 0
            if entry[0] == "l":
                run.large.add(step)
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
