"""What a row of the bench is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.sides import Side
from bench.sizes import Sizes

Sample = dict[str, float]
"""One measurement: a figure for each of the row's metrics, by key."""


@dataclass(frozen=True, slots=True)
class Metric:
    """A figure of a row."""

    key: str
    title: str
    unit: str
    more_is_better: bool
    goal: str = ""  # of celld-py with a Worker in Python
    # What raw SQLite allows at most, from the figures of `bench.raw`; None where that is no measure.
    limit: Callable[[Mapping[str, float]], float] | None = None
    js_goal: str = ""  # of celld-py with the same Worker in JavaScript

    @property
    def failed(self) -> float:
        """What a failure counts as: zero, or for ever."""
        return 0.0 if self.more_is_better else float("inf")


@dataclass(frozen=True, slots=True)
class Stage:
    """Where one measurement takes place: a side, and an empty folder that holds a copy of its project."""

    side: Side
    folder: Path
    sizes: Sizes


@dataclass(frozen=True, slots=True)
class Row:
    """Something that is measured on each side, once a round."""

    name: str
    metrics: tuple[Metric, ...]
    measure: Callable[[Stage], Awaitable[Sample]]
    ours_only: bool = False
    most_rounds: int = 99  # for what takes minutes and varies little
