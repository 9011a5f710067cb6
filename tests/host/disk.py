"""A disk that fails when a test says so."""

from __future__ import annotations

from runtime.store import Key, StoreFull

FULL = StoreFull("a.db")


class Disk:
    """A hook for a memory store: what is in ``fails`` happens at the commits of these points."""

    def __init__(self) -> None:
        self.fails: dict[str, Exception] = {}
        self.only: Key | None = None

    def __call__(self, point: str, key: Key | None) -> None:
        if point in self.fails and self.only in (None, key):
            raise self.fails[point]
