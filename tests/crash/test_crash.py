"""kill -9 at every point that the code names and at any moment, with acknowledged work in flight.

``CELLD_PY_KILLS=500`` makes it a long run, ``CELLD_PY_SEED`` repeats one.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from tests.crash.campaign import run_campaign
from tests.crash.moments import BETWEEN_COMMIT_AND_EFFECT, JAVASCRIPT_POINTS
from tests.crash.project import JAVASCRIPT

KILLS = int(os.environ.get("CELLD_PY_KILLS", "50"))
BETWEEN = 10  # of them between a commit and its effects, where JavaScript is concerned
SEED = int(os.environ.get("CELLD_PY_SEED", time.time_ns() % 100_000))


@pytest.mark.timeout(120 + 12 * KILLS)
def test_nothing_acknowledged_is_lost_and_nothing_committed_runs_again(tmp_path: Path) -> None:
    report = run_campaign(tmp_path, KILLS, SEED)
    print(report)
    assert not report.violations
    assert not report.missed
    assert report.kills.total() >= KILLS


@pytest.mark.usefixtures("tools")
@pytest.mark.timeout(120 + 12 * KILLS)
def test_nothing_is_lost_or_runs_again_in_javascript(tmp_path: Path) -> None:
    report = run_campaign(tmp_path, KILLS, SEED, JAVASCRIPT, JAVASCRIPT_POINTS)
    print(report)
    assert not report.violations
    assert not report.missed
    assert report.kills.total() >= KILLS
    assert sum(report.kills[point] for point in BETWEEN_COMMIT_AND_EFFECT) >= BETWEEN
