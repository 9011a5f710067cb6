"""An instance with a clock, for tests: what it decides it commits to a journal of text, and folds."""

from __future__ import annotations

from typing import Any

from runtime.engine import (
    Decision,
    Event,
    Failure,
    Record,
    Rules,
    State,
    Status,
    apply,
    decide,
    decode,
    encode,
    fold,
    kind_of,
)
from runtime.engine import commands as cmd
from runtime.engine import events as ev
from runtime.engine.rules import CLOUDFLARE

NOW = 1_700_000_000_000  # ms: when the instance is created
BOOM = Failure("Error", "boom")


class Instance:
    """Commands go in through methods that read like a story; `last` is the decision that the latest one led to."""

    def __init__(self, rules: Rules = CLOUDFLARE) -> None:
        self.rules = rules
        self.now = NOW
        self.journal: list[str] = []
        self.state = State()
        self.last = Decision()
        self.check = True  # compare with the journal each time
        self._calls: dict[tuple[str, str], int] = {}
        self.commit([ev.Created(at=NOW, workflow="wf", instance="id", params="{}"), ev.WorkflowQueued(at=NOW)])

    def tell(self, command: cmd.Command) -> Decision:
        """Decide and commit. Deciding must have changed nothing, and the journal must give the state that we hold."""
        self.last = decide(self.state, command, self.now, self.rules)
        assert not self.check or fold(self.events) == self.state
        assert self.last.refusal is None or not self.last.events, "a refusal changes nothing"
        self.commit(self.last.events)
        return self.last

    def commit(self, events: list[Event]) -> None:
        for event in events:
            line = encode(event)
            assert decode(line) == event, "every event comes back from the journal as it was"
            self.journal.append(line)
            apply(self.state, event)

    @property
    def events(self) -> list[Event]:
        """The journal."""
        return [decode(line) for line in self.journal]

    @property
    def kinds(self) -> list[str]:
        """The kinds of the events of the latest decision."""
        return [kind_of(event) for event in self.last.events]

    def status(self) -> Status:
        return self.state.status

    def record(self, step: int) -> Record:
        return self.state.records[step]

    # ------------------------------------------------------------------------------------------------- the code

    def start(self) -> Instance:
        """A run begins. It numbers its calls from one again."""
        self._calls.clear()
        self.tell(cmd.RunStarted())
        return self

    def call(self, kind: Any, name: str, **more: Any) -> int:
        """The code makes a call, numbered as a run numbers top-level ones unless ``nth`` is given; its step."""
        nth = more.pop("nth", None)
        if nth is None:
            nth = self._calls[kind, name] = self._calls.get((kind, name), 0) + 1
        self.tell(cmd.CallMade(kind=kind, name=name, nth=nth, **more))
        record = self.state.find((kind, name, nth))
        return 0 if record is None else record.step

    def do(self, name: str = "a", **more: Any) -> int:
        return self.call("do", name, **more)

    def sleep(self, duration: Any = 1000, name: str = "s", **more: Any) -> int:
        return self.call("sleep", name, duration=duration, **more)

    def wait(self, event_type: Any = "go", name: str = "w", **more: Any) -> int:
        return self.call("wait", name, event_type=event_type, **more)

    def inside(self, outer: int) -> dict[str, Any]:
        """The keywords of a call that is made in the callback of step ``outer``."""
        return {"parent": outer, "parent_attempt": self.record(outer).attempt}

    def done(self, step: int, output: str = '["done"]', size: int = 10, attempt: int | None = None) -> Decision:
        """The step's callback returns."""
        attempt = self.record(step).attempt if attempt is None else attempt
        return self.tell(cmd.AttemptFinished(step, attempt, output=output, size=size))

    def failed(self, step: int, error: Failure = BOOM, attempt: int | None = None) -> Decision:
        """The step's callback raises."""
        attempt = self.record(step).attempt if attempt is None else attempt
        return self.tell(cmd.AttemptFinished(step, attempt, error=error))

    def returned(self, output: str = '["out"]') -> Decision:
        return self.tell(cmd.RunDone(output=output))

    def raised(self, error: Failure = BOOM) -> Decision:
        return self.tell(cmd.RunDone(error=error))

    # ------------------------------------------------------------------------------------------------- the world

    def later(self, ms: int) -> Instance:
        """The clock goes on, and nobody notices yet."""
        self.now += ms
        return self

    def ring(self, run: bool = True) -> Decision:
        """The timer comes round."""
        return self.tell(cmd.TimerDue(run=run))

    def send(self, event_type: Any = "go", payload: str = "[1]", size: int = 1) -> Decision:
        return self.tell(cmd.SendEvent(event_type, payload, size))

    def pause(self) -> Decision:
        return self.tell(cmd.Pause())

    def resume(self) -> Decision:
        return self.tell(cmd.Resume())

    def crash(self) -> Instance:
        """The host dies: all that is left is the journal, and what a new host finds in flight is declared lost."""
        self.state = fold(self.events)
        self._calls.clear()
        self.tell(cmd.RunLost())
        return self


RETRY = {"limit": 3, "delay": 100, "backoff": "constant"}
ONCE = {"retries": {"limit": 0, "delay": 0}}


def retries(**more: Any) -> dict[str, Any]:
    """A step's config with these retries."""
    return {"retries": {**RETRY, **more}}
