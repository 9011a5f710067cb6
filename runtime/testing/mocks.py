"""What a test has put in the place of steps, sleeps and events, by instance. It outlives crashes and restarts."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from copy import deepcopy
from dataclasses import dataclass, field

from msgspec.structs import replace

from runtime.engine import Failure, State
from runtime.engine import commands as cmd
from runtime.engine.failures import timed_out
from runtime.engine.state import Record
from runtime.host.modifications import Modifications
from runtime.store import Key

Step = tuple[str, int]  # name and number, from 1

_RETRIES = (cmd.AttemptFinished, cmd.AttemptTimedOut, cmd.DelayAnswered)


@dataclass
class Chosen:
    """Some steps, or all."""

    every: bool = False
    steps: set[Step] = field(default_factory=set)

    def add(self, steps: Collection[Step] | None) -> None:
        """Choose these, or (None) all."""
        self.every |= steps is None
        self.steps |= set(steps or ())

    def __contains__(self, step: Step) -> bool:
        return self.every or step in self.steps


@dataclass
class Failures:
    """With what the attempts of one step fail: those of a window each with its own error, or all with one."""

    by_attempt: dict[int, Failure] = field(default_factory=dict)
    always: Failure | None = None
    last: int = 0  # the last attempt of the last window

    def add(self, error: Failure, times: int | None) -> None:
        """Let the next ``times`` attempts fail, or every one."""
        if times is None:
            self.always = error
            return
        self.by_attempt |= dict.fromkeys(range(self.last + 1, self.last + times + 1), error)
        self.last += times

    def of(self, attempt: int) -> Failure | None:
        """The error of one attempt."""
        return self.by_attempt.get(attempt, self.always)


@dataclass
class InstanceMocks:
    """Everything that is mocked for one instance."""

    sleeps: Chosen = field(default_factory=Chosen)
    delays: Chosen = field(default_factory=Chosen)
    event_timeouts: Chosen = field(default_factory=Chosen)
    events: list[cmd.SendEvent] = field(default_factory=list)
    results: dict[Step, tuple[str, int]] = field(default_factory=dict)  # devalue text and size
    errors: dict[Step, Failures] = field(default_factory=dict)
    timeouts: dict[Step, Failures] = field(default_factory=dict)
    failing: dict[Step, int] = field(default_factory=dict)  # attempts that errors and timeouts have taken so far

    def fail(self, kind: dict[Step, Failures], step: Step, error: Failure, times: int | None) -> None:
        """Let attempts of a step fail; windows of errors and of timeouts follow one another."""
        failures = kind.setdefault(step, Failures())
        failures.last = self.failing.get(step, 0)
        failures.add(error, times)
        self.failing[step] = failures.last

    def outcome(self, step: Step, attempt: int) -> Failure | tuple[str, int] | None:
        """What an attempt gives: a mocked error comes before a timeout, and that before a result."""
        for kind in (self.errors, self.timeouts):
            if step in kind and (error := kind[step].of(attempt)) is not None:
                return error
        return self.results.get(step)


class Mocks(Modifications):
    """The mocks of all instances of a Worker, and those that new instances of a Workflow are to have."""

    def __init__(self) -> None:
        self.by_key: dict[Key, InstanceMocks] = {}
        self.by_workflow: dict[str, InstanceMocks] = {}
        self.made: dict[str, dict[Key, None]] = {}  # by workflow: what came into being while it is watched

    def of(self, key: Key) -> InstanceMocks:
        """An instance's mocks, to be added to."""
        return self.by_key.setdefault(key, InstanceMocks())

    def forget(self, key: Key) -> None:
        """The instance is gone, and what was mocked for it."""
        self.by_key.pop(key, None)

    # ------------------------------------------------------------------------------------------------ Modifications

    def created(self, keys: Collection[Key]) -> None:
        """Give new instances what their Workflow is to have."""
        for key in keys:
            if key.workflow in self.by_workflow:
                self.by_key.setdefault(key, deepcopy(self.by_workflow[key.workflow]))
                self.made[key.workflow].setdefault(key)

    def events(self, key: Key) -> Sequence[cmd.SendEvent]:
        """The mocked events."""
        mocks = self.by_key.get(key)
        return () if mocks is None else mocks.events

    def command(self, key: Key, state: State, command: cmd.Command) -> cmd.Command:
        """Let sleeps and waits be over at once, and retries come at once."""
        mocks = self.by_key.get(key)
        if mocks is None:
            return command
        if isinstance(command, cmd.CallMade):
            chosen = {"sleep": mocks.sleeps, "wait": mocks.event_timeouts}.get(command.kind)
            return replace(command, skip=chosen is not None and (command.name, command.nth) in chosen)
        if isinstance(command, _RETRIES):
            record = state.records.get(command.step)
            return replace(command, no_delay=record is not None and (record.name, record.nth) in mocks.delays)
        return command

    def outcome(self, key: Key, record: Record) -> cmd.AttemptFinished | None:
        """End an attempt as it is mocked."""
        mocks = self.by_key.get(key)
        given = None if mocks is None else mocks.outcome((record.name, record.nth), record.attempt)
        if given is None:
            return None
        if isinstance(given, Failure):
            return cmd.AttemptFinished(record.step, record.attempt, error=given)
        text, size = given
        return cmd.AttemptFinished(record.step, record.attempt, output=text, size=size)


TIMED_OUT = timed_out(0)  # "0ms", as Cloudflare's forced timeout says
