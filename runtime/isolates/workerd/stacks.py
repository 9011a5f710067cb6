"""Stacks from the bundle, in terms of the project's own files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol


class SourceMaps(Protocol):
    """What the build knows of where its code comes from."""

    def apply(self, stack: str) -> str:
        """The stack with the places of the sources."""

    def first(self, stack: str, inside: Path) -> tuple[Path, int] | None:
        """The innermost place of a (raw) stack in a file below a folder."""


class Stacks:
    """The source maps of one project."""

    def __init__(self, maps: SourceMaps, root: Path) -> None:
        self._maps = maps
        self._root = root

    def mapped(self, stack: str) -> str:
        """The stack with the places of the sources."""
        return self._maps.apply(stack)

    def place(self, stack: str) -> tuple[str, int] | None:
        """The innermost line of user code, its file relative to the project where it is inside."""
        found = self._maps.first(stack, self._root)
        if found is None:
            return None
        file, line = found
        return str(file.relative_to(self._root) if file.is_relative_to(self._root) else file), line

    def shown(self, stack: str) -> tuple[str, str | None, int | None]:
        """The stack with the places of the sources, and its innermost place."""
        file, line = self.place(stack) or (None, None)
        return self.mapped(stack), file, line

    def failure(self, told: Mapping[str, Any]) -> tuple[str, str | None, int | None]:
        """What `shown` gives for a failure as the bridge tells it; not every error has a stack."""
        error = told["error"]
        return self.shown(told.get("stack") or f"{error['name']}: {error['message']}")
