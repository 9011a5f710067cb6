"""Every limit, with what happens beyond it, in the program's own words: the texts come from the code that says them."""

from __future__ import annotations

from typing import NamedTuple

from runtime.engine import failures
from runtime.engine.rules import CLOUDFLARE
from runtime.host import binding_rules
from wrangler_compat.workflows import MAX_SCHEDULE_LENGTH, MAX_SCHEDULES, NAME_FORMAT


class Limit(NamedTuple):
    """One limit: the field of `Rules` that holds it, its unit, what is said beyond it, and who documents it.

    What only the configuration's reader keeps has an ``amount`` instead of a field.
    """

    what: str
    field: str
    unit: str
    beyond: tuple[str, ...]
    source: str
    amount: int | None = None


def _error(failure: failures.Failure) -> str:
    return f"`{failure.message}`" if failure.name == "Error" else f"`{failure.name}: {failure.message}`"


def _refusal(message: str) -> str:
    return f"`WorkflowError: {message}`"


def _plain(message: str) -> str:
    """A text that has no name of an error in front on Cloudflare either."""
    return f"`{message}`"


_LIMITS_PAGE = "Workflows: Limits"
_API = "Workflows: Workers API"
_EVENTS = "Workflows: Events and parameters"
_SLEEPING = "Workflows: Sleeping and retrying"
_MEASURED = "measured on the local engine"

LIMITS = (
    Limit("workflow name", "max_workflow_name", "characters", (_plain(NAME_FORMAT),), _LIMITS_PAGE),
    Limit(
        "instance id, in `create`",
        "max_instance_id",
        "characters",
        (_refusal(binding_rules.INVALID_ID), f"object form: {_refusal(binding_rules.BAD_INSTANCE_ID)}"),
        _LIMITS_PAGE,
    ),
    Limit(
        "instance id, in `deleteBatch`",
        "max_addressable_id",
        "characters",
        (_refusal(binding_rules.BAD_INSTANCE_ID),),
        _MEASURED,
    ),
    Limit(
        "step name",
        "max_step_name",
        "UTF-16 units",
        (_error(failures.bad_step_name("NAME")),),
        _LIMITS_PAGE,
    ),
    Limit("event type", "max_event_type", "characters", (_error(failures.INVALID_EVENT_TYPE),), _EVENTS),
    Limit(
        "steps of an instance",
        "step_limit",
        "calls of `step.do` in one execution of `run`; sleeps and event waits are not counted",
        (_error(failures.step_limit_reached(CLOUDFLARE.step_limit)),),
        _LIMITS_PAGE,
    ),
    Limit(
        "`limits.steps`",
        "max_steps",
        "steps",
        ("a warning at start: the configuration may not work when deployed",),
        _LIMITS_PAGE,
    ),
    Limit(
        "result of a step",
        "max_result",
        "bytes of its structured clone",
        (f"{_error(failures.result_too_large('NAME-1'))}; the attempt fails, and is tried again",),
        _LIMITS_PAGE,
    ),
    Limit(
        "params, and payload of an event",
        "max_payload",
        "bytes of the structured clone",
        (_refusal(binding_rules.PAYLOAD_TOO_LARGE),),
        f"{_LIMITS_PAGE}; it gives no text",
    ),
    Limit(
        "stored by an instance",
        "max_state",
        "characters of params, results and events as they are stored, and bytes of streams",
        (f"{_error(failures.STORAGE_LIMIT)}; the instance ends, nothing is caught or rolled back",),
        f"{_LIMITS_PAGE} (Workers Paid); the text is the local engine's",
    ),
    Limit(
        "sleep",
        "max_sleep",
        "ms",
        (_error(failures.too_long("NAME", "sleep")),),
        f"{_LIMITS_PAGE}; it gives no text",
    ),
    Limit(
        "timeout of an event wait",
        "max_sleep",
        "ms",
        (_error(failures.too_long("NAME", "timeout")),),
        f"{_EVENTS}; it gives no text",
    ),
    Limit(
        "timeout of an event wait, at least",
        "min_event_timeout",
        "ms",
        ("accepted here, with a warning: production refuses it",),
        _EVENTS,
    ),
    Limit("retries of a step", "max_retries", "retries", (_error(failures.bad_step_config("NAME")),), _LIMITS_PAGE),
    Limit(
        "instances in one `createBatch`",
        "max_batch",
        "instances",
        (
            f"array: {_plain(f'WorkflowError: {binding_rules.TOO_MANY_TO_CREATE}')}",
            f"`count`: {_refusal(binding_rules.COUNT_TOO_LARGE)}",
            f"`instances`: {_refusal(binding_rules.BAD_BATCH_SIZE)}",
        ),
        _API,
    ),
    Limit(
        "instances in one `deleteBatch`",
        "max_batch",
        "instances",
        (_refusal(binding_rules.TOO_MANY_TO_DELETE),),
        _API,
    ),
    Limit(
        "retention of a finished instance",
        "max_retention",
        "ms",
        ("kept for the longest time, with a warning",),
        f"{_LIMITS_PAGE} (Workers Paid)",
    ),
    Limit(
        "schedules of all workflows",
        "",
        "cron expressions",
        ("an error at start: it cannot be deployed",),
        _LIMITS_PAGE,
        MAX_SCHEDULES,
    ),
    Limit(
        "one cron expression",
        "",
        "characters",
        ("an error at start, with its place",),
        _LIMITS_PAGE,
        MAX_SCHEDULE_LENGTH,
    ),
)
DEFAULTS = (
    Limit("retries of a step", "retry_limit", "retries", (), _SLEEPING),
    Limit("delay before the first retry", "retry_delay", "ms", (), f"{_SLEEPING} (the local engine: 1 second)"),
    Limit("backoff", "retry_backoff", "", (), _SLEEPING),
    Limit("timeout of an attempt", "step_timeout", "", (), _SLEEPING),
    Limit("timeout of an event wait", "event_timeout", "ms", (), _EVENTS),
    Limit("retention of a completed instance", "success_retention", "ms", (), f"{_LIMITS_PAGE} (Workers Paid)"),
    Limit("retention of an errored or terminated one", "error_retention", "ms", (), f"{_LIMITS_PAGE} (Workers Paid)"),
)
