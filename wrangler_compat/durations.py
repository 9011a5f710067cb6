"""Durations in the configuration, such as a retention.

Only the documented form is taken, a number of milliseconds or ``<number> <unit>``. The engine reads more, as the local
engine of Cloudflare does, where ``"5 min"`` is 5 milliseconds: no default of a project should mean that.
"""

from __future__ import annotations

import re
from typing import Any

_SECOND = 1_000
_DAY = 24 * 60 * 60 * _SECOND
UNITS = {
    "second": _SECOND,
    "minute": 60 * _SECOND,
    "hour": 60 * 60 * _SECOND,
    "day": _DAY,
    "week": 7 * _DAY,
    "month": 30 * _DAY,
    "year": 365.25 * _DAY,
}
_TEXT = re.compile(rf"([0-9]+(?:\.[0-9]+)?)(?: ({'|'.join(UNITS)})s?)?")


def milliseconds(value: Any) -> float | None:
    """The duration in ms; None when it is none. A number without a unit is whole, as a text too."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    match = _TEXT.fullmatch(value) if isinstance(value, str) else None
    if match is None or (match[2] is None and "." in match[1]):
        return None
    return float(match[1]) * (UNITS[match[2]] if match[2] else 1)
