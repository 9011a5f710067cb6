"""Durations as Workflows reads them: a number of milliseconds, or text such as ``"10 seconds"``.

Behaviour measured on the official local engine (conformance cases C189-C193): text that JavaScript's ``Number()`` can
read is milliseconds; ``<number> <unit>`` multiplies; an *unknown* unit multiplies by one, so ``"5 min"`` is 5 ms.
"""

from __future__ import annotations

import math
import re
from typing import Any

SECOND = 1_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR

UNITS = {
    "m": 1,  # what is left of "ms" when the plural s is cut off
    "second": SECOND,
    "minute": MINUTE,
    "hour": HOUR,
    "day": DAY,
    "week": 7 * DAY,
    "month": 30 * DAY,
    "year": 31_557_600_000,  # 365.25 days
}

_PHRASE = re.compile(r"(\S+) +(\w+?)s?", re.ASCII)
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|Infinity)", re.ASCII)
_RADIX = re.compile(r"0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+")


def js_number(text: str) -> float:
    """What JavaScript's ``Number(text)`` gives; NaN when it is no number."""
    text = text.strip()
    if not text:
        return 0.0
    if _NUMBER.fullmatch(text):
        return float(text)
    if _RADIX.fullmatch(text):
        return _float(int(text, 0))
    return math.nan


def _float(value: float) -> float:
    """As JavaScript reads it, where a number beyond the range of a double is infinite."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def milliseconds(value: Any) -> float:
    """The duration in ms, NaN when it cannot be read. ``None`` is 0 and ``True`` is 1, as ``Number()`` has them."""
    if value is None:
        return 0.0
    if isinstance(value, int | float):
        return _float(value)
    if not isinstance(value, str):
        return math.nan
    number = js_number(value)
    if not math.isnan(number):
        return number
    phrase = _PHRASE.fullmatch(value)
    if phrase is None:
        return math.nan
    return js_number(phrase[1]) * UNITS.get(phrase[2], 1)


def unknown_unit(value: Any) -> str | None:
    """The unit in ``value`` that Workflows does not know and takes for milliseconds, if there is one."""
    if not isinstance(value, str) or not math.isnan(js_number(value)):
        return None
    phrase = _PHRASE.fullmatch(value)
    if phrase is None or phrase[2] in UNITS:
        return None
    return value.split()[-1]


def show(ms: float) -> str:
    """Milliseconds as Cloudflare's error texts print them: without a fraction where there is none."""
    return str(int(ms)) if ms == int(ms) else repr(ms)
