"""``python -m tests.crash [--kills N] [--seed S] [--keep DIR] [--js]``: kill the real command again and again."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tests.crash.campaign import run_campaign
from tests.crash.moments import JAVASCRIPT_POINTS
from tests.crash.project import JAVASCRIPT, PYTHON


def main() -> int:
    """Run a campaign and print its histogram; the status is 1 when anything was wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.crash", description=__doc__)
    parser.add_argument("--kills", type=int, default=50, help="how many kills (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 100_000, help="of everything left to chance")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="work in this folder and leave it there")
    parser.add_argument(
        "--js", action="store_true", help="crash a JavaScript project, at points between commit and effect"
    )
    given = parser.parse_args()
    subject, points = (JAVASCRIPT, JAVASCRIPT_POINTS) if given.js else (PYTHON, ())
    with tempfile.TemporaryDirectory(prefix="celld-py-crash-") as scratch:
        report = run_campaign(given.keep or Path(scratch), given.kills, given.seed, subject, points)
    print(report)
    return 1 if report.violations or report.missed else 0


if __name__ == "__main__":
    sys.exit(main())
