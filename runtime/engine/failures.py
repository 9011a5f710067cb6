"""Errors of the engine, with the texts that a program on Cloudflare can observe, in the form that user code sees.

An error whose name is not one of JavaScript's own reaches user code as ``Error`` with its name in front of the
message, so that is how the engine makes them.
"""

from __future__ import annotations

import msgspec

from .durations import show


class Failure(msgspec.Struct, frozen=True, omit_defaults=True):
    """An error's name and message, as programs see it. ``detail`` (a traceback) is for the developer's eyes only."""

    name: str
    message: str
    detail: str = ""


NON_RETRYABLE = "NonRetryableError"
_DOCS = "https://developers.cloudflare.com/workflows/build/sleeping-and-retrying/"

LOST = Failure("Error", "WorkflowInternalError: Attempt failed due to internal workflows error")
TIME_TRAVEL = Failure("Error", "You can't sleep until a time in the past, time-traveler")
FATAL_NON_RETRYABLE = Failure(
    "WorkflowFatalError",
    "The execution of the Workflow instance was terminated, "
    "as a step threw an NonRetryableError and it was not handled",
)
CANNOT_TERMINATE = Failure(
    "Error",
    "WorkflowError: (instance.cannot_terminate) Cannot terminate instance since its on a finite state",
)
# Production rejects an event to a finished instance without documenting the text; ours follows cannot_terminate's.
CANNOT_SEND_EVENT = Failure(
    "Error",
    "WorkflowError: (instance.cannot_send_event) Cannot send event to instance since its on a finite state",
)
INVALID_EVENT_TYPE = Failure("Error", "WorkflowError: workflow.invalid_event_type")
# Production rejects a payload of more than 1 MiB without documenting the text; ours follows the step result's.
EVENT_TOO_LARGE = Failure("Error", "WorkflowError: (body) The payload exceeds the maximum size of 1MiB")
# The local engine's TerminatedError has the name Terminated, which a handler does not see: it is called over RPC.
TERMINATED = Failure("Error", "Instance terminated during rollback")
ROLLBACK_MISSING = Failure("RollbackMissing", "Rollback function not available in registry")
ROLLBACK_PHASE = Failure("Error", "WorkflowFatalError: Cannot execute steps during rollback phase")
STORAGE_LIMIT = Failure("WorkflowFatalError", "The instance has exceeded the 1GiB storage limit")
_TERMINATED_AS = "The execution of the Workflow instance was terminated, as the step"


def is_non_retryable(error: Failure) -> bool:
    """Detection is textual on Cloudflare: the name, or the start of the message."""
    return error.name == NON_RETRYABLE or error.message.startswith(NON_RETRYABLE)


def final_error(error: Failure, *, preserve: bool) -> Failure:
    """The error that an instance ends with. An unhandled NonRetryableError keeps its message only with the flag
    workflows_preserve_non_retryable_error_message, on from compatibility date 2026-05-14."""
    if not is_non_retryable(error):
        return error
    if not preserve:
        return FATAL_NON_RETRYABLE
    if error.name == NON_RETRYABLE:
        return error
    return Failure(NON_RETRYABLE, error.message.removeprefix(NON_RETRYABLE).removeprefix(": "))


def timed_out(ms: float) -> Failure:
    return Failure("Error", f"WorkflowTimeoutError: Execution timed out after {show(ms)}ms")


def bad_step_name(name: str) -> Failure:
    return Failure(
        "Error",
        f'WorkflowFatalError: Step name "{name}" exceeds max length (256 chars) or invalid characters found',
    )


def bad_step_config(name: str) -> Failure:
    return Failure("Error", f'WorkflowFatalError: Step config for "{name}" is in a invalid format. See {_DOCS}')


def bad_rollback_config(name: str) -> Failure:
    return Failure("Error", f'WorkflowFatalError: Rollback config for "{name}" is in a invalid format. See {_DOCS}')


def no_rollback(name: str, target: str) -> Failure:
    """A target without rollback functions ignores none in silence: the text is ours."""
    return Failure(
        "Error",
        f'WorkflowFatalError: Step "{name}" has a rollback function, which the target "{target}" does not support',
    )


def bad_duration(name: str, what: str) -> Failure:
    """Production documents no text for a duration that cannot be read; ours names the step and the forms that work."""
    return Failure(
        "Error",
        f'WorkflowFatalError: Step "{name}" has an invalid {what} '
        '(expected a number of ms or a duration string like "30 seconds")',
    )


def too_long(name: str, what: str) -> Failure:
    return Failure("Error", f'WorkflowFatalError: Step "{name}" has a {what} of more than 365 days')


def result_too_large(label: str) -> Failure:
    return Failure(
        "Error",
        f"WorkflowInternalError: Step {label} output is too large. Maximum allowed size is 1MiB.",
    )


def not_serialisable(name: str) -> Failure:
    """Ends the instance at once: a step's result holds what no store can keep, such as a function."""
    return Failure("WorkflowFatalError", f'{_TERMINATED_AS} "{name}" returned a value which is not serialisable')


def bad_stream(name: str, detail: str) -> Failure:
    """Ends the instance at once: a step's result is a stream that cannot be read to its end."""
    text = f'{_TERMINATED_AS} "{name}" returned an invalid ReadableStream output. {detail}'
    return Failure("WorkflowFatalError", text)


def step_limit_reached(limit: int) -> Failure:
    """The isolate, which counts the steps, says it in these words."""
    return Failure(
        "Error",
        f"WorkflowFatalError: The limit of {limit} steps has been reached. "
        "This limit can be changed in your worker configuration.",
    )


def outside_await(ms: int, where: str) -> Failure:
    """What ends a run on celld whose code awaits something outside a step for too long. celld's page documents no
    text; ours names the place."""
    return Failure("Error", f"WorkflowTimeoutError: An await outside a step took more than {show(ms)}ms: {where}")


def delay_failed(label: str, what: str) -> Failure:
    return Failure("Error", f'NonRetryableDelayError: The delay function for step "{label}" {what}')


def step_not_found(name: str) -> Failure:
    return Failure(
        "Error",
        f'WorkflowError: (instance.cannot_restart) Step "{name}" not found in execution history',
    )
