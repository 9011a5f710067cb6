"""What a journal says of one instance, read by a second, small fold that shares no code with the engine's.

It asserts, line by line, what must hold of every journal (`tests.engine.journal_laws` asserts it of whole ones).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from runtime.engine import events as ev
from runtime.engine.state import Identity, Kind

FINAL = ("complete", "errored", "terminated")
RUNS = ("running", "waitingForPause")


@dataclass(slots=True, eq=False)
class Step:
    """A call, as the journal has it."""

    number: int
    identity: Identity
    parent: int
    parent_attempt: int
    due: int | None = None  # ms
    config: ev.Config | None = None
    undo: bool = False
    type: str = ""
    attempts: int = 0
    live: bool = False
    asked: bool = False
    settled: bool = False
    abandoned: bool = False
    outcome: str = ""  # of a settled one: its value, or its error's message
    event: int = 0

    @property
    def open(self) -> bool:
        return not self.settled and not self.abandoned


class Story:
    """One instance's life so far."""

    def __init__(self) -> None:
        self.lines = 0
        self.params = ""
        self.status = "queued"
        self.epoch = 1
        self.output = ""
        self.begun = Counter[int]()  # epoch -> workflow_started lines
        self.steps: dict[int, Step] = {}
        self.current: dict[Identity, Step] = {}
        self.settled: list[Step] = []  # in the order in which they settled
        self.events: dict[int, ev.EventReceived] = {}
        self.kept: dict[str, list[int]] = {}
        self.undo: list[int] = []  # steps that are still to be undone
        self.undo_attempt = 0
        self.undo_live = False
        self.undo_due: int | None = None
        self.undone: Counter[int] = Counter()
        self.undone_by: list[tuple[int, int, int]] = []  # (epoch, step, attempt) that succeeded
        self.outcome_of_undo = ""
        self.completing: int | None = None  # a step whose attempt returned, until the next line, which is its result
        self.partial: set[int] = set()  # epochs that began in the middle
        self._last = 0

    @property
    def final(self) -> bool:
        return self.status in FINAL

    def learn(self, event: ev.Event) -> None:
        """Take the journal's next line."""
        self.lines += 1
        if self.completing is not None:
            assert isinstance(event, ev.StepCompleted) and event.step == self.completing, "I2: half a decision"
            self.completing = None
        if self.final:
            assert isinstance(event, ev.Restarted), f"{event} after the end ({self.status})"
        _LEARN[type(event)](self, event)

    def go(self, to: str, *before: str) -> None:
        assert self.status in before, f"{self.status} -> {to}"
        self.status = to

    def opened(self) -> list[Step]:
        """The calls that are neither settled nor given up."""
        return [step for step in self.steps.values() if step.open]

    def live(self) -> list[Step]:
        """The steps with a running attempt."""
        return [step for step in self.steps.values() if step.live]

    # ---------------------------------------------------------------------------------------------------- life

    def created(self, event: ev.Created) -> None:
        assert self.lines == 1, "created twice"
        self.params = event.params

    def queued(self, event: ev.WorkflowQueued) -> None:
        assert self.status == "queued"

    def started(self, event: ev.WorkflowStarted) -> None:
        self.begun[self.epoch] += 1
        assert self.begun[self.epoch] == 1, "started twice"

    def other_code(self, event: ev.CodeChanged) -> None:
        """Nothing follows from it."""

    def running(self, event: ev.WorkflowRunning) -> None:
        self.go("running", "queued", "waiting", "running")

    def waiting(self, event: ev.WorkflowWaiting) -> None:
        opened = self.opened()
        assert opened and all(step.due is not None and not step.live for step in opened), "waits for nothing"
        self.go("waiting", "running")

    def pausing(self, event: ev.WorkflowWaitingForPause) -> None:
        self.go("waitingForPause", "running", "waiting")

    def paused(self, event: ev.WorkflowPaused) -> None:
        assert not self.live(), "paused with a running attempt"
        self.go("paused", "waitingForPause")

    def resumed(self, event: ev.Resumed) -> None:
        self.go("queued" if self.status == "paused" else "running", "paused", "waitingForPause")
        for step in self.opened():
            if step.due is not None:
                step.due += event.shift

    def terminated(self, event: ev.WorkflowTerminated) -> None:
        self.end("terminated")

    def completed(self, event: ev.WorkflowCompleted) -> None:
        assert self.status in (*RUNS, "waiting"), f"completed when {self.status}"
        self.output = event.output
        self.end("complete")

    def errored(self, event: ev.WorkflowErrored) -> None:
        assert self.status in (*RUNS, "waiting", "rollingBack"), f"errored when {self.status}"
        self.output = event.error.message
        self.end("errored")

    def end(self, status: str) -> None:
        assert not self.undo or self.outcome_of_undo == "failed" or status == "terminated"
        self.status, self.undo, self.undo_live = status, [], False
        self.abandon_all()

    def restarted(self, event: ev.Restarted) -> None:
        self.epoch += 1
        if event.since:
            self.partial.add(self.epoch)
            self.begun[self.epoch] = self.begun[self.epoch - 1]
        self.status, self.output, self.undo, self.undo_live = "queued", "", [], False
        self.outcome_of_undo = ""
        for step in [*self.steps.values()]:
            if step.number >= event.since or not (step.settled or step.parent):
                del self.steps[step.number]
                del self.current[step.identity]
                self.undone.pop(step.number, None)
        self.abandon_all()
        self.settled = [step for step in self.settled if step.number in self.steps]
        self.kept.clear()

    def abandon_all(self) -> None:
        for step in self.opened():
            self.abandon(step)

    def abandon(self, step: Step) -> None:
        step.abandoned, step.live, step.asked, step.due = True, False, False, None

    # --------------------------------------------------------------------------------------------------- calls

    def call(self, event: ev.Call, kind: Kind) -> Step:
        assert event.step == self._last + 1, "calls are numbered without a gap"
        assert self.status in (*RUNS, "waiting"), f"a call when {self.status}"
        self._last = event.step
        identity = (kind, event.name, event.nth)
        assert identity not in self.current, f"{identity} is recorded twice"
        if event.parent:
            parent = self.steps[event.parent]
            assert parent.live and parent.attempts == event.parent_attempt, "a call of a dead attempt"
        step = self.steps[event.step] = self.current[identity] = Step(
            event.step, identity, event.parent, event.parent_attempt
        )
        return step

    def step(self, event: ev.StepStarted) -> None:
        step = self.call(event, "do")
        step.config, step.undo = event.config, event.rollback

    def unheard(self, event: ev.NumberTaken) -> None:
        """A call of a dead attempt: nothing follows from it."""

    def sleep(self, event: ev.SleepStarted) -> None:
        self.call(event, "sleep").due = event.due

    def wait(self, event: ev.WaitStarted) -> None:
        step = self.call(event, "wait")
        step.due, step.type = event.due, event.event_type

    def attempt(self, event: ev.AttemptStarted) -> None:
        step = self.steps[event.step]
        assert step.open and not step.live and not step.asked, "a second attempt, or one of a settled step"
        assert event.attempt == step.attempts + 1, "attempts are numbered without a gap"
        assert step.due is None or event.at >= step.due, "tried again too early"
        assert self.status in ("running", "waitingForPause", "waiting"), f"an attempt when {self.status}"
        step.attempts, step.live, step.due = event.attempt, True, None

    def ended(self, step: Step, attempt: int) -> None:
        assert step.live and step.attempts == attempt, "only the running attempt can end"
        step.live = False
        over = [step.number]
        for inner in self.opened():  # in start order: those within come after what they are in
            if inner.parent in over:
                over.append(inner.number)
                self.abandon(inner)

    def attempt_completed(self, event: ev.AttemptCompleted) -> None:
        self.completing = event.step
        self.ended(self.steps[event.step], event.attempt)

    def delay_asked(self, event: ev.DelayAsked) -> None:
        step = self.steps[event.step]
        self.ended(step, event.attempt)
        step.asked = True

    def attempt_errored(self, event: ev.AttemptErrored) -> None:
        step = self.steps[event.step]
        if step.asked:
            step.asked = False
        else:
            self.ended(step, event.attempt)
        if event.retry_delay is not None:
            step.due = event.at + max(0, round(event.retry_delay))

    def settle(self, number: int, outcome: str) -> Step:
        step = self.steps[number]
        assert step.open and not step.live, f"{step.identity} settles twice, or while it runs"
        step.settled, step.outcome = True, outcome
        self.settled.append(step)
        return step

    def step_completed(self, event: ev.StepCompleted) -> None:
        self.settle(event.step, event.output).due = None

    def step_errored(self, event: ev.StepErrored) -> None:
        self.settle(event.step, event.error.message).due = None

    def awake(self, event: ev.SleepCompleted) -> None:
        step = self.settle(event.step, "")
        assert step.due is not None and event.at >= step.due, "woken too early"

    def took(self, event: ev.WaitCompleted) -> None:
        step = self.settle(event.step, "")
        assert self.kept[step.type].pop(0) == event.event, "events of a type go out oldest first, once each"
        step.event = event.event

    def timed_out(self, event: ev.WaitTimedOut) -> None:
        step = self.settle(event.step, "timed out")
        assert step.due is not None and event.at >= step.due, "timed out too early"

    def received(self, event: ev.EventReceived) -> None:
        assert event.number == len(self.events) + 1, "events are numbered without a gap"
        self.events[event.number] = event
        self.kept.setdefault(event.type, []).append(event.number)

    # ------------------------------------------------------------------------------------------------ rollback

    def undo_all(self, event: ev.RollbackStarted) -> None:
        owed = [step.number for step in self.steps.values() if step.undo and not self.undone[step.number]]
        assert event.steps == owed[::-1], "undone newest first, and all of it"
        self.go("rollingBack", *RUNS, "queued", "waiting", "paused")
        self.abandon_all()
        self.undo = owed

    def undo_step(self, event: ev.RollbackStepStarted) -> None:
        assert self.undo[-1] == event.step
        self.undo_attempt, self.undo_due = 0, None

    def undo_started(self, event: ev.RollbackAttemptStarted) -> None:
        assert self.undo[-1] == event.step and not self.undo_live and event.attempt == self.undo_attempt + 1
        assert self.undo_due is None or event.at >= self.undo_due, "undone again too early"
        self.undo_attempt, self.undo_live, self.undo_due = event.attempt, True, None

    def undo_ended(self, event: ev.RollbackAttemptCompleted | ev.RollbackAttemptErrored) -> None:
        assert self.undo_live and (self.undo[-1], self.undo_attempt) == (event.step, event.attempt)
        self.undo_live = False
        if isinstance(event, ev.RollbackAttemptErrored) and event.retry_delay is not None:
            self.undo_due = event.at + max(0, round(event.retry_delay))

    def undone_step(self, event: ev.RollbackStepCompleted | ev.RollbackStepErrored) -> None:
        assert not self.undo_live and self.undo[-1] == event.step
        self.undone[event.step] += 1
        if isinstance(event, ev.RollbackStepCompleted):
            self.undone_by.append((self.epoch, event.step, self.undo_attempt))
        assert self.undone[event.step] == 1, "undone twice"
        self.undo.pop()

    def undone_all(self, event: ev.RollbackCompleted) -> None:
        assert not self.undo
        self.outcome_of_undo = "complete"

    def undo_failed(self, event: ev.RollbackErrored) -> None:
        self.outcome_of_undo = "failed"


_LEARN: dict[type[ev.Event], Callable[[Story, Any], None]] = {
    ev.Created: Story.created,
    ev.WorkflowQueued: Story.queued,
    ev.WorkflowStarted: Story.started,
    ev.CodeChanged: Story.other_code,
    ev.WorkflowRunning: Story.running,
    ev.WorkflowWaiting: Story.waiting,
    ev.WorkflowWaitingForPause: Story.pausing,
    ev.WorkflowPaused: Story.paused,
    ev.Resumed: Story.resumed,
    ev.WorkflowTerminated: Story.terminated,
    ev.WorkflowCompleted: Story.completed,
    ev.WorkflowErrored: Story.errored,
    ev.Restarted: Story.restarted,
    ev.StepStarted: Story.step,
    ev.NumberTaken: Story.unheard,
    ev.AttemptStarted: Story.attempt,
    ev.AttemptCompleted: Story.attempt_completed,
    ev.DelayAsked: Story.delay_asked,
    ev.AttemptErrored: Story.attempt_errored,
    ev.StepCompleted: Story.step_completed,
    ev.StepErrored: Story.step_errored,
    ev.SleepStarted: Story.sleep,
    ev.SleepCompleted: Story.awake,
    ev.WaitStarted: Story.wait,
    ev.WaitCompleted: Story.took,
    ev.WaitTimedOut: Story.timed_out,
    ev.EventReceived: Story.received,
    ev.RollbackStarted: Story.undo_all,
    ev.RollbackStepStarted: Story.undo_step,
    ev.RollbackAttemptStarted: Story.undo_started,
    ev.RollbackAttemptCompleted: Story.undo_ended,
    ev.RollbackAttemptErrored: Story.undo_ended,
    ev.RollbackStepCompleted: Story.undone_step,
    ev.RollbackStepErrored: Story.undone_step,
    ev.RollbackCompleted: Story.undone_all,
    ev.RollbackErrored: Story.undo_failed,
}
