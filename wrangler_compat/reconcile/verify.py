"""Proves an edit before it counts: the new text must say exactly what was meant, to parsers that did not take part."""

from __future__ import annotations

from typing import Any

from wrangler_compat.diagnostics import ConfigError
from wrangler_compat.edits.errors import CannotEdit
from wrangler_compat.edits.files import ConfigFile


def verify(file: ConfigFile, result: str, wanted: Any) -> None:
    """Read the result with every parser of its format; raise `CannotEdit` when one reads something else."""
    try:
        readings = list(file.readings(result))
    except (ConfigError, ValueError) as error:
        raise CannotEdit(f"the edited text cannot be read ({error})") from None
    if not all(_same(reading, wanted) for reading in readings):
        raise CannotEdit("the edited text would not say what was meant")
    if file.comments(result) != file.comments(file.text):
        raise CannotEdit("a comment would be lost")


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(value, other[key]) for key, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, bool) or isinstance(other, bool) or not isinstance(one, int | float):
        return type(one) is type(other) and bool(one == other)
    return isinstance(other, int | float) and float(one) == float(other)  # JavaScript has one kind of number
