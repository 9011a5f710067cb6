"""What an instance is at this moment: the fold of its journal (`apply.py` folds, `decide.py` asks)."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from .events import DYNAMIC, KEPT_BY_DEFAULT, Config, Retention, Schedule
from .failures import Failure

Kind = Literal["do", "sleep", "wait"]
Identity = tuple[Kind, str, int]
Status = Literal[
    "queued",
    "running",
    "waiting",
    "waitingForPause",
    "paused",
    "rollingBack",
    "complete",
    "errored",
    "terminated",
]
FINAL: frozenset[Status] = frozenset({"complete", "errored", "terminated"})


@dataclass(slots=True)
class Record:
    """One call of the step API, as the journal knows it."""

    step: int
    kind: Kind
    name: str
    nth: int
    started: int  # ms
    parent: int = 0
    parent_attempt: int = 0

    # do
    config: Config | None = None
    rollback: bool = False
    attempt: int = 0  # the last one started
    live: bool = False  # that attempt is running
    asked: int | None = None  # ms; when the delay function was asked, until it has answered
    error: Failure | None = None  # of the last failed attempt, then of the step
    losses: int = 0  # attempts lost one after another

    # sleep and wait
    duration: float = 0
    event_type: str = ""

    due: int | None = None  # ms; next attempt, end of the sleep, deadline of the wait
    settled: bool = False
    rollback_config: Config | None = None  # None: the target's default
    output: str | None = None  # devalue text of a settled do
    stream: int | None = None  # bytes of the stream that it names, if it names one
    event: int | None = None  # number of the event that a settled wait took
    abandoned: bool = False  # the attempt that made this call has ended: nobody will hear of it

    @property
    def identity(self) -> Identity:
        return self.kind, self.name, self.nth

    @property
    def label(self) -> str:
        """The step's name as Cloudflare's texts and views show it: ``charge-1``."""
        return f"{self.name}-{self.nth}"

    @property
    def dynamic(self) -> bool:
        return self.config is not None and self.config.delay == DYNAMIC


@dataclass(slots=True)
class Received:
    """An event sent to the instance."""

    number: int
    type: str
    payload: str
    at: int


@dataclass(frozen=True, slots=True)
class Code:
    """The sources that an instance runs on from some moment on."""

    digest: str  # empty: unknown
    since: int  # ms; when the first run on them began
    after: int  # the last step that was recorded before


@dataclass(slots=True)
class Rollback:
    """Undo work in progress: what is left to undo, and how the instance ends after it."""

    error: Failure
    outcome: Literal["errored", "terminated"]
    steps: list[int]
    attempt: int = 0  # of the undo function of the first of them
    live: bool = False  # that attempt is running
    due: int | None = None  # ms; the next attempt


@dataclass(slots=True)
class State:
    """An instance. Only `apply` changes it; whoever folds owns it."""

    workflow: str = ""
    instance: str = ""
    params: str = ""
    retention: Retention = KEPT_BY_DEFAULT
    trigger: str = "binding"
    scheduled_by: Schedule | None = None
    created: int = 0
    status: Status = "queued"
    epoch: int = 1
    started: bool = False  # workflow_started stands in the journal, of this epoch
    output: str | None = None
    error: Failure | None = None
    paused_at: int | None = None
    ended: int | None = None
    rollback: Rollback | None = None
    rollback_result: tuple[Literal["complete", "failed"], Failure | None] | None = None
    rolled_back: set[int] = field(default_factory=set)

    records: dict[int, Record] = field(default_factory=dict)  # in start order
    open: dict[int, Record] = field(default_factory=dict)  # neither settled nor abandoned
    live: set[int] = field(default_factory=set)  # steps with a running attempt
    asking: set[int] = field(default_factory=set)  # steps whose delay function was asked
    timeline: list[tuple[bool, int]] = field(default_factory=list)  # (settled?, step) in journal order
    anew: dict[int, Identity] = field(default_factory=dict)  # calls that a restart makes begin anew, by their old steps
    taken: list[Identity] = field(default_factory=list)  # numbers of calls that were not heard, of callbacks given up
    events: dict[int, Received] = field(default_factory=dict)
    buffered: dict[str, list[int]] = field(default_factory=dict)  # by type, oldest first
    last_step: int = 0
    last_event: int = 0
    codes: list[Code] = field(default_factory=list)  # each on which a run began, oldest first
    # What counts against `max_state`: characters of devalue text in params, results and events, and bytes of streams.
    stored: int = 0

    _by_identity: dict[Identity, int] = field(default_factory=dict)
    _waiters: dict[str, dict[int, Record]] = field(default_factory=dict)  # open waits by event type, oldest first
    _nested: dict[int, dict[int, Record]] = field(default_factory=dict)  # open calls by the step that made them
    _due: list[tuple[int, int]] = field(default_factory=list, compare=False)  # heap; entries may be out of date

    @property
    def final(self) -> bool:
        return self.status in FINAL

    @property
    def dormant(self) -> bool:
        """Whether no run may be heard: what one still says comes from beyond its end."""
        return self.final or self.status in ("queued", "paused")

    @property
    def busy(self) -> bool:
        """Whether an attempt of a step or of an undo function is running."""
        return bool(self.live) or (self.rollback is not None and self.rollback.live)

    @property
    def started_at(self) -> int | None:
        """When the instance's first run began, as far as lists show it."""
        return self.created if self.started else None

    @property
    def code(self) -> str:
        """The digest of the sources that the last run began on; empty when it is unknown."""
        return self.codes[-1].digest if self.codes else ""

    def code_of(self, record: Record) -> str:
        """The digest of the sources on which a call was recorded; empty when it is unknown."""
        return next((code.digest for code in reversed(self.codes) if code.after < record.step), "")

    def find(self, identity: Identity) -> Record | None:
        """The record of a call, if the journal has it."""
        step = self._by_identity.get(identity)
        return None if step is None else self.records[step]

    def holds(self, parent: int) -> bool:
        """Whether a pending pause holds back the attempts of a call made in step ``parent`` (0: made by ``run()``).

        Calls made inside a running attempt are part of it: the pause waits for them, so they must go on.
        """
        return self.status == "waitingForPause" and not parent

    def next_due(self, *, attempts: bool = True) -> int | None:
        """When (ms) the earliest pending sleep, retry, deadline or undo is due; None when nothing is.

        ``attempts`` is False while no attempt may start: a retry that is due would be announced again and again.
        A queued instance waits for a place, not for a time; what is due is seen to when its run begins.
        """
        if self.dormant:
            return None
        if self.rollback is not None:
            return self.rollback.due if attempts else None
        if self.status == "waitingForPause" or not attempts:
            return min(
                (r.due for r in self.open.values() if r.due is not None and self._progresses(r, attempts)), default=None
            )
        heap = self._due
        while heap:
            due, step = heap[0]
            record = self.open.get(step)
            if record is not None and record.due == due and not record.live:
                return due
            heapq.heappop(heap)
        return None

    def _progresses(self, record: Record, attempts: bool) -> bool:
        return record.kind != "do" or (attempts and not self.holds(record.parent))

    def due_by(self, now: int) -> list[Record]:
        """Everything that is due, in the order in which it came due."""
        due: set[tuple[int, int]] = set()
        look = [0]
        while look:  # down the heap, no further than things are due: ten thousand sleepers cost nothing here
            i = look.pop()
            if i < len(self._due) and self._due[i][0] <= now:
                due.add(self._due[i])
                look += (2 * i + 1, 2 * i + 2)
        return [r for at, step in sorted(due) if (r := self.open.get(step)) is not None and r.due == at]

    def has_room(self, value: str, limit: int, stream: int | None = None) -> bool:
        """Whether the instance may store one more value, and the bytes of the stream that it names. Length is what a
        value costs on disk, and costs nothing to ask for; the bytes of its structured clone would have to be counted.
        """
        return self.stored + len(value) + (stream or 0) <= limit

    def streams(self) -> set[tuple[int, int]]:
        """The streams that results name, by step and attempt; nobody will ask for any other."""
        return {(record.step, record.attempt) for record in self.records.values() if record.stream is not None}

    def only_waits(self) -> bool:
        """Whether nothing but sleeps, retry delays and event waits is pending, and at least one is."""
        return (
            bool(self.open) and not self.live and not self.asking and all(r.due is not None for r in self.open.values())
        )

    def waiters(self, event_type: str, now: int) -> Iterator[Record]:
        """The waits that an event of this type satisfies, oldest first. One that is past its deadline takes none, even
        when its timer has not come round yet: the event is the next wait's."""
        waits = self._waiters.get(event_type, {})
        return (r for r in waits.values() if r.due is not None and r.due > now)

    def nested_in(self, step: int) -> Iterator[Record]:
        """The pending calls made in the running attempt of a step, and in those of such calls."""
        for record in list(self._nested.get(step, {}).values()):
            yield from self.nested_in(record.step)
            yield record

    # ------------------------------------------------------------------------------------------ for apply only

    def runs_on(self, digest: str, now: int) -> None:
        if digest and digest != self.code:
            self.codes.append(Code(digest, now, self.last_step))

    def add(self, record: Record) -> None:
        assert record.step == self.last_step + 1, "steps are numbered without a gap"
        assert record.identity not in self._by_identity, f"{record.identity} is recorded twice"
        self.last_step = record.step
        self.records[record.step] = record
        self._by_identity[record.identity] = record.step
        self.open[record.step] = record
        if record.kind == "wait":
            self._waiters.setdefault(record.event_type, {})[record.step] = record
        if record.parent:
            self._nested.setdefault(record.parent, {})[record.step] = record
        self.timeline.append((False, record.step))
        self.schedule(record, record.due)

    def schedule(self, record: Record, due: int | None) -> None:
        record.due = due
        if due is not None:
            heapq.heappush(self._due, (due, record.step))

    def settle(self, record: Record) -> None:
        assert record.step in self.open, f"step {record.step} settles twice, or was abandoned"
        record.settled = True
        self._close(record)
        self.timeline.append((True, record.step))

    def abandon(self, record: Record) -> None:
        record.abandoned = True
        self._close(record)

    def _close(self, record: Record) -> None:
        record.due, record.live, record.asked = None, False, None
        self.live.discard(record.step)
        self.asking.discard(record.step)
        del self.open[record.step]
        if record.kind == "wait":
            del self._waiters[record.event_type][record.step]
        if record.parent:
            del self._nested[record.parent][record.step]

    def forget(self, since: int) -> None:
        """Drop every record from step ``since`` on, unfinished earlier ones, and all buffered events.

        An earlier record inside a callback stays, whatever became of the callback: the calls that ``run()`` makes
        skip its number, as they did when they were recorded. Of an earlier unfinished one its place stays, because
        the code makes that call before those that were made after it.
        """
        dropped = [s for s, r in self.records.items() if s >= since or not (r.settled or r.parent)]
        for record in list(self.open.values()):
            self.abandon(record)
        self.anew = {step: identity for step, identity in self.anew.items() if step < since}
        for step in dropped:
            record = self.records.pop(step)
            del self._by_identity[record.identity]
            self.rolled_back.discard(step)
            if step < since and record.identity not in self.anew.values():
                self.anew[step] = record.identity
        self.buffered.clear()
        self._due.clear()
        self.timeline = [(over, step) for over, step in self.timeline if step in self.records or step in self.anew]
        self.stored = len(self.params) + sum(map(self._kept, self.records.values()))

    def _kept(self, record: Record) -> int:
        """What a settled record stores: a step's result, or the event that a wait took."""
        payload = "" if record.event is None else self.events[record.event].payload
        return len(record.output or "") + (record.stream or 0) + len(payload)

    def shift(self, by: int) -> None:
        """Move every pending due time, by the time that the instance was paused."""
        self._due = []
        for record in self.open.values():
            if record.due is not None:
                self.schedule(record, record.due + by)
