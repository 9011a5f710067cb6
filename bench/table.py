"""The results as a Markdown table, and as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from bench.rows.types import Metric, Row
from bench.session import Results
from bench.sides import CELLD, CELLD_JS, WRANGLER

NONE = "-"


def table(rows: Sequence[Row], results: Results) -> str:
    """One line for each figure: the medians of all sides, ours to theirs, and what raw SQLite would allow."""
    lines = [
        ("", CELLD, CELLD_JS, WRANGLER, "ratio", "ratio, JS", "raw SQLite", "of raw", "goal", "goal, JS"),
        *(_line(metric, results) for row in rows for metric in row.metrics),
    ]
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    texts = [_row(line, widths) for line in lines]
    texts.insert(1, "|" + "|".join("-" * (width + 1) + (":" if i else "-") for i, width in enumerate(widths)) + "|")
    raw = ", ".join(f"{_number(figure)} {name}" for name, figure in results.raw_medians().items())
    return "\n".join([*texts, "", f"Raw SQLite in this run: {raw}."])


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = [cell.rjust(width) if i else cell.ljust(width) for i, (cell, width) in enumerate(zip(cells, widths))]  # noqa: B905 - as many as there are
    return "| " + " | ".join(padded) + " |"


def _line(metric: Metric, results: Results) -> tuple[str, ...]:
    ours, ours_js, theirs = (results.median(metric.key, side) for side in (CELLD, CELLD_JS, WRANGLER))
    limit = None if metric.limit is None else metric.limit(results.raw_medians())
    title = f"{metric.title} ({metric.unit})" if metric.unit else metric.title
    share = _ratio(ours, limit, True) if metric.more_is_better else _ratio(limit, ours, True)
    return (
        title,
        _number(ours),
        _number(ours_js),
        _number(theirs),
        _times(ours, theirs, metric),
        _times(ours_js, theirs, metric),
        _number(limit),
        share,
        metric.goal or NONE,
        metric.js_goal or NONE,
    )


def _times(ours: float | None, theirs: float | None, metric: Metric) -> str:
    return _ratio(ours, theirs, metric.more_is_better) + ("x" if _comparable(ours, theirs) else "")


def _comparable(ours: float | None, theirs: float | None) -> bool:
    return all(figure is not None and math.isfinite(figure) and figure > 0 for figure in (ours, theirs))


def _ratio(ours: float | None, theirs: float | None, more_is_better: bool) -> str:
    """How many times better ours is."""
    if ours is None or theirs is None or not _comparable(ours, theirs):
        return NONE
    ratio = ours / theirs if more_is_better else theirs / ours
    return f"{ratio:.2g}" if ratio < 10 else f"{ratio:,.0f}"


def _number(figure: float | None) -> str:
    if figure is None:
        return NONE
    if math.isinf(figure):
        return "failed"
    if abs(figure) >= 100 or figure == int(figure):
        return f"{figure:,.0f}"
    return f"{figure:.3g}"


def write_json(
    folder: Path, rows: Sequence[Row], results: Results, machine: Mapping[str, Any], versions: Mapping[str, str]
) -> Path:
    """Keep all figures; gives the file's name."""
    folder.mkdir(parents=True, exist_ok=True)
    now = datetime.now().astimezone()
    file = folder / f"{now:%Y-%m-%dT%H%M%S}.json"
    data = {
        "date": now.isoformat(timespec="seconds"),
        "machine": dict(machine),
        "load": results.load,
        "versions": dict(versions),
        "raw": results.raw,
        "rows": {row.name: {metric.key: results.figures.get(metric.key, {}) for metric in row.metrics} for row in rows},
        "failures": results.failures,
    }
    # JSON has no infinity: what never came is null.
    file.write_text(json.dumps(_finite(data), indent=1) + "\n")
    return file


def _finite(value: Any) -> Any:
    if isinstance(value, float) and math.isinf(value):
        return None
    if isinstance(value, dict):
        return {key: _finite(member) for key, member in value.items()}
    return [_finite(member) for member in value] if isinstance(value, list) else value
