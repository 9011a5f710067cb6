"""What a build has to complain about: each thing with its place and its line of code."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class BuildError:
    """One mistake, or one warning. ``file`` is relative to the project; lines and columns count from 1.

    ``source`` is the line of code, ``length`` how much of it is meant. ``notes`` say what to do, or what else it is
    about.
    """

    text: str
    file: str | None = None
    line: int | None = None
    column: int | None = None
    source: str | None = None
    length: int = 1
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = [self.text if self.place is None else f"{self.place}: {self.text}"]
        if self.source is not None and self.line is not None and self.column is not None:
            margin = f"{self.line} | "
            before = "".join("\t" if character == "\t" else " " for character in self.source[: self.column - 1])
            lines += [f"    {margin}{self.source}", f"    {' ' * len(margin)}{before}{'^' * max(self.length, 1)}"]
        lines += [f"  {line}" for note in self.notes for line in note.split("\n")]
        return "\n".join(lines)

    @property
    def place(self) -> str | None:
        """Where it is, as editors and terminals link it."""
        if self.file is None:
            return None
        return ":".join(str(part) for part in (self.file, self.line, self.column) if part is not None)


class BuildFailed(Exception):
    """The project cannot be built; ``errors`` are all its mistakes, at least one."""

    def __init__(self, errors: Iterable[BuildError]) -> None:
        self.errors = tuple(errors)
        super().__init__("\n".join(map(str, self.errors)))


def from_esbuild(message: Mapping[str, Any], notes: Iterable[str] | None = None) -> BuildError:
    """A message of esbuild's, with its own notes or others."""
    told = tuple(_note(note) for note in message["notes"]) if notes is None else tuple(notes)
    place = message["location"]
    if place is None:
        return BuildError(message["text"], notes=told)
    source = place["lineText"]
    # esbuild counts bytes, from 0
    column = len(source.encode()[: place["column"]].decode(errors="ignore")) + 1
    length = len(source.encode()[place["column"] :][: place["length"]].decode(errors="ignore"))
    return BuildError(message["text"], place["file"], place["line"], column, source, length, told)


def _note(note: Mapping[str, Any]) -> str:
    place = note["location"]
    return str(note["text"]) if place is None else f"{note['text']} ({place['file']}:{place['line']})"
