"""How an error of user code is told to the developer."""

from __future__ import annotations

from typing import Any

from workers_shim import errors, place


def failure(error: BaseException) -> dict[str, Any]:
    """What `LoadFailed` and `RequestFailed` say of an error: itself, its traceback, and the user's line."""
    told: dict[str, Any] = {"error": errors.describe(error), "traceback": errors.user_traceback(error)}
    where = place.of_error(error)
    if where is not None:
        told |= {"file": where.file, "line": where.line}
    return told
