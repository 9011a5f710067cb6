"""Finds where the tables, keys, values and comments of a TOML text stand.

Only texts that the standard library has read come here, so this tells places and does not judge. Arrays and inline
tables become the nodes that JSONC has; their scalars carry no value.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field

from wrangler_compat.diagnostics import KeyPath
from wrangler_compat.jsonc import ArrayNode, Item, Member, Node, ObjectNode, Scalar, Span

_BLANK = re.compile(r"[ \t]*")
_SPACE = re.compile(r"[ \t\r\n]*")
_COMMENT = re.compile(r"#[^\r\n]*")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_STRING = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}(?!")|\'\'\'.*?\'{3,5}(?!\')|"(?:[^"\\\r\n]|\\.)*"|\'[^\'\r\n]*\'', re.DOTALL
)
_PLAIN = re.compile(r"[^,\]}#\r\n]+")


@dataclass(frozen=True, slots=True)
class Pair:
    """One ``key = value``, with the whole path of its key."""

    path: KeyPath
    key: Span
    value: Node


@dataclass(slots=True)
class Table:
    """A header with its pairs; the one before the first header has none. ``parts`` are the header's keys."""

    path: KeyPath
    header: Span | None
    parts: tuple[str, ...]
    listed: bool
    pairs: list[Pair] = field(default_factory=list)

    @property
    def end(self) -> int:
        """Where its last pair, or its header, ends."""
        if self.pairs:
            return self.pairs[-1].value.span.end
        return self.header.end if self.header else 0


@dataclass(frozen=True, slots=True)
class Scan:
    """The tables of a text, in order, and its comments."""

    tables: tuple[Table, ...]
    comments: tuple[Span, ...]


def scan(text: str) -> Scan:
    """Scan a text that is known to be TOML."""
    return _Scanner(text).scan()


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 1 if text.startswith("\ufeff") else 0
        self.comments: list[Span] = []
        self.tables = [Table((), None, (), False)]
        self.counts: dict[KeyPath, int] = {}

    def scan(self) -> Scan:
        self.skip()
        while self.at < len(self.text):
            if self.text[self.at] == "[":
                self.header()
            else:
                self.pair()
            self.skip()
        return Scan(tuple(self.tables), tuple(self.comments))

    def header(self) -> None:
        start = self.at
        listed = self.text.startswith("[[", start)
        self.at += 2 if listed else 1
        parts = self.key()
        self.at += 2 if listed else 1
        self.tables.append(Table(self.placed(parts, listed), Span(start, self.at), parts, listed))

    def placed(self, parts: tuple[str, ...], listed: bool) -> KeyPath:
        """The path of a header; below a list of tables it means the last one."""
        path: KeyPath = ()
        for index, part in enumerate(parts):
            path = (*path, part)
            if listed and index == len(parts) - 1:
                self.counts[path] = self.counts.get(path, -1) + 1
            if path in self.counts:
                path = (*path, self.counts[path])
        return path

    def pair(self) -> None:
        start = self.at
        key = self.key()
        end = self.at
        self.at = self.text.index("=", self.at) + 1
        self.blanks()
        table = self.tables[-1]
        table.pairs.append(Pair((*table.path, *key), Span(start, end), self.value()))

    def key(self) -> tuple[str, ...]:
        """A dotted key; the blanks after it are passed over only where a dot follows."""
        parts = []
        while True:
            self.blanks()
            match = _BARE.match(self.text, self.at) or _STRING.match(self.text, self.at)
            assert match is not None, "the text has been read as TOML"
            parts.append(match.group() if match.re is _BARE else str(tomllib.loads(f"k = {match.group()}")["k"]))
            self.at = match.end()
            blank = _BLANK.match(self.text, self.at)
            after = blank.end() if blank else self.at
            if not self.text.startswith(".", after):
                if self.text.startswith("]", after):
                    self.at = after
                return tuple(parts)
            self.at = after + 1

    def value(self) -> Node:
        start = self.at
        if self.text[start] == "[":
            return self.array()
        if self.text[start] == "{":
            return self.inline()
        match = _STRING.match(self.text, start)
        if match is None:
            match = _PLAIN.match(self.text, start)
            assert match is not None, "the text has been read as TOML"
            self.at = start + len(match.group().rstrip(" \t"))
        else:
            self.at = match.end()
        return Scalar(None, Span(start, self.at))

    def array(self) -> ArrayNode:
        start = self.at
        self.at += 1
        items: list[Item] = []
        self.skip()
        while self.text[self.at] != "]":
            value = self.value()
            items.append(Item(value, self.comma()))
        self.at += 1
        return ArrayNode(tuple(items), Span(start, self.at))

    def inline(self) -> ObjectNode:
        start = self.at
        self.at += 1
        members: list[Member] = []
        self.skip()
        while self.text[self.at] != "}":
            begin = self.at
            key = ".".join(self.key())
            end = self.at
            self.at = self.text.index("=", self.at) + 1
            self.blanks()
            value = self.value()
            members.append(Member(key, Span(begin, end), value, self.comma()))
        self.at += 1
        return ObjectNode(tuple(members), Span(start, self.at))

    def comma(self) -> int | None:
        self.skip()
        if self.text[self.at] != ",":
            return None
        self.at += 1
        place = self.at - 1
        self.skip()
        return place

    def blanks(self) -> None:
        match = _BLANK.match(self.text, self.at)
        self.at = match.end() if match else self.at

    def skip(self) -> None:
        """Pass over blanks, line ends and comments."""
        while True:
            match = _SPACE.match(self.text, self.at)
            self.at = match.end() if match else self.at
            comment = _COMMENT.match(self.text, self.at)
            if comment is None:
                return
            self.comments.append(Span(comment.start(), comment.end()))
            self.at = comment.end()
