"""A step's config: its schema and defaults, and the wait before the next attempt."""

from __future__ import annotations

import math
from typing import Any, TypeGuard

from .durations import milliseconds
from .events import DYNAMIC, Config
from .rules import Rules

BACKOFFS = ("constant", "linear", "exponential")
MAX_DELAY = float(2**53)  # ms; larger ones, infinity among them, would not come back from the journal as they were


def resolve_config(given: Any, *, delay_function: bool, rules: Rules) -> Config | None:
    """The config with defaults filled in, None when it is in an invalid format (strict at both
    levels; ``retries`` needs both ``limit`` and ``delay``)."""
    if given is None:
        return Config(rules.retry_limit, rules.retry_delay, rules.retry_backoff, rules.step_timeout)
    if not isinstance(given, dict) or given.keys() - {"retries", "timeout", "sensitive"}:
        return None
    retries = _retries(given.get("retries"), "retries" in given, delay_function, rules)
    timeout = given.get("timeout", rules.step_timeout)
    sensitive = given.get("sensitive")
    if retries is None or not _is_timeout(timeout) or sensitive not in (None, "output"):
        return None
    if "sensitive" in given and sensitive is None:
        return None
    return Config(*retries, timeout, sensitive)


def _retries(given: Any, present: bool, dynamic: bool, rules: Rules) -> tuple[float, float | str, str] | None:
    if not present:
        return rules.retry_limit, rules.retry_delay, rules.retry_backoff
    if not isinstance(given, dict) or given.keys() - {"limit", "delay", "backoff"}:
        return None
    limit, delay, backoff = given.get("limit"), given.get("delay"), given.get("backoff", "exponential")
    if not _is_number(limit) or not 0 <= limit <= rules.max_retries or backoff not in BACKOFFS:
        return None
    if not (dynamic and delay == DYNAMIC) and not _is_delay(delay):
        return None
    return limit, delay, backoff


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(milliseconds(value))


def _is_delay(value: Any) -> TypeGuard[float | str]:
    if isinstance(value, str):
        return not math.isnan(milliseconds(value))
    return _is_number(value) and value >= 0


def _is_timeout(value: Any) -> bool:
    if isinstance(value, str):
        return not math.isnan(milliseconds(value))
    return _is_number(value) and value > 0


def backoff(config: Config, base: float, attempt: int) -> float:
    """ms to wait after failed attempt ``attempt`` (from 1): no jitter, and no cap but that of a number."""
    factor = 1.0
    if config.backoff == "linear":
        factor = attempt
    elif config.backoff == "exponential":
        factor = 2.0 ** min(attempt - 1, 1000)
    return max(-MAX_DELAY, min(base * factor, MAX_DELAY))


def delay_base(answer: Any) -> float | None:
    """The base that a delay function's answer gives, None when it is no valid delay."""
    if not isinstance(answer, int | float | str) and answer is not None:
        return None
    base = milliseconds(answer)
    return base if math.isfinite(base) and base >= 0 else None
