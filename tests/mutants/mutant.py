"""What a mutant is."""

from __future__ import annotations

from typing import NamedTuple


class Mutant(NamedTuple):
    """``old`` stands exactly once in ``file``; with ``new`` in its place every one of ``tests`` must fail."""

    name: str  # begins with the invariant
    file: str
    old: str
    new: str
    tests: tuple[str, ...]
