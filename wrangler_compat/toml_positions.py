"""Where the keys of a TOML text stand.

The standard library reads TOML but keeps no positions. This scanner only walks over a text that it has accepted, so it
checks nothing: it notes the place of each value, and of each table's header, under the key path that the data has.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field

from wrangler_compat.diagnostics import KeyPath, Position

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)+")
_GAP = re.compile(r"[ \t]*")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_STRING = re.compile(
    r'''"""(?:\\[\s\S]|(?!""")[\s\S])*"{3,5}|\'\'\'(?:(?!\'\'\')[\s\S])*'{3,5}|"(?:\\.|[^"\\\n])*"|'[^'\n]*\''''
)
_PLAIN = re.compile(r"[^,\]}#\n]+")


class TomlPositions:
    """The places of a valid TOML text, by key path."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._offsets = _Scan(text).places()

    def position(self, path: KeyPath) -> Position:
        """Where the value at ``path`` stands, or the nearest enclosing one when it is not there.

        A table that several headers make is where the first of them stands.
        """
        while path and path not in self._offsets:
            path = path[:-1]
        offset = self._offsets.get(path, 0)
        start = self._text.rfind("\n", 0, offset) + 1
        return Position(self._text.count("\n", 0, offset) + 1, offset - start + 1)


@dataclass
class _Scan:
    text: str
    at: int = 0
    offsets: dict[KeyPath, int] = field(default_factory=dict)
    lengths: dict[KeyPath, int] = field(default_factory=dict)  # of the arrays of tables so far

    def places(self) -> dict[KeyPath, int]:
        table: KeyPath = ()
        self.pass_over(_BLANK)
        while self.at < len(self.text):
            if self.text[self.at] == "[":
                table = self.header()
            else:
                self.entry(table)
            self.pass_over(_BLANK)
        return self.offsets

    def header(self) -> KeyPath:
        start = self.at
        many = self.text.startswith("[[", start)
        self.at += 2 if many else 1
        *parents, last = self.key()
        self.pass_over(_GAP)
        self.at += 2 if many else 1
        table: KeyPath = ()
        for part in parents:
            table = self.inside((*table, part))
            self.offsets.setdefault(table, start)
        table = (*table, last)
        self.offsets.setdefault(table, start)
        if many:
            self.lengths[table] = self.lengths.get(table, 0) + 1
            table = self.inside(table)
            self.offsets[table] = start
        return table

    def inside(self, path: KeyPath) -> KeyPath:
        """The last table of an array of tables, else the table itself."""
        return (*path, self.lengths[path] - 1) if path in self.lengths else path

    def entry(self, table: KeyPath) -> None:
        start = self.at
        path = table
        key = self.key()
        for part in key[:-1]:
            path = (*path, part)
            self.offsets.setdefault(path, start)
        self.pass_over(_GAP)
        self.at += 1  # the equals sign
        self.pass_over(_GAP)
        self.value((*path, key[-1]))

    def key(self) -> list[str]:
        parts = []
        while True:
            self.pass_over(_GAP)
            parts.append(self.key_part())
            self.pass_over(_GAP)
            if self.text[self.at] != ".":
                return parts
            self.at += 1

    def key_part(self) -> str:
        start = self.at
        if self.text[start] not in "\"'":
            self.pass_over(_BARE)
            return self.text[start : self.at]
        self.pass_over(_STRING)
        part: str = tomllib.loads(f"key = {self.text[start : self.at]}")["key"]
        return part

    def value(self, path: KeyPath) -> None:
        self.offsets[path] = self.at
        match self.text[self.at]:
            case "[":
                self.array(path)
            case "{":
                self.inline_table(path)
            case '"' | "'":
                self.pass_over(_STRING)
            case _:
                self.pass_over(_PLAIN)

    def array(self, path: KeyPath) -> None:
        self.at += 1
        index = 0
        while not self.closed("]"):
            self.value((*path, index))
            index += 1

    def inline_table(self, path: KeyPath) -> None:
        self.at += 1
        while not self.closed("}"):
            self.entry(path)

    def closed(self, bracket: str) -> bool:
        """Pass over blanks and a comma; whether the collection ends here, its bracket then consumed."""
        self.pass_over(_BLANK)
        if self.text[self.at] == ",":
            self.at += 1
            self.pass_over(_BLANK)
        if self.text[self.at] != bracket:
            return False
        self.at += 1
        return True

    def pass_over(self, pattern: re.Pattern[str]) -> None:
        if match := pattern.match(self.text, self.at):
            self.at = match.end()
