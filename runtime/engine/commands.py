"""What can happen to an instance. The shell turns every message, timer and API call into one of these."""

from __future__ import annotations

from typing import Any

import msgspec

from .failures import Failure
from .state import Kind


class RunStarted(msgspec.Struct, frozen=True):
    """A run of the current epoch begins (or begins anew) on an isolate, on sources with this digest, if it is known."""

    code: str = ""


class RunParked(msgspec.Struct, frozen=True):
    """Every task of the run waits on engine calls only."""


class RunLost(msgspec.Struct, frozen=True):
    """The run is gone without an end: its isolate or the host died, or it is moved to new code."""


class RunDone(msgspec.Struct, frozen=True):
    """``run()`` returned (``output``) or raised (``error``)."""

    output: str | None = None
    error: Failure | None = None
    held: bool = False  # no undo function may start now: the run is leaving its isolate
    fatal: bool = False  # the error is one of those that end an instance at once: nothing is undone


class CallMade(msgspec.Struct, frozen=True):
    """The code used the step API. ``config``, ``duration``, ``timeout`` and ``rollback_config`` are the plain values as
    given."""

    kind: Kind
    name: str
    nth: int
    parent: int = 0
    parent_attempt: int = 0
    config: Any = None
    duration: Any = None
    until: float | None = None  # ms since the epoch: a sleepUntil
    event_type: Any = None
    timeout: Any = None
    delay_function: bool = False
    rollback: bool = False
    rollback_config: Any = None
    skip: bool = False  # a sleep, or a wait that times out: it is over at once


class AttemptFinished(msgspec.Struct, frozen=True):
    """An attempt's callback ended; ``size`` is its value's size in structured-clone bytes. Of a stream, which is stored
    beside the journal, ``output`` is what names it, and ``stream`` its length in bytes.

    ``fatal``: the value is one that no code may go on from, such as a function or a stream that cannot be read; the
    instance ends with ``error``, whatever its code would have caught or undone.
    """

    step: int
    attempt: int
    output: str | None = None
    size: int = 0
    stream: int | None = None
    error: Failure | None = None
    held: bool = False  # no attempt may start now: the run is leaving its isolate
    fatal: bool = False
    no_delay: bool = False  # the next attempt, if there is one, starts at once


class AttemptTimedOut(msgspec.Struct, frozen=True):
    """An attempt outlived its timeout, counted from the moment its callback began."""

    step: int
    attempt: int
    held: bool = False
    no_delay: bool = False


class DelayAnswered(msgspec.Struct, frozen=True):
    """What a step's delay function gave: a plain value, or what went wrong with it."""

    step: int
    attempt: int
    value: Any = None
    problem: str | None = None
    no_delay: bool = False


class TimerDue(msgspec.Struct, frozen=True):
    """Something may be due. ``run`` tells whether a run is there to take a retry."""

    run: bool


class SendEvent(msgspec.Struct, frozen=True):
    type: Any
    payload: str
    size: int = 0


class Pause(msgspec.Struct, frozen=True):
    pass


class Resume(msgspec.Struct, frozen=True):
    pass


class Terminate(msgspec.Struct, frozen=True):
    rollback: bool = False


class Restart(msgspec.Struct, frozen=True):
    """``name`` None restarts from the top; else from the ``count``-th step of that name and ``type``."""

    name: str | None = None
    count: int = 1
    type: str = "do"
    partial: bool = False  # a `from` was given, whatever it holds


class RollbackFinished(msgspec.Struct, frozen=True):
    """An undo function ended, or (``missing``) the code no longer has it."""

    step: int
    attempt: int
    error: Failure | None = None
    missing: bool = False
    held: bool = False  # no undo function may start now: the run is leaving its isolate


class RollbackTimedOut(msgspec.Struct, frozen=True):
    """An undo function outlived its timeout, counted from the moment it began."""

    step: int
    attempt: int


Command = (
    RunStarted | RunParked | RunLost | RunDone | CallMade | AttemptFinished | AttemptTimedOut | DelayAnswered
    | TimerDue | SendEvent | Pause | Resume | Terminate | Restart | RollbackFinished
    | RollbackTimedOut
)  # fmt: skip
