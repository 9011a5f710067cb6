"""The table of messages against the real wrangler, where CELLD_PY_BENCH_NODE and CELLD_PY_BENCH_WRANGLER name one.

The later phases start a wrangler for each row, which takes minutes. ``python -m tests.wrangler_compat.messages``
compares the same, and marks in the rows what agreed.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bench.sides import WRANGLER_VARIABLE
from tests.wrangler_compat.messages.comparison import disagreements_in_reading, disagreements_later
from tests.wrangler_compat.messages.real_wrangler import NotHere, RealWrangler
from tests.wrangler_compat.messages.rows import Row, all_rows
from wrangler_compat import diagnose

LATER = [(row, phase) for row in all_rows() for phase in row.wrangler]


@pytest.fixture(scope="module")
def real() -> RealWrangler:
    if WRANGLER_VARIABLE not in os.environ:  # one that happens to be on PATH may be of any version
        pytest.skip(f"{WRANGLER_VARIABLE} names no wrangler")
    try:
        return RealWrangler()
    except NotHere as error:
        pytest.skip(str(error))


@pytest.mark.timeout(300)
@pytest.mark.parametrize("suffix", [".json", ".toml"])
def test_wrangler_says_the_same_when_it_reads(real: RealWrangler, tmp_path: Path, suffix: str) -> None:
    assert disagreements_in_reading(real, all_rows(), tmp_path, suffix) == {}


@pytest.mark.parametrize(
    "text",
    [
        "workflows = [{a=2026-01-01, b=07:32:00, c=1979-05-27T07:32:00Z, d=1979-05-27 07:32:00.5, e=inf, f=nan}]",
        "workflows = [{a=1979-05-27T00:32:00.999999-07:00, b=-0.0, c=1e400, d=1e21, e=0.000001, f=1e-7}]",
        "[vars]\nD = 2026-01-01\nT = 07:32:00",
        "compatibility_date = 2026-01-01",
    ],
)
def test_wrangler_shows_the_same_of_what_only_toml_has(real: RealWrangler, tmp_path: Path, text: str) -> None:
    path = tmp_path / "wrangler.toml"
    path.write_text(f'name = "shop"\nmain = "entry.js"\n{text}\n')
    (tmp_path / "entry.js").touch()

    (said,) = real.read([(path, None)])
    errors = [each.message for each in diagnose(path, None, {}) if each.level == "error"]

    assert sorted(errors) == sorted(message for level, message, _ in said if level == "error")


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("row", "phase"), LATER, ids=lambda each: getattr(each, "case", each))
def test_wrangler_says_the_same_later(real: RealWrangler, tmp_path: Path, row: Row, phase: str) -> None:
    assert disagreements_later(real, row, phase, tmp_path) is None
