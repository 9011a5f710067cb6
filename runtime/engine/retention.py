"""How long an instance is kept after its end."""

from __future__ import annotations

from .rules import Rules
from .state import State


def expires_at(state: State, rules: Rules) -> int | None:
    """When (ms) an instance may be deleted; None while it has not ended.

    The Workers API page counts a terminated instance with the errored ones (``errorRetention``), the schema of
    wrangler's ``default_retention`` with the successful ones. The page is about what runs, so it is followed.
    """
    if state.ended is None:
        return None
    if state.status == "complete":
        given, default = state.retention.success, rules.success_retention
    else:
        given, default = state.retention.error, rules.error_retention
    return state.ended + (default if given is None else given)
