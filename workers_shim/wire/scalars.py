"""Texts of JavaScript's scalars: dates, numbers, big integers."""

from __future__ import annotations

import math
import re
from typing import Final

MAX_SAFE_INTEGER: Final = 2**53 - 1
_MAX_DATE: Final = 8.64e15  # ms either way of the epoch; JavaScript has no date beyond
_ISO = re.compile(r"(\d{4}|[+-]\d{6})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)\.(\d{3})Z", re.ASCII)
_DAY: Final = 86_400_000
_LIMB: Final = 600  # decimal digits; Python refuses to convert over 4300 at once, and may be set as low as 640
_LIMB_VALUE: Final = 10**_LIMB


def date_ms(text: str) -> float:
    """Give the time of an ISO text as ``toISOString`` writes it; the empty text is an invalid date."""
    if text == "":
        return math.nan
    match = _ISO.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a date")
    year, month, day, hour, minute, second, ms = map(int, match.groups())
    if not (1 <= month <= 12 and 1 <= day <= 31 and hour < 24 and minute < 60 and second < 60):
        raise ValueError(f"{text!r} is not a date")
    time = _days(year, month, day) * _DAY + ((hour * 60 + minute) * 60 + second) * 1000 + ms
    if abs(time) > _MAX_DATE:
        raise ValueError(f"{text!r} is not a date")
    return time


def date_text(ms: float) -> str:
    """Write a time as ``toISOString`` does; an invalid or impossible one is the empty text."""
    if math.isnan(ms) or abs(ms) > _MAX_DATE:
        return ""
    days, rest = divmod(int(ms), _DAY)
    year, month, day = _civil(days)
    seconds, ms = divmod(rest, 1000)
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    shown = f"{year:04d}" if 0 <= year <= 9999 else f"{year:+07d}"
    return f"{shown}-{month:02d}-{day:02d}T{hour:02d}:{minute:02d}:{second:02d}.{ms:03d}Z"


def _days(year: int, month: int, day: int) -> int:
    # Years are counted from March, so that the leap day is the last day of one; 146097 days are 400 years.
    year -= month <= 2
    era, of_era = divmod(year, 400)
    of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    return era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719468


def _civil(days: int) -> tuple[int, int, int]:
    era, of_era = divmod(days + 719468, 146097)
    year = (of_era - of_era // 1460 + of_era // 36524 - of_era // 146096) // 365
    of_year = of_era - (365 * year + year // 4 - year // 100)
    shifted = (5 * of_year + 2) // 153
    month = (shifted + 2) % 12 + 1
    return year + era * 400 + (month <= 2), month, of_year - (153 * shifted + 2) // 5 + 1


def number_text(value: float) -> str:
    """Write a number as JavaScript's ``String(value)`` does."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value.is_integer() and abs(value) < 1e21:
        # Python's shortest text has the digits, JavaScript fills up with zeros where the exact integer has others.
        mantissa, _, exponent = float.__repr__(value).partition("e")
        return _shifted(mantissa, int(exponent)) if exponent else str(int(value))
    mantissa, _, exponent = float.__repr__(value).partition("e")
    if not exponent:
        return mantissa
    return _shifted(mantissa, int(exponent)) if -6 <= int(exponent) < 0 else f"{mantissa}e{int(exponent):+d}"


def _shifted(mantissa: str, exponent: int) -> str:
    sign = "-" if mantissa.startswith("-") else ""
    digits = mantissa.lstrip("-").replace(".", "")
    if exponent < 0:
        return f"{sign}0.{'0' * (-exponent - 1)}{digits}"
    return sign + digits.ljust(exponent + 1, "0")


def integer_text(value: int) -> str:
    """Write an integer of any size in decimal."""
    if value.bit_length() < 1900:
        return int.__repr__(value)
    sign, value = ("-", -value) if value < 0 else ("", value)
    return sign + _digits(value).lstrip("0")


def _digits(value: int, limbs: int | None = None) -> str:
    if limbs is None:
        limbs = int(value.bit_length() / 3.32 / _LIMB) + 1
    if limbs == 1:
        return str(value).zfill(_LIMB)
    low = limbs // 2
    upper, lower = divmod(value, _LIMB_VALUE**low)
    return _digits(upper, limbs - low) + _digits(lower, low)


def integer(text: str) -> int:
    """Read a decimal integer of any size."""
    if not re.fullmatch(r"-?\d+", text, re.ASCII):
        raise ValueError(f"{text[:40]!r} is not an integer")
    return -_value(text[1:]) if text.startswith("-") else _value(text)


def _value(digits: str) -> int:
    if len(digits) <= _LIMB:
        return int(digits)
    low = (len(digits) // 2 + _LIMB - 1) // _LIMB * _LIMB
    if low >= len(digits):
        low = len(digits) - 1
    power: int = 10**low
    return _value(digits[:-low]) * power + _value(digits[-low:])
