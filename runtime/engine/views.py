"""What programs see of an instance: ``status()``, and the events of ``subscribe()``.

Values stay devalue text, wrapped in `Value`, for the caller to place into its answer.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from . import events as ev
from .events import INTERNAL, Config, kind_of
from .failures import Failure
from .state import State

REDACTED = "[REDACTED]"
UNDEFINED = "-1"  # the text of a step's result that is none
TERMINAL = frozenset({"workflow_completed", "workflow_errored", "workflow_terminated"})
PUBLIC = frozenset(
    kind_of_type
    for kind_of_type in (
        str(t.__struct_config__.tag)
        for t in ev.Event.__subclasses__() + ev.Call.__subclasses__()
        if t is not ev.Call and t not in INTERNAL
    )
)


@dataclass(frozen=True, slots=True)
class Value:
    """A value as devalue text."""

    text: str


def status(state: State, *, held_back: bool = False) -> dict[str, Any]:
    """``instance.status()``: the keys status, output, error and rollback. The Workers API says ``running`` during a
    rollback, and ``queued`` of one that would run but is ``held_back``, by its Workflow's limit."""
    shown = "running" if state.status == "rollingBack" else state.status
    answer: dict[str, Any] = {
        "status": "queued" if held_back and shown == "running" else shown,
        "output": None if state.output is None else Value(state.output),
        "rollback": None,
    }
    if state.error is not None:
        answer["error"] = failure(state.error)
    if state.rollback_result is not None:
        outcome, error = state.rollback_result
        answer["rollback"] = {"outcome": outcome, "error": None if error is None else failure(error)}
    return answer


def failure(error: Failure) -> dict[str, str]:
    return {"name": error.name, "message": error.message}


class PublicEvents:
    """Turns a journal, line by line, into what ``subscribe()`` delivers.

    Public kinds are numbered from 1 since the last full restart; internal kinds are not shown.
    """

    def __init__(self) -> None:
        self._instance = ""
        self._params = ""
        self._number = 0
        self._names: dict[int, str] = {}
        self._sensitive: set[int] = set()
        self._sleeps: Counter[tuple[str, float]] = Counter()
        self._slept: dict[int, tuple[str, float]] = {}
        self._awake: set[int] = set()

    def show(self, event: ev.Event) -> dict[str, Any] | None:
        """The public form of the next event of the journal, None for an internal one."""
        self._note(event)
        if isinstance(event, INTERNAL):
            return None
        self._number += 1
        kind = kind_of(event)
        shown: dict[str, Any] = {
            "type": kind,
            "instanceId": self._instance,
            "eventId": self._number,
            "timestamp": event.at,
        }
        step = getattr(event, "step", None)
        if step is not None:
            shown["stepName"] = self._names[step]
        shown.update(self._details(event))
        return shown

    def _note(self, event: ev.Event) -> None:
        if isinstance(event, ev.Created):
            self._instance, self._params = event.instance, event.params
        elif isinstance(event, ev.Restarted):
            self._number = 0 if event.since == 0 else self._number
            self._forget_sleeps(event.since)
        elif isinstance(event, ev.SleepStarted):
            # Cloudflare counts sleeps for display by name and duration (C112); identity does not (I6).
            key = self._slept[event.step] = event.name, event.duration
            self._sleeps[key] += 1
            self._names[event.step] = f"{event.name}-{self._sleeps[key]}"
        elif isinstance(event, ev.SleepCompleted):
            self._awake.add(event.step)
        elif isinstance(event, ev.Call):
            self._names[event.step] = f"{event.name}-{event.nth}"
            if isinstance(event, ev.StepStarted) and event.config.sensitive:
                self._sensitive.add(event.step)

    def _forget_sleeps(self, since: int) -> None:
        """Those that a restart makes the code begin again count anew."""
        for step in [s for s in self._slept if s >= since or s not in self._awake]:
            self._sleeps[self._slept.pop(step)] -= 1

    def _details(self, event: ev.Event) -> dict[str, Any]:
        match event:
            case ev.WorkflowStarted():
                return {"params": Value(self._params)}
            case ev.WorkflowCompleted():
                return {"output": Value(event.output)}
            case ev.WorkflowErrored() | ev.RollbackStepErrored():
                return {"error": failure(event.error)}
            case ev.StepStarted():
                return {"config": show_config(event.config)}
            case ev.RollbackStepStarted():
                return {} if event.config is None else {"config": show_config(event.config)}
            case ev.StepCompleted():
                if event.step in self._sensitive:
                    return {"output": REDACTED}
                return {} if event.output == UNDEFINED else {"output": Value(event.output)}
            case ev.AttemptErrored() | ev.RollbackAttemptErrored():
                shown: dict[str, Any] = {"attempt": event.attempt, "error": failure(event.error)}
                return shown if event.retry_delay is None else shown | {"retryDelayMs": _number(event.retry_delay)}
            case ev.SleepStarted():
                return {"durationMs": _number(event.duration)}
            case ev.WaitStarted():
                return {"eventType": event.event_type}
        attempt = getattr(event, "attempt", None)
        return {} if attempt is None else {"attempt": attempt}


def _number(ms: float) -> float:
    """As JavaScript has it: a whole number carries no ``.0``."""
    return int(ms) if ms == int(ms) else ms


def show_config(config: Config) -> dict[str, Any]:
    """A resolved config as events and step contexts show it."""
    shown: dict[str, Any] = {
        "retries": {"limit": config.limit, "delay": config.delay, "backoff": config.backoff},
        "timeout": config.timeout,
    }
    if config.sensitive is not None:
        shown["sensitive"] = config.sensitive
    return shown


def context_config(config: Config) -> dict[str, Any]:
    """The config in a step's context: a delay function is left out of it."""
    shown = show_config(config)
    if config.delay == ev.DYNAMIC:
        del shown["retries"]["delay"]
    return shown
