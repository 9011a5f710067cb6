"""What ``modify`` hands to a test: Cloudflare's ``WorkflowInstanceModifier``, in snake case."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from runtime.engine import Failure
from runtime.engine import commands as cmd
from runtime.engine.calls import good_event_type
from runtime.engine.failures import INVALID_EVENT_TYPE
from runtime.engine.rules import CLOUDFLARE
from runtime.isolates.shared_process import error_data, revived, value_data

from .errors import IntrospectionError
from .mocks import TIMED_OUT, InstanceMocks, Step

_MISSING: Any = object()

Selector = Mapping[str, Any] | str
"""``{"name": "charge", "index": 2}``: the second step of that name. The index is 1 when it is left out."""


Error = BaseException | Mapping[str, str]
"""An exception, or the ``name`` and ``message`` of a JavaScript error."""


class Modifier:
    """Changes the course of one instance, or of all that are created from now on."""

    def __init__(self, mocks: InstanceMocks, started: list[cmd.SendEvent]) -> None:
        self._mocks = mocks
        self._sent = started

    def disable_sleeps(self, steps: Iterable[Selector] | Selector | None = None) -> None:
        """Let all sleeps, or those of these names and numbers, be over at once."""
        self._mocks.sleeps.add(_chosen(steps))

    def disable_retry_delays(self, steps: Iterable[Selector] | Selector | None = None) -> None:
        """Let retries of all steps, or of these, come at once. The journal tells the delay they would have had."""
        self._mocks.delays.add(_chosen(steps))

    def mock_step_result(self, step: Selector, value: Any = _MISSING) -> None:
        """Let a step give this value; its callback is not run."""
        if value is _MISSING:
            raise TypeError("put() called with undefined value.")
        chosen = selected(step)
        if chosen in self._mocks.results:
            raise IntrospectionError(f"[WorkflowIntrospector] Trying to mock step '{chosen[0]}' multiple times!")
        self._mocks.results[chosen] = value_data(value)

    def mock_step_error(self, step: Selector, error: Error, times: int | None = None) -> None:
        """Let every attempt of a step, or the next ``times``, fail with an exception, or with a name and a message."""
        chosen = self._unmocked(step, "mock error on")
        self._mocks.fail(self._mocks.errors, chosen, _failure(error), _times(times))

    def force_step_timeout(self, step: Selector, times: int | None = None) -> None:
        """Let every attempt of a step, or the next ``times``, time out at once."""
        self._mocks.fail(self._mocks.timeouts, self._unmocked(step, "force timeout on"), TIMED_OUT, _times(times))

    def mock_event(self, event: Mapping[str, Any] | None = None, **more: Any) -> None:
        """Have an event (``type`` and ``payload``) there as if it were sent, and again after a full restart."""
        event = {**(event or {}), **more}
        type, payload = event.get("type"), event.get("payload")
        if not good_event_type(type, CLOUDFLARE):
            raise revived({"name": INVALID_EVENT_TYPE.name, "message": INVALID_EVENT_TYPE.message})
        text, size = value_data(payload)
        sent = cmd.SendEvent(type, text, size)
        self._mocks.events.append(sent)
        self._sent.append(sent)

    def force_event_timeout(self, step: Selector) -> None:
        """Let an event wait time out at once, whatever event is there."""
        self._mocks.event_timeouts.add([selected(step)])

    def _unmocked(self, step: Selector, what: str) -> Step:
        chosen = selected(step)
        if chosen in self._mocks.results:
            text = f"[WorkflowIntrospector] Trying to {what} step '{chosen[0]}' after mocking its result!"
            raise IntrospectionError(text)
        return chosen


def selected(step: Selector) -> Step:
    """The step that a selector means; an index of 0 is 1, as on Cloudflare."""
    chosen: object = {"name": step} if isinstance(step, str) else step
    if isinstance(chosen, Mapping) and chosen.keys() <= {"name", "index"}:
        name, index = chosen.get("name"), chosen.get("index") or 1
        if isinstance(name, str) and isinstance(index, int) and index > 0:
            return name, index
    raise TypeError(f'{step!r} names no step; give {{"name": "charge", "index": 2}} or, for the first, "charge"')


def _chosen(steps: Iterable[Selector] | Selector | None) -> list[Step] | None:
    if isinstance(steps, str | Mapping):
        return [selected(steps)]
    return None if steps is None else [selected(step) for step in steps]


def _times(times: int | None) -> int | None:
    if times is not None and (int(times) != times or times < 1):
        raise ValueError(f"times={times!r} is no number of attempts; give 1 or more, or None for every attempt")
    return times


def _failure(error: object) -> Failure:
    if isinstance(error, BaseException) or (isinstance(error, Mapping) and error.keys() >= {"name", "message"}):
        return Failure(**error_data(error))
    raise TypeError(f'{error!r} is no error; give an exception, as ValueError("no"), or its "name" and "message"')
