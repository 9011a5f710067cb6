"""Which comments belong to which entry of a JSONC object or array.

An entry owns the comments straight above it (no blank line between) and those at the end of its own line. All other
comments are nobody's: they stay where they are, whatever happens to the entries around them.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass

from wrangler_compat.jsonc import ArrayNode, Document, Member, Node, ObjectNode, Span

BREAK = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True, slots=True)
class Slot:
    """One entry: its text from key to value, the comma after it, the comments it owns."""

    start: int
    end: int
    comma: int | None
    lead: tuple[Span, ...]
    tail: tuple[Span, ...]

    @property
    def first(self) -> int:
        """Where what belongs to the entry begins."""
        return min([self.start, *(span.start for span in self.lead)])

    @property
    def last(self) -> int:
        """Where what belongs to the entry ends."""
        comma = self.end if self.comma is None else self.comma + 1
        return max([self.end, comma, *(span.end for span in self.tail)])


@dataclass(frozen=True, slots=True)
class Layout:
    """An object or array as a row of slots, between the bracket at ``open`` and the one before ``close``."""

    slots: tuple[Slot, ...]
    free: tuple[Span, ...]
    open: int
    close: int

    @property
    def trailing_comma(self) -> bool:
        """Whether the last entry has a comma after it."""
        return bool(self.slots) and self.slots[-1].comma is not None


def layout(document: Document, node: ObjectNode | ArrayNode) -> Layout:
    """Read the layout of a collection."""
    spans = [_span(entry) for entry in _entries(node)]
    commas = [entry.comma for entry in _entries(node)]
    leads: list[list[Span]] = [[] for _ in spans]
    tails: list[list[Span]] = [[] for _ in spans]
    free: list[Span] = []
    opening, closing = node.span.start + 1, node.span.end - 1
    starts = [opening, *(span.end for span in spans)]
    ends = [*(span.start for span in spans), closing]
    for gap, (start, end) in enumerate(zip(starts, ends, strict=True)):
        comma = commas[gap - 1] if gap else None
        before, between, after = _shared(document, Span(start, end), comma, gap == 0, gap == len(spans))
        if gap:
            tails[gap - 1] += before
        else:
            free += before
        free += between
        if gap < len(spans):
            leads[gap] += after
        else:
            free += after
    slots = tuple(
        Slot(span.start, span.end, comma, tuple(lead), tuple(tail))
        for span, comma, lead, tail in zip(spans, commas, leads, tails, strict=True)
    )
    return Layout(slots, tuple(free), opening, closing)


def comments_within(document: Document, start: int, end: int) -> list[Span]:
    """The comments of a stretch of the text."""
    first = bisect_left(document.comments, start, key=lambda span: span.start)
    found = []
    for span in document.comments[first:]:
        if span.start >= end:
            break
        found.append(span)
    return found


def _entries(node: ObjectNode | ArrayNode) -> Iterable[Member | _Item]:
    if isinstance(node, ObjectNode):
        return node.members
    return [_Item(item.value, item.comma) for item in node.items]


@dataclass(frozen=True, slots=True)
class _Item:
    value: Node
    comma: int | None


def _span(entry: Member | _Item) -> Span:
    start = entry.key_span.start if isinstance(entry, Member) else entry.value.span.start
    return Span(start, entry.value.span.end)


def _shared(
    document: Document, gap: Span, comma: int | None, first: bool, last: bool
) -> tuple[list[Span], list[Span], list[Span]]:
    """The comments of a gap: those of the entry before it, nobody's, those of the entry after it."""
    text = document.text
    comments = comments_within(document, gap.start, gap.end)
    one_line = not BREAK.search(text, gap.start, gap.end)
    if one_line:
        before = [] if first else [span for span in comments if last or (comma is not None and span.start < comma)]
        return before, [], comments[len(before) :]
    count = 0
    at = gap.start
    for span in comments:  # what stands before the comma, or on the line on which the entry ends
        if not (comma is not None and span.start < comma) and BREAK.search(text, at, span.start):
            break
        count, at = count + 1, span.end if comma is None or span.end > comma else comma
    before, rest = comments[:count], comments[count:]
    if last:
        return before, rest, []
    kept = len(rest)
    at = gap.end
    while kept and len(BREAK.findall(text, rest[kept - 1].end, at)) <= 1:
        kept -= 1
        at = rest[kept].start
    return before, rest[:kept], rest[kept:]
