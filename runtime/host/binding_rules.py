"""What a Workflow binding accepts, and the texts with which it refuses, as Cloudflare's does."""

from __future__ import annotations

import math
import re
from typing import Any, TypeGuard

from runtime.engine import Failure
from runtime.engine.durations import milliseconds
from runtime.engine.rules import CLOUDFLARE

# No target is known to differ in these; their units and sources stand in the table of rules.
MAX_BATCH = CLOUDFLARE.max_batch
MAX_VALUE = CLOUDFLARE.max_payload
MAX_ID = CLOUDFLARE.max_instance_id
MAX_ADDRESSABLE_ID = CLOUDFLARE.max_addressable_id
LOCATION_HINTS = ("wnam", "weur", "enam", "eeur", "apac", "apac-ne", "apac-se", "oc", "sam", "afr", "me")

_ID = re.compile(r"[a-zA-Z0-9_][a-zA-Z0-9-_]*")
_ADDRESSABLE = re.compile(r"[a-zA-Z0-9, */#_-]+")
_RESERVED = re.compile(r"batch|terminate|terminateAll|cf_[0-9a-f]{64}")


class Refused(Exception):
    """The binding's method raises this error in user code."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


def workflow_error(message: str) -> Refused:
    """A WorkflowError in the form in which user code sees it."""
    return Refused(Failure("Error", f"WorkflowError: {message}"))


INVALID_ID = "Workflow instance has invalid id"
INVALID_ARGUMENT = "(body) Provided argument is invalid"
# Production rejects params of more than 1 MiB without documenting the text; ours follows the step result's.
PAYLOAD_TOO_LARGE = "(body) The payload exceeds the maximum size of 1MiB"
NONE_TO_CREATE = "batchCreate should have at least 1 instance"
TOO_MANY_TO_CREATE = "batchCreate only supports 100 instances at a time"
COUNT_NOT_POSITIVE = "(body) count must be a positive integer"
COUNT_TOO_LARGE = "(body) batchCreate only supports 100 instances at a time"
BAD_BATCH_SIZE = "(body) Batch size exceeds maximum allowed"  # also of an empty batch
NONE_TO_DELETE = "(body) batchDeleteInstances should have at least 1 instance"
TOO_MANY_TO_DELETE = "(body) batchDeleteInstances only supports 100 instances at a time"
BAD_INSTANCE_ID = "(instance.invalid_id) Instance ID is invalid"
MISSING = "(instance.not_found) Instance does not exist"
ALREADY_EXISTS = (10405, "workflows.api.error.instance.already_exists")
DUPLICATE_IN_BATCH = (10415, "workflows.api.error.instance.duplicate_in_batch")
INSTANCE_NOT_FOUND = (10400, "workflows.api.error.instance.not_found")
INTERNAL_ERROR = (10001, "workflows.api.error.internal_server")
_BAD_RETENTION = (
    "(body) Duration must be a number or a string in format '{{number}} {{unit}}' "
    "where unit is second(s), minute(s), etc."
)


def already_exists(id: str) -> Refused:
    return workflow_error(f'(instance.already_exists) Workflow instance with id "{id}" already exists')


def not_found() -> Refused:
    """What ``get`` and the methods of a handle say of an instance that is not there."""
    return Refused(Failure("Error", "instance.not_found"))


def is_id(id: Any) -> bool:
    """Whether ``create`` accepts it."""
    return isinstance(id, str) and len(id) <= MAX_ID and _ID.fullmatch(id) is not None


def is_whole(value: Any) -> TypeGuard[int | float]:
    """Whether it is a whole number, as JavaScript's ``Number.isInteger`` has it."""
    return (
        isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value == int(value)
    )


def is_reserved(id: str) -> bool:
    """Ids that the object form of ``createBatch`` refuses: they would clash with addresses of the REST API."""
    return _RESERVED.fullmatch(id) is not None


def is_addressable(id: Any) -> bool:
    """The wider grammar of ids that can be deleted: cron-made instances have spaces and stars in theirs."""
    return isinstance(id, str) and len(id) <= MAX_ADDRESSABLE_ID and _ADDRESSABLE.fullmatch(id) is not None


def check_instance(options: dict[str, Any]) -> None:
    """The per-instance schema of the object form of ``createBatch``."""
    id = options.get("id", "x")
    if not isinstance(id, str):
        raise workflow_error(f"(body) Invalid input: expected string, received {_kind(id)}")
    retention = options.get("retention", {})
    if not isinstance(retention, dict):
        raise workflow_error(f"(body) Invalid input: expected object, received {_kind(retention)}")
    if not all(is_retention(retention[name]) for name in retention):
        raise workflow_error(_BAD_RETENTION)
    hint = options.get("locationHint", "wnam")
    if hint not in LOCATION_HINTS:
        listed = "|".join(f'"{known}"' for known in LOCATION_HINTS)
        raise workflow_error(f"(body) Invalid option: expected one of {listed}")
    if not is_id(id) or is_reserved(id):
        raise workflow_error(BAD_INSTANCE_ID)


def is_retention(value: Any) -> bool:
    """Whether it is a duration that an instance can be kept for."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return False
    ms = milliseconds(value)
    return 0 < ms < float("inf") and (isinstance(value, str) or ms == int(ms))


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    return "array" if isinstance(value, list) else "string" if isinstance(value, str) else "object"
