"""How a file is written, so that what is added to it looks as if its author had added it."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from wrangler_compat.edits.layout import BREAK
from wrangler_compat.jsonc import ArrayNode, Document, Node, ObjectNode

_DEFAULT_INDENT = "  "
_BLANKS = re.compile(r"[ \t]*")


@dataclass(frozen=True, slots=True)
class Style:
    """Line end, one level of indentation, and the blanks after a colon, after a comma and inside brackets."""

    newline: str
    indent: str
    colon: str
    comma: str
    braces: str
    brackets: str

    def value(self, value: Any) -> str:
        """A value on one line."""
        if isinstance(value, dict):
            return self.object([f"{self.key(key)}{self.value(item)}" for key, item in value.items()])
        if isinstance(value, list | tuple):
            items = f",{self.comma}".join(self.value(item) for item in value)
            return f"[{self.brackets}{items}{self.brackets}]" if items else "[]"
        return json.dumps(value, ensure_ascii=False)

    def object(self, members: list[str]) -> str:
        """An object on one line, from the texts of its members."""
        inner = f",{self.comma}".join(members)
        return f"{{{self.braces}{inner}{self.braces}}}" if inner else "{}"

    def key(self, key: str) -> str:
        """A key with its colon."""
        return f"{json.dumps(key, ensure_ascii=False)}:{self.colon}"


def style_of(document: Document) -> Style:
    """The habits of a file; what it gives no example of is written as most people do."""
    samples = _Samples(document)
    samples.visit(document.root)
    minified = not BREAK.search(document.text.strip()) and samples.colons.total() > samples.colons[" "]
    blank = "" if minified else " "
    newline = BREAK.search(document.text)
    return Style(
        newline.group() if newline else "\n",
        _indent(document),
        _usual(samples.colons, blank),
        _usual(samples.commas, blank),
        _usual(samples.braces, blank),
        _usual(samples.brackets, ""),
    )


def indent_at(text: str, offset: int) -> str | None:
    """The blanks before ``offset`` when nothing else stands there on its line."""
    start = line_start(text, offset)
    before = text[start:offset].removeprefix("\ufeff")
    return before if not before.strip(" \t") else None


def line_start(text: str, offset: int) -> int:
    """Where the line of ``offset`` begins."""
    return max(text.rfind("\n", 0, offset), text.rfind("\r", 0, offset)) + 1


def line_indent(text: str, offset: int) -> str:
    """The blanks at the start of the line of ``offset``."""
    start = line_start(text, offset) + (
        1 if offset and text.startswith("\ufeff") and not line_start(text, offset) else 0
    )
    match = _BLANKS.match(text, start, offset)
    return match.group() if match else ""


def _indent(document: Document) -> str:
    if isinstance(document.root, ObjectNode):
        outer = line_indent(document.text, document.root.span.start)
        for member in document.root.members:
            found = indent_at(document.text, member.key_span.start)
            if found and found != outer:
                return found.removeprefix(outer)
    return _DEFAULT_INDENT


def _usual(counts: Counter[str], default: str) -> str:
    return counts.most_common(1)[0][0] if counts else default


class _Samples:
    """Counts the blanks between tokens that share a line."""

    def __init__(self, document: Document) -> None:
        self._text = document.text
        self.colons: Counter[str] = Counter()
        self.commas: Counter[str] = Counter()
        self.braces: Counter[str] = Counter()
        self.brackets: Counter[str] = Counter()

    def visit(self, node: Node) -> None:
        if isinstance(node, ObjectNode):
            for member in node.members:
                key_end, start = member.key_span.end, member.value.span.start
                self.count(self.colons, self._text[key_end:start].partition(":")[2])
                self.visit(member.value)
            self.edges(self.braces, node, [member.key_span.start for member in node.members])
            self.gaps([(m.comma, n.key_span.start) for m, n in pairwise(node.members)])
        elif isinstance(node, ArrayNode):
            for item in node.items:
                self.visit(item.value)
            self.edges(self.brackets, node, [item.value.span.start for item in node.items])
            self.gaps([(i.comma, j.value.span.start) for i, j in pairwise(node.items)])

    def edges(self, counts: Counter[str], node: ObjectNode | ArrayNode, starts: list[int]) -> None:
        if starts:
            self.count(counts, self._text[node.span.start + 1 : starts[0]])

    def gaps(self, gaps: list[tuple[int | None, int]]) -> None:
        for comma, start in gaps:
            if comma is not None:
                self.count(self.commas, self._text[comma + 1 : start])

    def count(self, counts: Counter[str], blanks: str) -> None:
        if blanks in ("", " "):
            counts[blanks] += 1
