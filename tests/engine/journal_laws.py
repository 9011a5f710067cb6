"""What holds of every journal, whatever happened."""

from __future__ import annotations

from collections.abc import Sequence

from runtime.engine import FINAL, Event, State, Status, apply
from runtime.engine import events as ev

EDGES: set[tuple[Status, Status]] = {
    ("queued", "running"),
    ("running", "waiting"),
    ("waiting", "running"),
    ("running", "waitingForPause"),
    ("waiting", "waitingForPause"),
    ("waitingForPause", "running"),
    ("waitingForPause", "paused"),
    ("paused", "queued"),
    ("rollingBack", "errored"),
}  # and: anything unfinished -> terminated; what runs -> complete, errored, rollingBack; anything -> queued by restart
RUNS: tuple[Status, ...] = ("running", "waitingForPause")


def check(events: Sequence[Event]) -> State:
    """Every law, over the whole journal; the state that it gives."""
    state = State()
    for event in events:
        before = state.status
        apply(state, event)
        assert allowed(before, state.status, event), f"{before} -> {state.status} by {event}"
    attempts_do_not_overlap(events)
    steps_settle_once(events)
    steps_are_undone_once_and_in_order(events)
    events_go_out_once_and_in_order(events, state)
    due_times_move_by_pauses_only(events, state)
    return state


def allowed(before: Status, after: Status, event: Event) -> bool:
    """Whether the event may move the status so."""
    if before == after or isinstance(event, ev.Restarted):
        return True
    if after == "terminated" or isinstance(event, ev.RollbackStarted):
        return before not in FINAL
    return (before, after) in EDGES or (before in RUNS and after in FINAL)


def attempts_do_not_overlap(events: Sequence[Event]) -> None:
    """One attempt of a step at a time, numbered without a gap."""
    live: dict[int, int] = {}
    last: dict[int, int] = {}
    for event in events:
        match event:
            case ev.AttemptStarted():
                assert event.step not in live and event.attempt == last.get(event.step, 0) + 1
                live[event.step] = last[event.step] = event.attempt
            case ev.AttemptCompleted() | ev.DelayAsked():
                assert live.pop(event.step) == event.attempt
            case ev.AttemptErrored():
                assert live.pop(event.step, event.attempt) == event.attempt


def steps_settle_once(events: Sequence[Event]) -> None:
    """A step settles at most once, and nothing more happens to it."""
    settled: set[int] = set()
    settling = (ev.StepCompleted, ev.StepErrored, ev.SleepCompleted, ev.WaitCompleted, ev.WaitTimedOut)
    working = (ev.AttemptStarted, ev.AttemptCompleted, ev.AttemptErrored, ev.DelayAsked)
    for event in events:
        if isinstance(event, settling + working):
            assert event.step not in settled, f"{event} after the step had settled"
        if isinstance(event, settling):
            settled.add(event.step)


def steps_are_undone_once_and_in_order(events: Sequence[Event]) -> None:
    """A rollback takes its steps from the newest to the oldest, and no step is undone by two."""
    left: list[int] = []
    undone: set[int] = set()
    for event in events:
        match event:
            case ev.RollbackStarted():
                left = list(event.steps)
                assert left == sorted(left, reverse=True) and undone.isdisjoint(left)
            case ev.RollbackStepStarted():
                assert left[0] == event.step
            case ev.RollbackStepCompleted() | ev.RollbackStepErrored():
                assert left.pop(0) == event.step
                undone.add(event.step)
            case ev.RollbackCompleted():
                assert not left


def events_go_out_once_and_in_order(events: Sequence[Event], state: State) -> None:
    """Every acknowledged event is either kept or was taken once; those of a type in sending order."""
    types: dict[int, str] = {}
    kept: list[int] = []
    last: dict[str, int] = {}
    for event in events:
        if isinstance(event, ev.EventReceived):
            types[event.number] = event.type
            kept.append(event.number)
        elif isinstance(event, ev.WaitCompleted):
            kept.remove(event.event)
            event_type = types[event.event]
            assert event.event > last.get(event_type, 0)
            last[event_type] = event.event
        elif isinstance(event, ev.Restarted):
            kept.clear()
    assert sorted(number for queue in state.buffered.values() for number in queue) == kept


def due_times_move_by_pauses_only(events: Sequence[Event], state: State) -> None:
    """A sleep's end and a wait's deadline are what was first recorded, and later by what was paused since."""
    due: dict[int, int] = {}
    for event in events:
        if isinstance(event, ev.SleepStarted | ev.WaitStarted):
            due[event.step] = event.due
        elif isinstance(event, ev.Resumed):
            due = {step: at + event.shift for step, at in due.items()}
    for record in state.open.values():
        if record.kind != "do":
            assert record.due == due[record.step]
