"""One source map: which place of which source a place of the built code comes from.

Format: ECMA-426, version 3. Segments are numbers in base 64, each relative to the one before, so a line can be read
only after those before it; lines are decoded as far as they are asked for.
"""

from __future__ import annotations

import json
import os
from bisect import bisect_right
from pathlib import Path

import msgspec

_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_DIGITS = {character: number for number, character in enumerate(_ALPHABET)}
_CONTINUED = 0b100000

Line = tuple[list[int], list[tuple[int, int, int]]]  # columns, and (source, line, column) of each


class _Content(msgspec.Struct):
    mappings: str
    sources: list[str | None]
    root: str | None = msgspec.field(default=None, name="sourceRoot")


class SourceMap:
    """A source map as read from its text; ``folder`` is where relative paths in it start.

    Others may have written it: what is in it and cannot be read leads nowhere. Raises `ValueError` for a text that is
    no source map at all.
    """

    def __init__(self, text: str | bytes, folder: Path) -> None:
        try:
            data = msgspec.convert(json.loads(text), _Content)
        except msgspec.ValidationError as error:
            raise ValueError(str(error)) from None
        root = data.root or ""
        self._sources = [None if source is None else _path(root, source, folder) for source in data.sources]
        self._unread = iter(data.mappings.split(";"))
        self._lines: list[Line] = []
        self._last = (0, 0, 0)

    def place(self, line: int, column: int) -> tuple[Path, int, int] | None:
        """The source of a place. Lines and columns count from 1, as in V8's stacks."""
        while len(self._lines) < line:
            segments = next(self._unread, None)
            if segments is None:
                return None
            self._lines.append(self._decoded(segments))
        columns, places = self._lines[line - 1]
        at = bisect_right(columns, column - 1) - 1
        if at < 0:
            return None
        source, line, column = places[at]
        path = self._sources[source] if 0 <= source < len(self._sources) else None
        return None if path is None else (path, line + 1, column + 1)

    def _decoded(self, segments: str) -> Line:
        columns: list[int] = []
        places: list[tuple[int, int, int]] = []
        generated = 0
        source, line, column = self._last
        for segment in segments.split(",") if segments else ():
            numbers = _numbers(segment)
            generated += numbers[0] if numbers else 0
            if len(numbers) >= 4:
                source, line, column = source + numbers[1], line + numbers[2], column + numbers[3]
                columns.append(generated)
                places.append((source, line, column))
        self._last = (source, line, column)
        return columns, places


def _numbers(segment: str) -> list[int]:
    """The numbers of one segment; the lowest bit of each is its sign. None of one that cannot be read."""
    numbers: list[int] = []
    value = shift = 0
    for character in segment:
        digit = _DIGITS.get(character)
        if digit is None:
            return []
        value |= (digit & ~_CONTINUED) << shift
        if digit & _CONTINUED:
            shift += 5
            continue
        numbers.append(-(value >> 1) if value & 1 else value >> 1)
        value = shift = 0
    return numbers


def _path(root: str, source: str, folder: Path) -> Path:
    name = f"{root.rstrip('/')}/{source}" if root else source
    return Path(os.path.normpath(folder / name.removeprefix("file://")))
