"""How long instances are kept: what `create` asks for, and what the configuration gives them otherwise."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from runtime.engine import Retention, Rules
from runtime.engine.durations import DAY, milliseconds, unknown_unit
from runtime.engine.events import KEPT_BY_DEFAULT
from wrangler_compat import WorkflowDeclaration

from .binding_rules import is_retention


def asked_retention(given: Any, rules: Rules, advise: Callable[[str], None]) -> Retention:
    """The ``retention`` of ``create`` and ``createBatch``.

    What cannot be read is said and left to the default: on the official local engine it has no effect (C019).
    """
    if given is None:
        return KEPT_BY_DEFAULT
    if not rules.retention_config:
        advise(f"The retention of create() is not used: {rules.target} keeps instances for {_days(rules)}.")
        return KEPT_BY_DEFAULT
    if not isinstance(given, dict):
        advise("The retention of create() is not used: it is no object with successRetention and errorRetention.")
        return KEPT_BY_DEFAULT
    return Retention(*(_asked(given, name, rules, advise) for name in ("successRetention", "errorRetention")))


def _asked(given: dict[str, Any], name: str, rules: Rules, advise: Callable[[str], None]) -> int | None:
    if name not in given:
        return None
    value = given[name]
    # A unit that Workflows does not know means milliseconds elsewhere; here that would delete what was to be kept.
    if not is_retention(value) or unknown_unit(value) is not None:
        advise(
            f"retention.{name} of create() is not used: {value!r} is no duration. "
            'Write a whole number of milliseconds, or a text like "3 days".'
        )
        return None
    kept = math.ceil(milliseconds(value))
    if kept > rules.max_retention:
        advise(f"retention.{name} of create() is {value!r}, and instances are kept for {_days(rules)} at most.")
    return min(kept, rules.max_retention)


def with_default_retention(rules: Rules, declared: WorkflowDeclaration) -> Rules:
    """The rules of a Workflow with its ``default_retention``, as far as the target has one."""
    if not rules.retention_config:
        return rules
    return replace(
        rules,
        success_retention=_kept(declared.success_retention, rules.success_retention, rules),
        error_retention=_kept(declared.error_retention, rules.error_retention, rules),
    )


def _kept(written: int | str | None, default: int, rules: Rules) -> int:
    return default if written is None else min(math.ceil(milliseconds(written)), rules.max_retention)


def _days(rules: Rules) -> str:
    return f"{rules.max_retention // DAY} days"
