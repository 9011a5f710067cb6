"""How messages show a value and name what is unknown, in wrangler's way."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from wrangler_compat.diagnostics import Diagnostics, KeyPath, dotted

_SURROGATE = re.compile("[\ud800-\udfff]")
_INDEX = re.compile(r"0|[1-9][0-9]{0,9}")
_MAX_INDEX = 2**32 - 2  # JavaScript's largest array index


def written(value: Any) -> str:
    """The value as ``JSON.stringify`` prints it; TOML dates appear as text, endless numbers as null."""
    match value:
        case dict():
            return "{" + ",".join(f"{_quoted(key)}:{written(value[key])}" for key in keys(value)) + "}"
        case list():
            return "[" + ",".join(written(item) for item in value) + "]"
        case str():
            return _quoted(value)
        case bool() | None:
            return json.dumps(value)
        case int() | float():
            return _number(float(value))
    return _quoted(_date(value))


def keys(entries: Mapping[str, Any]) -> Iterator[str]:
    """The keys in JavaScript's order: those that look like array indices first, ascending."""
    indices = [key for key in entries if _INDEX.fullmatch(key) and int(key) <= _MAX_INDEX]
    yield from sorted(indices, key=int)
    if len(indices) < len(entries):
        taken = set(indices)
        yield from (key for key in entries if key not in taken)


def listed(words: Collection[str], last: str = "and") -> str:
    """The words as an English list, with a comma before the last one when there are three or more."""
    *first, end = words
    if len(first) < 2:
        return f" {last} ".join([*first, end])
    return f"{', '.join(first)}, {last} {end}"


def unexpected_fields(
    entry: Mapping[str, Any], known: Collection[str], path: KeyPath, found: Diagnostics, label: str | None = None
) -> None:
    """Warn of keys that nothing reads. ``label`` is what wrangler calls the entry, where that is not its path."""
    unknown = [key for key in keys(entry) if key not in known]
    if unknown:
        named = ",".join(f'"{key}"' for key in unknown)
        text = f"Unexpected fields found in {label or dotted(path)} field: {named}"
        found.warn(text, (*path, unknown[0]), _near(unknown, known), code="unexpected_fields")


def _near(unknown: list[str], known: Collection[str]) -> str:
    from difflib import get_close_matches  # costs the start-up more than the whole reading of a right file

    near = {key: get_close_matches(key, known, 1) for key in unknown}
    if guessed := [f'"{guess[0]}" instead of "{key}"' for key, guess in near.items() if guess]:
        return f"Did you mean {listed(guessed)}?"
    return f"Remove {'it' if len(unknown) == 1 else 'them'}: nothing reads {'it' if len(unknown) == 1 else 'them'}."


def _quoted(text: str) -> str:
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(text, ensure_ascii=False))


def _number(value: float) -> str:
    """A double as JavaScript prints it: plain digits from 1e-6 up to 1e21, else with an exponent."""
    if not math.isfinite(value):
        return "null"
    if value == 0:
        return "0"
    from decimal import Decimal  # loaded for a message only

    _, digits, exponent = Decimal(repr(abs(value))).normalize().as_tuple()
    assert isinstance(exponent, int)
    text, point = "".join(map(str, digits)), len(digits) + exponent
    sign = "-" if value < 0 else ""
    if len(text) <= point <= 21:
        return sign + text + "0" * (point - len(text))
    if 0 < point <= 21:
        return f"{sign}{text[:point]}.{text[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{text}"
    mantissa = f"{text[0]}.{text[1:]}" if len(text) > 1 else text
    return f"{sign}{mantissa}e{point - 1:+d}"


def _date(value: Any) -> str:
    """A TOML date or time as wrangler's reader keeps it, with milliseconds."""
    if not hasattr(value, "hour"):
        return str(value.isoformat())
    text = str(value.isoformat(timespec="milliseconds"))
    return f"{text.removesuffix('+00:00')}Z" if text.endswith("+00:00") else text
