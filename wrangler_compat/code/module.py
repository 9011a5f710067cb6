"""One source file of a Worker, read."""

from __future__ import annotations

import io
import tokenize
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

from wrangler_compat.code import nodes
from wrangler_compat.code.names import Names

Language = Literal["python", "javascript"]

PYTHON = {".py"}
JAVASCRIPT = {".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx"}
MAX_BYTES = 4_000_000  # a larger file is generated, and nobody mends it by hand


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a file, counted from 1 as editors do."""

    file: Path
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with code as the configuration sees it, and how to mend it."""

    code: str
    message: str
    place: Place
    hint: str | None = None


class Module:
    """A source file: its tree, and what the names in it mean.

    A file that could not be read has an empty tree and ``readable`` is False; ``problem`` says why.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.language: Language = "python" if path.suffix in PYTHON else "javascript"
        self.text = b""
        self.problem: Problem | None = None
        self.root: nodes.Node = nodes.Other(0, 0, ())
        self._read()

    @property
    def readable(self) -> bool:
        """Whether the tree shows all of the file."""
        return self.problem is None

    def _read(self) -> None:
        try:
            raw = self.path.read_bytes()
        except OSError as error:
            self._fail("code_unreadable", f"The file cannot be read: {error.strerror}.", 1, 1)
            return
        if len(raw) > MAX_BYTES:
            self._fail("code_unreadable", f"The file has {len(raw):,} bytes, too many to be checked.", 1, 1)
        elif self.language == "python":
            self._read_python(raw)
        else:
            self._read_javascript(raw)

    def _read_python(self, raw: bytes) -> None:
        from wrangler_compat.code import python_reader

        try:
            encoding, _ = tokenize.detect_encoding(io.BytesIO(raw).readline)
            self.text = raw.decode(encoding).encode("utf-8")
            self.root = python_reader.read(self.text, str(self.path))
        except SyntaxError as error:
            # The project's own interpreter may be newer and take it, so this is not called an error.
            reason = f"The file cannot be parsed ({error.msg}), so it is not checked."
            self._fail("code_syntax", reason, error.lineno or 1, max(error.offset or 1, 1))
        except (ValueError, LookupError, RecursionError) as error:
            self._fail("code_unreadable", f"The file cannot be parsed ({error}), so it is not checked.", 1, 1)
        except MemoryError:  # what CPython 3.11 raises when the stack of its parser is full
            self._fail("code_unreadable", "The file is nested too deeply to be checked.", 1, 1)

    def _read_javascript(self, raw: bytes) -> None:
        from wrangler_compat.code import javascript_reader

        self.text = raw
        try:
            self.root, broken = javascript_reader.read(raw, self.path.suffix)
        except RecursionError:
            self._fail("code_unreadable", "The file is nested too deeply to be checked.", 1, 1)
            return
        if broken is not None:
            place = self.at(broken)
            reason = "The syntax is not understood from here on, so some checks are left out."
            self._fail("code_syntax", reason, place.line, place.column)

    def _fail(self, code: str, message: str, line: int, column: int) -> None:
        self.problem = Problem(code, message, Place(self.path, line, column))

    @cached_property
    def names(self) -> Names:
        """What the names mean."""
        return Names(self.root, python=self.language == "python")

    @cached_property
    def _lines(self) -> list[int]:
        ends = [0]
        for line in self.text.splitlines(keepends=True):
            ends.append(ends[-1] + len(line))
        return ends

    def at(self, offset: int) -> Place:
        """The place of a byte of the text."""
        line = max(bisect_right(self._lines, offset) - 1, 0)
        before = self.text[self._lines[line] : offset].decode("utf-8", "replace")
        return Place(self.path, line + 1, len(before) + 1)

    def place(self, node: nodes.Node) -> Place:
        """Where a node stands."""
        return self.at(node.start)

    def source(self, node: nodes.Node) -> str:
        """The text of a node."""
        return self.text[node.start : node.end].decode("utf-8", "replace")
