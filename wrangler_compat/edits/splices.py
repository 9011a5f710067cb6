"""Changes to a text as stretches that are replaced. What no splice names stays as it is, byte for byte."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from wrangler_compat.edits.errors import CannotEdit


@dataclass(frozen=True, slots=True)
class Splice:
    """``text`` takes the place of what stands from ``start`` to ``end``; an insertion has both equal."""

    start: int
    end: int
    text: str


def ordered(splices: Iterable[Splice]) -> tuple[Splice, ...]:
    """The splices in the order of the text; insertions at one place keep the order in which they were asked for.

    Raises `CannotEdit` when two of them overlap.
    """
    result = tuple(sorted(splices, key=lambda splice: (splice.start, splice.end)))
    for before, after in pairwise(result):
        if before.end > after.start:
            raise CannotEdit(f"two edits claim the same text, at {after.start}")
    return result


def spliced(text: str, splices: Iterable[Splice]) -> str:
    """The text with the splices done."""
    parts = []
    at = 0
    for splice in ordered(splices):
        parts += [text[at : splice.start], splice.text]
        at = splice.end
    return "".join([*parts, text[at:]])
