"""The journal's vocabulary. An instance is the fold of these events, in order; nothing is ever removed.

The public kinds carry the names that ``subscribe()`` shows on Cloudflare; the internal ones (`INTERNAL`) hold what a
replay needs besides. ``at`` is the time in ms since the epoch; ``step`` numbers the calls of an instance from 1, in the
order in which they started, over all of its life; values are devalue text, which the engine does not read.
"""

from __future__ import annotations

from typing import Union

import msgspec

from .failures import Failure


class Event(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="kind"):
    """One line of a journal."""

    at: int


class Config(msgspec.Struct, frozen=True, omit_defaults=True):
    """A step's resolved config. ``delay`` is "[dynamic]" when it is a function, which lives in the code only."""

    # int is named so that a whole number is still one after the journal: user code sees these.
    limit: int | float
    delay: int | float | str
    backoff: str
    timeout: int | float | str
    sensitive: str | None = None


DYNAMIC = "[dynamic]"

# ------------------------------------------------------------------------------------------------- life of an instance


class Retention(msgspec.Struct, frozen=True, omit_defaults=True):
    """How long (ms) an instance is kept after its end; None: as its Workflow has it then."""

    success: int | None = None
    error: int | None = None


class Schedule(msgspec.Struct, frozen=True):
    """The cron entry that created an instance, and the time (ms) for which it did."""

    cron: str
    scheduled: int


KEPT_BY_DEFAULT = Retention()


class Created(Event, tag="created", frozen=True, kw_only=True):
    """``trigger`` says who asked for it, in the words of the REST API: ``binding``, ``api``, ``cron``."""

    workflow: str
    instance: str
    params: str
    retention: Retention = KEPT_BY_DEFAULT
    trigger: str = "binding"
    schedule: Schedule | None = None


class WorkflowQueued(Event, tag="workflow_queued", frozen=True, kw_only=True):
    pass


class WorkflowStarted(Event, tag="workflow_started", frozen=True, kw_only=True):
    """``code`` is the digest of the sources that the first run began on; empty when the isolate tells none."""

    code: str = ""


class CodeChanged(Event, tag="code_changed", frozen=True, kw_only=True):
    """A run began on other sources than the one before it."""

    code: str


class WorkflowRunning(Event, tag="workflow_running", frozen=True, kw_only=True):
    pass


class WorkflowWaiting(Event, tag="workflow_waiting", frozen=True, kw_only=True):
    pass


class WorkflowWaitingForPause(Event, tag="workflow_waiting_for_pause", frozen=True, kw_only=True):
    pass


class WorkflowPaused(Event, tag="workflow_paused", frozen=True, kw_only=True):
    pass


class Resumed(Event, tag="resumed", frozen=True, kw_only=True):
    """Every pending due time moves by ``shift`` ms, the time spent paused."""

    shift: int


class WorkflowTerminated(Event, tag="workflow_terminated", frozen=True, kw_only=True):
    pass


class WorkflowCompleted(Event, tag="workflow_completed", frozen=True, kw_only=True):
    output: str


class WorkflowErrored(Event, tag="workflow_errored", frozen=True, kw_only=True):
    error: Failure


class Restarted(Event, tag="restarted", frozen=True, kw_only=True):
    """The instance begins anew; records from step ``since`` on are forgotten, all of them when it is 0."""

    since: int = 0


# --------------------------------------------------------------------------------------------------------------- steps


class Call(Event, frozen=True, kw_only=True):
    """What every call records: its identity, and the attempt of another step in whose callback it was made."""

    step: int
    name: str
    nth: int
    parent: int = 0
    parent_attempt: int = 0


class StepStarted(Call, tag="step_started", frozen=True, kw_only=True):
    config: Config
    rollback: bool = False
    rollback_config: Config | None = None


class AttemptStarted(Event, tag="attempt_started", frozen=True, kw_only=True):
    step: int
    attempt: int


class AttemptCompleted(Event, tag="attempt_completed", frozen=True, kw_only=True):
    step: int
    attempt: int


class NumberTaken(Event, tag="number_taken", frozen=True, kw_only=True):
    """A callback that had been given up made this call, of kind ``call``. Nobody answers it, but its number is taken:
    ``run()`` has not used it for the calls that it made since, and must not on a replay."""

    call: str
    name: str
    nth: int


class DelayAsked(Event, tag="delay_asked", frozen=True, kw_only=True):
    """An attempt failed and the step's delay function was asked when to try again."""

    step: int
    attempt: int
    error: Failure


class AttemptErrored(Event, tag="attempt_errored", frozen=True, kw_only=True):
    """``retry_delay`` (ms) is absent when nothing follows; ``lost`` when the isolate or the host went away."""

    step: int
    attempt: int
    error: Failure
    retry_delay: float | None = None
    lost: bool = False


class StepCompleted(Event, tag="step_completed", frozen=True, kw_only=True):
    """``stream`` is there when the output is a stream: how many bytes of it the last attempt has stored."""

    step: int
    output: str
    stream: int | None = None


class StepErrored(Event, tag="step_errored", frozen=True, kw_only=True):
    step: int
    error: Failure


class SleepStarted(Call, tag="sleep_started", frozen=True, kw_only=True):
    duration: float
    due: int


class SleepCompleted(Event, tag="sleep_completed", frozen=True, kw_only=True):
    step: int


class WaitStarted(Call, tag="wait_started", frozen=True, kw_only=True):
    event_type: str
    timeout: float
    due: int


class WaitCompleted(Event, tag="wait_completed", frozen=True, kw_only=True):
    """The wait took the received event number ``event``."""

    step: int
    event: int


class WaitTimedOut(Event, tag="wait_timed_out", frozen=True, kw_only=True):
    step: int


class EventReceived(Event, tag="event_received", frozen=True, kw_only=True):
    """An event sent from outside; ``number`` counts an instance's events from 1."""

    number: int
    type: str
    payload: str


# ------------------------------------------------------------------------------------------------------------ rollback


class RollbackStarted(Event, tag="rollback_started", frozen=True, kw_only=True):
    """Undo functions run for ``steps``, in this order, because of ``error``; then the instance ends as ``outcome``."""

    error: Failure
    steps: list[int]
    outcome: str


class RollbackStepStarted(Event, tag="rollback_step_started", frozen=True, kw_only=True):
    """``config`` is the undo function's, resolved."""

    step: int
    config: Config | None = None


class RollbackAttemptStarted(Event, tag="rollback_attempt_started", frozen=True, kw_only=True):
    step: int
    attempt: int


class RollbackAttemptCompleted(Event, tag="rollback_attempt_completed", frozen=True, kw_only=True):
    step: int
    attempt: int


class RollbackAttemptErrored(Event, tag="rollback_attempt_errored", frozen=True, kw_only=True):
    step: int
    attempt: int
    error: Failure
    retry_delay: float | None = None


class RollbackStepCompleted(Event, tag="rollback_step_completed", frozen=True, kw_only=True):
    step: int


class RollbackStepErrored(Event, tag="rollback_step_errored", frozen=True, kw_only=True):
    step: int
    error: Failure


class RollbackCompleted(Event, tag="rollback_completed", frozen=True, kw_only=True):
    pass


class RollbackErrored(Event, tag="rollback_errored", frozen=True, kw_only=True):
    error: Failure


SETTLED = (StepCompleted, StepErrored, SleepCompleted, WaitCompleted, WaitTimedOut)
INTERNAL = (Created, CodeChanged, Resumed, Restarted, NumberTaken, DelayAsked, EventReceived)

AnyEvent = Union[  # noqa: UP007  msgspec reads the union at run time
    Created, WorkflowQueued, WorkflowStarted, CodeChanged, WorkflowRunning, WorkflowWaiting, WorkflowWaitingForPause,
    WorkflowPaused, Resumed, WorkflowTerminated, WorkflowCompleted, WorkflowErrored, Restarted,
    StepStarted, NumberTaken, AttemptStarted, AttemptCompleted, DelayAsked, AttemptErrored, StepCompleted, StepErrored,
    SleepStarted, SleepCompleted, WaitStarted, WaitCompleted, WaitTimedOut, EventReceived,
    RollbackStarted, RollbackStepStarted, RollbackAttemptStarted, RollbackAttemptCompleted,
    RollbackAttemptErrored, RollbackStepCompleted, RollbackStepErrored, RollbackCompleted, RollbackErrored,
]  # fmt: skip

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(AnyEvent)


def kind_of(event: Event) -> str:
    """The event's name in the journal, such as ``step_started``."""
    tag = type(event).__struct_config__.tag
    assert isinstance(tag, str)
    return tag


def encode(event: Event) -> str:
    """The event as one line of JSON text."""
    return _encoder.encode(event).decode()


def decode(text: str) -> AnyEvent:
    """The event that `encode` wrote; ``msgspec.ValidationError`` when the text is none."""
    return _decoder.decode(text)
