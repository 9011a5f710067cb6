"""Turns the words of the command line into values; what cannot be one is refused with the reason."""

from __future__ import annotations

import argparse
import re

_DURATION = re.compile(r"(?P<number>[0-9]+(?:\.[0-9]+)?)\s*(?P<unit>[a-z]*)")
_UNITS = {
    **dict.fromkeys(("ms", "millisecond", "milliseconds"), 0.001),
    **dict.fromkeys(("", "s", "sec", "second", "seconds"), 1.0),
    **dict.fromkeys(("m", "min", "minute", "minutes"), 60.0),
    **dict.fromkeys(("h", "hour", "hours"), 3600.0),
}


def port(text: str) -> int:
    """A TCP port; 0 lets the system choose."""
    if not (text.isascii() and text.isdigit()) or int(text) > 65535:
        raise argparse.ArgumentTypeError(f'a port is a number from 0 to 65535, not "{text}"')
    return int(text)


def duration(text: str) -> float:
    """Seconds: a plain number, or one with a unit ("500ms", "30 s", "5 minutes", "1h")."""
    match = _DURATION.fullmatch(text.strip().lower())
    if match is None or match["unit"] not in _UNITS:
        raise argparse.ArgumentTypeError(f'a duration is seconds or a text like "30s" or "5 minutes", not "{text}"')
    return float(match["number"]) * _UNITS[match["unit"]]


def variable(text: str) -> tuple[str, str]:
    """``KEY:VALUE``; the value may hold further colons and may be empty."""
    key, colon, value = text.partition(":")
    if not colon or not key:
        raise argparse.ArgumentTypeError(f'a variable is KEY:VALUE, not "{text}"')
    return key, value


def filled(text: str) -> str:
    """A text that is not empty."""
    if not text:
        raise argparse.ArgumentTypeError("it must not be empty")
    return text
