"""One interleaved run: round by round, row by row, the sides take turns, and who goes first alternates."""

from __future__ import annotations

import os
import platform
import shutil
import sqlite3
import statistics
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench import raw
from bench.rows.types import Row, Stage
from bench.server import prepare
from bench.sides import Side
from bench.sizes import Sizes


@dataclass(slots=True)
class Results:
    """All figures of a run: by metric and side, one for each round; failures are in ``failures``, in words."""

    sides: list[str]
    figures: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    raw: dict[str, list[float]] = field(default_factory=dict)
    load: list[float] = field(default_factory=list)

    def median(self, metric: str, side: str) -> float | None:
        """The median of a side's figures, None when it was not measured."""
        found = self.figures.get(metric, {}).get(side)
        return statistics.median(found) if found else None

    def raw_medians(self) -> dict[str, float]:
        """The medians of raw SQLite's figures."""
        return {name: statistics.median(found) for name, found in self.raw.items()}


def machine() -> dict[str, object]:
    """What the figures depend on."""
    return {
        "processors": os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
    }


async def run(
    rows: Sequence[Row], sides: Sequence[Side], rounds: int, sizes: Sizes, say: Callable[[str], None]
) -> Results:
    """Measure everything."""
    results = Results([side.name for side in sides])
    for number in range(rounds):
        _measure_raw(results, sizes)
        for row in rows:
            if number >= row.most_rounds:
                continue
            for side in sides if number % 2 == 0 else reversed(sides):
                if side.ours or not row.ours_only:
                    await _measure(row, side, sizes, results, say)
        results.load.append(os.getloadavg()[0])
    return results


def _measure_raw(results: Results, sizes: Sizes) -> None:
    folder = Path(tempfile.mkdtemp(prefix="bench-raw-"))
    try:
        for name, figure in raw.measure(folder, sizes.raw_commits).items():
            results.raw.setdefault(name, []).append(figure)
    finally:
        shutil.rmtree(folder)


async def _measure(row: Row, side: Side, sizes: Sizes, results: Results, say: Callable[[str], None]) -> None:
    folder = Path(tempfile.mkdtemp(prefix="bench-"))
    began = time.monotonic()
    try:
        prepare(side, folder)
        sample = await row.measure(Stage(side, folder, sizes))
    except Exception as error:
        # A side that fails is a result, not the end of the run.
        sample = {metric.key: metric.failed for metric in row.metrics}
        reason = str(error) or type(error).__name__
        results.failures.append(f"{row.name}, {side.name}: {reason}")
        say("".join(traceback.format_exception(error)))
    finally:
        shutil.rmtree(folder, ignore_errors=True)  # a killed process may still be writing its last file
    for metric in row.metrics:
        results.figures.setdefault(metric.key, {}).setdefault(side.name, []).append(sample[metric.key])
    shown = ", ".join(f"{key} {figure:.4g}" for key, figure in sample.items())
    say(f"{row.name:14} {side.name:13} {time.monotonic() - began:6.1f} s   {shown}")
