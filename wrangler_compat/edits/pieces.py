"""New members of an object, with the comments that come with them, as text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from wrangler_compat.edits.style import Style


@dataclass(frozen=True, slots=True)
class Piece:
    """One member (or one value of a list), the comments above it and those behind it."""

    text: str
    lead: tuple[str, ...] = ()
    tail: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Nothing can stand behind a comment that runs to the end of its line: what would, goes above."""
        ends = next((index for index, comment in enumerate(self.tail) if comment.startswith("//")), len(self.tail))
        object.__setattr__(self, "lead", (*self.lead, *self.tail[ends + 1 :]))
        object.__setattr__(self, "tail", self.tail[: ends + 1])

    def under(self, comments: Sequence[str]) -> Piece:
        """The same, with further comments above."""
        return replace(self, lead=(*comments, *self.lead))

    @property
    def ends_line(self) -> bool:
        """Whether one of its comments runs to the end of its line."""
        return any(comment.startswith("//") for comment in (*self.lead, *self.tail))


def lines(pieces: Sequence[Piece], indent: str, trailing_comma: bool, style: Style) -> str:
    """Each piece on a line of its own, every line begun by a line end."""
    text = ""
    for index, piece in enumerate(pieces):
        comma = "," if trailing_comma or index < len(pieces) - 1 else ""
        rows = [*piece.lead, " ".join([piece.text + comma, *piece.tail])]
        text += "".join(f"{style.newline}{indent}{row}" for row in rows)
    return text


def row(pieces: Sequence[Piece], trailing_comma: bool, style: Style) -> str:
    """The pieces one after the other on one line, as far as their comments allow."""
    text = ""
    for index, piece in enumerate(pieces):
        last = index == len(pieces) - 1
        comma = "," if trailing_comma or not last else ""
        text += "".join(f"{comment}{_after(comment, style)}" for comment in piece.lead)
        text += piece.text + comma
        text += "".join(f" {comment}" for comment in piece.tail)
        if piece.tail and piece.tail[-1].startswith("//"):
            text += style.newline
        elif not last:
            text += style.comma
    return text


def block(pieces: Sequence[Piece], indent: str, trailing_comma: bool, style: Style) -> str:
    """An object over several lines, that begins on a line indented by ``indent``."""
    inner = lines(pieces, indent + style.indent, trailing_comma, style)
    return f"{{{inner}{style.newline}{indent}}}"


def one_line(pieces: Sequence[Piece], style: Style) -> str:
    """An object on one line."""
    return f"{{{style.braces}{row(pieces, False, style)}{style.braces}}}"


def _after(comment: str, style: Style) -> str:
    return style.newline if comment.startswith("//") else " "
