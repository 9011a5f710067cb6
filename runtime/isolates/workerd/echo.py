"""The echo of a replay: output that only repeats what was printed before it."""

from __future__ import annotations

from typing import Any, NamedTuple


class Echo(NamedTuple):
    """How much a run repeats: calls made outside steps, and results given."""

    calls: int
    settlements: int

    @classmethod
    def of(cls, journal: list[list[Any]]) -> Echo:
        """What a run repeats that begins with this journal."""
        calls = sum(entry[0] == "c" and not entry[4] for entry in journal)
        return cls(calls, sum(entry[0] != "c" for entry in journal))

    def mutes(self, calls: int, settlements: int) -> bool:
        """Whether a line belongs to it that was printed outside steps, after so many calls and results."""
        return calls < self.calls or settlements < self.settlements
