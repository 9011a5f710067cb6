"""What the shell does once a decision is committed, in order. An effect on a call that the run has not made (yet) is
dropped: the call will be answered from the state when it is made."""

from __future__ import annotations

from dataclasses import dataclass, field

import msgspec

from .events import Event
from .failures import Failure


class RunAttempt(msgspec.Struct, frozen=True):
    """Let the isolate run this attempt of the step's callback."""

    step: int
    attempt: int


class Settle(msgspec.Struct, frozen=True):
    """Answer the call: the record has its outcome."""

    step: int


class AskDelay(msgspec.Struct, frozen=True):
    """Ask the step's delay function about the failed attempt."""

    step: int
    attempt: int
    error: Failure


class CancelAttempt(msgspec.Struct, frozen=True):
    """The attempt is given up: whatever it still does is unheard."""

    step: int
    attempt: int


class RunRollback(msgspec.Struct, frozen=True):
    """Let the isolate run the step's undo function."""

    step: int
    attempt: int
    error: Failure


class CancelRollback(msgspec.Struct, frozen=True):
    """The undo function's attempt is given up: whatever it still does is unheard."""

    step: int
    attempt: int


class AbortRun(msgspec.Struct, frozen=True):
    """The run of this epoch is over: stop its code, hear nothing more of it."""


class StartRun(msgspec.Struct, frozen=True):
    """The instance needs a run."""


class DeclareLost(msgspec.Struct, frozen=True):
    """The journal holds a run's unfinished business, and the run is gone: `RunLost` is to be decided first."""


class ArmTimer(msgspec.Struct, frozen=True):
    """Nothing is to be done before ``at`` (ms)."""

    at: int


Effect = (
    RunAttempt | Settle | AskDelay | CancelAttempt | RunRollback | CancelRollback | AbortRun | StartRun | DeclareLost
    | ArmTimer
)  # fmt: skip


@dataclass(slots=True)
class Decision:
    """``events`` to commit in one transaction, then ``effects`` to perform; or a ``refusal`` that changes nothing."""

    events: list[Event] = field(default_factory=list)
    effects: list[Effect] = field(default_factory=list)
    refusal: Failure | None = None


def refuse(failure: Failure) -> Decision:
    """A decision against the command: the journal does not mention it."""
    return Decision(refusal=failure)
