"""Reads JSON with comments as wrangler does, and remembers where everything stands.

The grammar is the narrow one of wrangler's reader: JSON, plus ``//`` and ``/* */`` comments and trailing
commas. JSON5's single quotes and bare keys are refused, because wrangler would refuse the file at deploy. The
tree keeps the span of every key, value, comma and comment, so that an edit can touch exactly the text it
means.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn

from wrangler_compat.diagnostics import ConfigError, KeyPath, Notice, Position, dotted

MAX_DEPTH = 200  # levels of nesting; deeper than any real file, shallower than Python's recursion limit
BOM = "\ufeff"

_BLANK = re.compile(r"[ \t\r\n]+")
_LINE_BREAK = re.compile(r"\r\n|\n|\r")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_WORD = re.compile(r"[^\s,:\[\]{}\"'/]+")
_LITERALS: dict[str, bool | None] = {"true": True, "false": False, "null": None}
_STRING = json.JSONDecoder()
_SAFE_INTEGER = 2**53  # JavaScript's numbers are doubles


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of the text, its end not included."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Scalar:
    """A string, number, boolean or null."""

    value: str | int | float | bool | None
    span: Span


@dataclass(frozen=True, slots=True)
class Member:
    """One ``"key": value`` of an object; ``comma`` is where the comma after it stands."""

    key: str
    key_span: Span
    value: Node
    comma: int | None


@dataclass(frozen=True, slots=True)
class Item:
    """One value of an array; ``comma`` is where the comma after it stands."""

    value: Node
    comma: int | None


@dataclass(frozen=True, slots=True)
class ObjectNode:
    """An object with its members in the order of the text, repeated keys included."""

    members: tuple[Member, ...]
    span: Span

    def get(self, key: str) -> Node | None:
        """The value of ``key``; the last one when the key is repeated, as in JavaScript."""
        return next((member.value for member in reversed(self.members) if member.key == key), None)


@dataclass(frozen=True, slots=True)
class ArrayNode:
    """An array with its items."""

    items: tuple[Item, ...]
    span: Span


Node = Scalar | ObjectNode | ArrayNode


@dataclass(frozen=True)
class Document:
    """A text that was read, as a tree of spans."""

    text: str
    root: Node
    comments: tuple[Span, ...]
    notes: tuple[Notice, ...]

    @cached_property
    def lines(self) -> LineIndex:
        """Turns offsets into lines and columns."""
        return LineIndex(self.text)

    def data(self) -> Any:
        """The plain Python value of the whole text."""
        return plain(self.root)

    def find(self, path: KeyPath) -> Node | None:
        """The node at ``path``, or nothing."""
        node: Node | None = self.root
        for part in path:
            node = _child(node, part)
        return node

    def position(self, path: KeyPath) -> Position | None:
        """Where the value at ``path`` stands, or the nearest enclosing value when it is not there."""
        node = self.root
        for part in path:
            below = _child(node, part)
            if below is None:
                break
            node = below
        return self.lines.position(node.span.start)


class LineIndex:
    """The line starts of a text; a byte order mark takes no column."""

    def __init__(self, text: str) -> None:
        self._starts = [len(BOM) if text.startswith(BOM) else 0]
        self._starts += [match.end() for match in _LINE_BREAK.finditer(text)]

    def position(self, offset: int) -> Position:
        """Line and column of an offset."""
        line = max(bisect_right(self._starts, offset), 1)
        return Position(line, max(offset - self._starts[line - 1], 0) + 1)


def parse(text: str, file: Path | None = None) -> Document:
    """Read a text; raise `ConfigError` with file, line and column when it is not JSONC."""
    reader = _Reader(text, file)
    root = reader.document()
    return Document(text, root, tuple(reader.comments), tuple(reader.notes))


def plain(node: Node) -> Any:
    """The Python value of a node; the last of repeated keys wins."""
    match node:
        case Scalar():
            return node.value
        case ArrayNode():
            return [plain(item.value) for item in node.items]
        case ObjectNode():
            return {member.key: plain(member.value) for member in node.members}


def _child(node: Node | None, part: str | int) -> Node | None:
    if isinstance(node, ObjectNode) and isinstance(part, str):
        return node.get(part)
    if isinstance(node, ArrayNode) and isinstance(part, int) and part < len(node.items):
        return node.items[part].value
    return None


@dataclass
class _Reader:
    text: str
    file: Path | None
    at: int = 0
    comments: list[Span] = field(default_factory=list)
    notes: list[Notice] = field(default_factory=list)
    path: list[str | int] = field(default_factory=list)

    def document(self) -> Node:
        if self.text.startswith(BOM):
            self.at = len(BOM)
        self.skip()
        if self.at == len(self.text):
            self.fail("The file is empty.", "It needs at least an object: {}")
        root = self.value()
        self.skip()
        if self.at < len(self.text):
            self.fail(f"Unexpected {self.here()} after the end of the value.", "Remove what follows.")
        return root

    def value(self) -> Node:
        if len(self.path) > MAX_DEPTH:
            self.fail(f"Values are nested more than {MAX_DEPTH} levels deep.", "Flatten the value.")
        match self.peek():
            case "{":
                return self.object()
            case "[":
                return self.array()
            case '"':
                return self.string()
            case "":
                self.fail("The file ends where a value should be.", "Finish the value and close what is open.")
            case _:
                return self.word()

    def object(self) -> ObjectNode:
        start = self.at
        self.at += 1
        members: list[Member] = []
        seen: set[str] = set()
        while not self.closes("}", start, bool(members) and members[-1].comma is None):
            key = self.key()
            if key.value in seen:
                self.repeated(key)
            seen.add(str(key.value))
            members.append(self.member(key))
        return ObjectNode(tuple(members), Span(start, self.at))

    def key(self) -> Scalar:
        if self.peek() != '"':
            hint = 'Keys need double quotes: "name": ...'
            self.fail(f'Expected a key in double quotes or "}}" but found {self.here()}.', hint)
        return self.string()

    def member(self, key: Scalar) -> Member:
        name = str(key.value)
        self.skip()
        if self.peek() != ":":
            self.fail(f'Expected ":" after the key "{name}" but found {self.here()}.', 'Write "key": value.')
        self.at += 1
        self.skip()
        self.path.append(name)
        value = self.value()
        self.path.pop()
        return Member(name, key.span, value, self.comma())

    def array(self) -> ArrayNode:
        start = self.at
        self.at += 1
        items: list[Item] = []
        while not self.closes("]", start, bool(items) and items[-1].comma is None):
            self.path.append(len(items))
            value = self.value()
            self.path.pop()
            items.append(Item(value, self.comma()))
        return ArrayNode(tuple(items), Span(start, self.at))

    def closes(self, bracket: str, start: int, comma_missing: bool) -> bool:
        """Whether the collection that began at ``start`` ends here; the closing bracket is then consumed."""
        self.skip()
        if self.peek() == bracket:
            self.at += 1
            return True
        if not self.peek():
            opened = LineIndex(self.text).position(start)
            opener = self.text[start]
            self.fail(f'The "{opener}" of line {opened.line} is never closed.', f'Add the missing "{bracket}".')
        if comma_missing:
            hint = "Put a comma after the value before."
            self.fail(f'Expected "," or "{bracket}" but found {self.here()}.', hint)
        return False

    def comma(self) -> int | None:
        self.skip()
        if self.peek() != ",":
            return None
        self.at += 1
        return self.at - 1

    def string(self) -> Scalar:
        start = self.at
        try:
            value, self.at = _STRING.raw_decode(self.text, start)
        except json.JSONDecodeError as error:
            self.bad_string(start, error)
        return Scalar(value, Span(start, self.at))

    def bad_string(self, start: int, error: json.JSONDecodeError) -> NoReturn:
        self.at = error.pos
        if error.msg.startswith("Unterminated") or self.peek() in ("\n", "\r"):
            self.at = start
            self.fail("This string has no closing quote.", 'End it with " on the same line.')
        if error.msg.startswith("Invalid control"):
            code = f"\\u{ord(self.text[self.at]):04x}"
            self.fail(f"A string holds the raw control character {code}.", f"Write it as an escape: {code}")
        self.fail("A string holds an escape that JSON does not know.", 'A backslash itself is written "\\\\".')

    def word(self) -> Scalar:
        start = self.at
        match = _WORD.match(self.text, start)
        word = match.group() if match else ""
        if word in _LITERALS:
            self.at += len(word)
            return Scalar(_LITERALS[word], Span(start, self.at))
        if _NUMBER.fullmatch(word):
            self.at += len(word)
            return Scalar(_number(word), Span(start, self.at))
        hint = "Strings need double quotes." if word or self.peek() == "'" else "Put a value here."
        self.fail(f"Expected a value but found {self.here()}.", hint)

    def skip(self) -> None:
        """Pass over blanks and comments; comments are kept."""
        while True:
            if match := _BLANK.match(self.text, self.at):
                self.at = match.end()
            elif self.text.startswith("//", self.at):
                end = _LINE_BREAK.search(self.text, self.at)
                self.comment(end.start() if end else len(self.text))
            elif self.text.startswith("/*", self.at):
                closing = self.text.find("*/", self.at + 2)
                if closing < 0:
                    self.fail("This comment is never closed.", "Add the missing */")
                self.comment(closing + 2)
            else:
                return

    def comment(self, end: int) -> None:
        self.comments.append(Span(self.at, end))
        self.at = end

    def repeated(self, key: Scalar) -> None:
        name = dotted((*self.path, str(key.value)))
        place = LineIndex(self.text).position(key.span.start)
        text = f'"{name}" is written twice; the last one counts.'
        self.notes.append(Notice(text, "Remove one.", name, place.line, place.column, self.file, "repeated_key"))

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def here(self) -> str:
        """The offending text as a person would name it."""
        if self.at >= len(self.text):
            return "the end of the file"
        match = _WORD.match(self.text, self.at)
        found = match.group()[:40] if match else self.text[self.at]
        return f'"{found}"' if found.isprintable() and found != '"' else ascii(found)

    def fail(self, message: str, hint: str) -> NoReturn:
        place = LineIndex(self.text).position(self.at)
        raise ConfigError("config_syntax", message, file=self.file, position=place, hint=hint)


def _number(word: str) -> int | float:
    """A JSON number as JavaScript holds it: a double, shown as an integer while it is exactly one."""
    value = float(word)
    return int(value) if value.is_integer() and abs(value) <= _SAFE_INTEGER else value
