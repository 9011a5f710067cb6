from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bench.rows import ROWS
from bench.rows.types import Row
from bench.sides import ROOT


@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row.name))
def test_a_row_can_be_measured(row: Row, tmp_path: Path) -> None:
    options = ["--quick", "--no-wrangler", "--rounds", "1", "--results", str(tmp_path)]

    done = subprocess.run(
        [sys.executable, "-m", "bench", row.name, *options], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr
    assert all(metric.title in done.stdout for metric in row.metrics)
    (file,) = tmp_path.iterdir()
    figures = json.loads(file.read_text())["rows"][row.name]
    assert figures.keys() == {metric.key for metric in row.metrics}
    assert all(isinstance(figure, int | float) for sides in figures.values() for (figure,) in sides.values())
