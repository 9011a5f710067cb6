"""Where the rows and the real wrangler disagree."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tests.wrangler_compat.messages.real_wrangler import RealWrangler, expected_of_reading
from tests.wrangler_compat.messages.rows import Row

Disagreement = tuple[list[object], list[object]]  # what only wrangler says, and what only the row says


def disagreements_in_reading(
    real: RealWrangler, rows: Iterable[Row], folder: Path, suffix: str
) -> dict[str, Disagreement]:
    """By the name of the row; rows that the format cannot hold are left out."""
    written: list[tuple[Row, Path]] = []
    for index, row in enumerate(rows):
        try:
            written.append((row, row.write(folder / str(index), suffix)))
        except ValueError:  # a null, which TOML has not
            continue
    verdicts = real.read([(path, row.env) for row, path in written])
    found: dict[str, Disagreement] = {}
    for (row, _), said in zip(written, verdicts, strict=True):
        expected = expected_of_reading(row)
        if said != expected:
            found[f"{row.group}: {row.case}"] = list(said - expected), list(expected - said)
    return found


def disagreements_later(real: RealWrangler, row: Row, phase: str, folder: Path) -> str | None:
    """All that wrangler said, when that is not what the row expects of this phase."""
    said = real.later(phase, row.write(folder))
    expected = row.wrangler[phase]
    agrees = "[ERROR]" not in said if expected is None else expected in said
    return None if agrees else said
