"""Takes entries out of one JSONC collection and adds others at its end: the splices that do it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from wrangler_compat.edits.layout import BREAK, Layout, Slot
from wrangler_compat.edits.pieces import Piece, lines, row
from wrangler_compat.edits.splices import Splice
from wrangler_compat.edits.style import Style, indent_at, line_indent, line_start

_LONG = 100  # columns; an object that would become longer is opened up


@dataclass(slots=True)
class Change:
    """What happens to one collection. ``above`` holds comments that come to stand above an entry."""

    removed: set[int] = field(default_factory=set)
    added: list[Piece] = field(default_factory=list)
    above: dict[int, list[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Row:
    """One collection of a text. ``trailing_comma`` says what an empty one should do."""

    text: str
    layout: Layout
    style: Style
    trailing_comma: bool

    def splices(self, change: Change) -> Iterator[Splice]:
        """The change as splices."""
        slots, inside = self.layout.slots, (self.layout.open, self.layout.close)
        if len(change.removed) == len(slots) and change.added and not self._opened and not self.layout.free:
            yield Splice(*inside, self._filled(change.added, self.layout.trailing_comma))
            return
        kept = [slot for index, slot in enumerate(slots) if index not in change.removed]
        for first, last in self._runs(change.removed):
            behind = first > 0 and all(index in change.removed for index in range(last, len(slots)))
            yield self._removal(slots[first].first, slots[last].last, slots[first - 1] if behind else None)
        for index, comments in change.above.items():
            yield self._above(slots[index], comments)
        trailing = self.layout.trailing_comma if slots else self.trailing_comma
        yield from self._commas(kept, more=bool(change.added), trailing=trailing)
        if change.added:
            yield self._addition(kept[-1] if kept else None, change.added, trailing)

    def indent(self) -> str:
        """The indentation of the entries when each has its own line."""
        for slot in reversed(self.layout.slots):
            found = indent_at(self.text, slot.start)
            if found is not None:
                return found
        return line_indent(self.text, self.layout.open - 1) + self.style.indent

    @property
    def _opened(self) -> bool:
        """Whether there is a line end between the brackets."""
        return bool(BREAK.search(self.text, self.layout.open, self.layout.close))

    def _commas(self, kept: Sequence[Slot], more: bool, trailing: bool) -> Iterator[Splice]:
        if not kept:
            return
        last = kept[-1]
        if last.comma is None and more:
            yield Splice(last.end, last.end, ",")
        if last.comma is not None and not more and not trailing:
            yield Splice(last.comma, last.comma + 1, "")

    def _runs(self, removed: Collection[int]) -> list[tuple[int, int]]:
        """The removed entries as stretches with nothing but blanks inside."""
        runs: list[tuple[int, int]] = []
        for index in sorted(removed):
            slots = self.layout.slots
            if runs and runs[-1][1] == index - 1 and not self.text[slots[index - 1].last : slots[index].first].strip():
                runs[-1] = runs[-1][0], index
            else:
                runs.append((index, index))
        return runs

    def _removal(self, start: int, end: int, before: Slot | None) -> Splice:
        """``before`` is the entry before a stretch that only removed ones follow."""
        ends_line = BREAK.match(self.text, self._skip(end))
        if indent_at(self.text, start) is not None and ends_line:
            if before and not self.text[before.last : start].strip():  # no blank line is left at the end
                return Splice(before.last, end, "")
            return Splice(self._line_start(start), ends_line.end(), "")
        if not ends_line and before is None:
            return Splice(start, self._skip(end), "")
        floor = before.last if before else self.layout.open
        while start > floor and self.text[start - 1] in " \t":
            start -= 1
        return Splice(start, end, "")

    def _above(self, slot: Slot, comments: Sequence[str]) -> Splice:
        indent = indent_at(self.text, slot.start)
        text = ""
        for comment in comments:
            own_line = indent is not None or comment.startswith("//")
            text += comment + (f"{self.style.newline}{indent or ''}" if own_line else " ")
        return Splice(slot.start, slot.start, text)

    def _addition(self, after: Slot | None, pieces: Sequence[Piece], trailing: bool) -> Splice:
        at = after.last if after else self._header()
        if BREAK.search(self.text, at, self.layout.close):
            return Splice(at, at, lines(pieces, self.indent(), trailing, self.style))
        return Splice(at, at, self.style.comma + row(pieces, trailing, self.style))

    def _filled(self, pieces: Sequence[Piece], trailing: bool) -> str:
        """What comes into an empty pair of brackets."""
        text = row(pieces, trailing, self.style)
        outer = line_indent(self.text, self.layout.open)
        if BREAK.search(text) or (len(text) > _LONG and BREAK.search(self.text)):
            return lines(pieces, outer + self.style.indent, trailing, self.style) + self.style.newline + outer
        return f"{self.style.braces}{text}{self.style.braces}"

    def _header(self) -> int:
        """The end of the comments on the line of the opening bracket."""
        at = self.layout.open
        for span in self.layout.free:
            if not BREAK.search(self.text, at, span.start):
                at = span.end
        return at

    def _skip(self, at: int) -> int:
        while at < len(self.text) and self.text[at] in " \t":
            at += 1
        return at

    def _line_start(self, at: int) -> int:
        start = line_start(self.text, at)
        return start + 1 if self.text.startswith("\ufeff") and start == 0 else start
