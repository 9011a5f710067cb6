"""wrangler.toml as a file that can be edited."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from wrangler_compat import toml
from wrangler_compat.diagnostics import KeyPath, Position
from wrangler_compat.edits.operations import Operation
from wrangler_compat.edits.splices import Splice
from wrangler_compat.edits.toml_scan import scan
from wrangler_compat.jsonc import BOM
from wrangler_compat.toml_positions import TomlPositions


class TomlFile:
    """The text, read by the standard library; our scanner only tells where things stand."""

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self.text = text
        self.data: dict[str, Any] = toml.parse(text, path)
        self._scan = scan(text)
        self._positions = TomlPositions(text.removeprefix(BOM))

    def locate(self, path: KeyPath) -> Position | None:
        """Where a value stands, or what is nearest around it."""
        return self._positions.position(path)

    def repeated(self) -> Iterator[tuple[str, Position]]:
        """Nothing: TOML does not allow a key twice."""
        return iter(())

    def splices(self, operations: Iterable[Operation]) -> tuple[Splice, ...]:
        """The changes to the text that do the operations."""
        from wrangler_compat.edits.toml_text import toml_splices

        return toml_splices(self.text, self._scan, operations)

    def readings(self, text: str) -> Iterator[Any]:
        """What the standard library reads; the scanner that placed the edit takes no part."""
        yield tomllib.loads(text.removeprefix(BOM))

    def comments(self, text: str) -> list[str]:
        """The comments, sorted."""
        return sorted(text[span.start : span.end].rstrip() for span in scan(text).comments)
