"""What went wrong in user code, told at the terminal as it happens."""

from __future__ import annotations

from collections.abc import Sequence

from runtime.cli.terminal import Terminal
from runtime.engine import Event, Failure, State
from runtime.engine.durations import DAY, HOUR, MINUTE, SECOND
from runtime.engine.events import AttemptErrored, RollbackAttemptErrored, StepErrored, WorkflowErrored
from runtime.engine.failures import LOST, ROLLBACK_MISSING


class FailureReports:
    """Failed attempts, and instances that end with an error, each with its traceback, once."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal

    def happened(self, state: State, events: Sequence[Event]) -> None:
        """Tell of the failures among committed events; ``state`` is the instance after them."""
        for event in events:
            if isinstance(event, AttemptErrored):
                self._attempt(state, event)
            elif isinstance(event, StepErrored):
                self._step(state, event)
            elif isinstance(event, RollbackAttemptErrored):
                self._undo(state, event)
            elif isinstance(event, WorkflowErrored):
                self._instance(state, event)

    def _attempt(self, state: State, event: AttemptErrored) -> None:
        record = state.records.get(event.step)
        if record is None:  # restarted in the same turn
            return
        what = f"{state.workflow}/{state.instance}: attempt {event.attempt} of {record.label}"
        if event.lost:
            self._terminal.warning(f"{what} was cut off{_again(event.retry_delay)}")
            return
        self._terminal.error(
            f"{what} failed: {headline(event.error)}",
            traceback(event.error),
            _hint(event.retry_delay),
            "attempt_failed",
        )

    def _step(self, state: State, event: StepErrored) -> None:
        """Most steps end with the error of their last attempt, which was just told."""
        record = state.records.get(event.step)
        if record is not None and "NonRetryableDelayError" in event.error.message:
            self._terminal.error(f"{state.workflow}/{state.instance}: {headline(event.error)}", code="delay_failed")

    def _undo(self, state: State, event: RollbackAttemptErrored) -> None:
        record = state.records.get(event.step)
        if record is None:  # restarted in the same turn
            return
        what = f"{state.workflow}/{state.instance}: rollback of {record.label}"
        hint = _hint(event.retry_delay) or "The steps that started before it are not rolled back."
        if event.error == LOST and event.retry_delay is not None:
            self._terminal.warning(f"{what} was cut off{_again(event.retry_delay)}")
        elif event.error == ROLLBACK_MISSING:
            reason = "the replay did not come to the step and its rollback function"
            self._terminal.error(f"{what} is not possible: {reason}", hint=hint, code="rollback_missing")
        else:
            self._terminal.error(
                f"{what} failed: {headline(event.error)}", traceback(event.error), hint, "rollback_failed"
            )

    def _instance(self, state: State, event: WorkflowErrored) -> None:
        told = any(record.error == event.error for record in state.records.values())
        self._terminal.error(
            f"{state.workflow}/{state.instance} ended with an error: {headline(event.error)}",
            None if told else traceback(event.error),
            code="instance_errored",
        )


def headline_of(message: str) -> str:
    """The line that says most: of a traceback the exception's first one, after the frames, which are indented."""
    lines = message.splitlines() or [""]
    frames = [number for number, line in enumerate(lines) if line.startswith("  File ")]
    after = lines[frames[-1] :] if frames else lines
    return next((line for line in after if line and not line.startswith(" ")), lines[-1])


def headline(error: Failure) -> str:
    """The error in one line."""
    if error.name == "PythonError":
        return headline_of(error.message.strip())
    return f"{error.name}: {error.message}" if error.message else error.name


def traceback(error: Failure) -> str | None:
    """The error in full, None when `headline` is all there is."""
    full = error.message if error.name == "PythonError" else error.detail
    return full if "\n" in full.strip() else None


def _hint(delay: float | None) -> str | None:
    return None if delay is None else f"It is tried again{_after(delay)}."


def _again(delay: float | None) -> str:
    return "" if delay is None else f"; it runs again{_after(delay)}"


def _after(delay: float) -> str:
    if delay <= 0:
        return " at once"
    for unit, name in ((DAY, "d"), (HOUR, "h"), (MINUTE, "min"), (SECOND, "s")):
        if delay >= unit:
            return f" in {delay / unit:.3g} {name}"
    return f" in {delay:.0f} ms"
