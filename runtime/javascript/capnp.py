"""Writes values in Cap'n Proto's text format, as far as workerd's configuration needs it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

_ESCAPED = re.compile(r'[\x00-\x1f"\\\x7f]')
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Embed:
    """The content of a file, which workerd reads itself: a bundle of many megabytes is not parsed as text."""

    path: Path


@dataclass(frozen=True, slots=True)
class Void:
    """The value of a union member that says all by being there."""


Value: TypeAlias = "str | bool | int | Embed | Void | Mapping[str, Value] | Sequence[Value]"
Struct: TypeAlias = Mapping[str, Value]


def written(value: Value) -> str:
    """The value as text. A mapping is a struct, a list a list."""
    match value:
        case str():
            return _quoted(value)
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case Embed(path):
            return f"embed {_quoted(str(path))}"
        case Void():
            return "void"
        case Mapping():
            return f"({', '.join(f'{name} = {written(field)}' for name, field in value.items())})"
        case _:
            return f"[{', '.join(map(written, value))}]"


def _quoted(text: str) -> str:
    """A text literal. A lone surrogate has no UTF-8, so it becomes what a JavaScript encoder makes of it."""
    escaped = _ESCAPED.sub(lambda match: f"\\x{ord(match[0]):02x}", text)
    return f'"{_SURROGATE.sub(chr(0xFFFD), escaped)}"'
