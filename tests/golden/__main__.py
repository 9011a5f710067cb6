"""``python -m tests.golden [--page] [SCENARIO...]``: compare with the official engine, and write docs/golden.md."""

from __future__ import annotations

import argparse
import dataclasses
import sys
import tempfile
from pathlib import Path

from tests.golden.agreement import disagreements
from tests.golden.known import known
from tests.golden.page import PAGE, page
from tests.golden.suites import Suite, official, ours


def main() -> int:
    """Compare, tell what is wrong, and write the page when nothing is."""
    parser = argparse.ArgumentParser(prog="python -m tests.golden", description=__doc__)
    parser.add_argument("--page", action="store_true", help="only write docs/golden.md")
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO", help="compare only these")
    given = parser.parse_args()
    suites = [] if given.page else [suite for suite in (ours(), official()) if suite is not None]
    wrong = [suite.name for suite in suites if _compare(suite, given.scenarios)]
    if wrong:
        return 1
    PAGE.write_text(page(known()), "utf-8")
    return 0


def _compare(suite: Suite, only: list[str]) -> bool:
    """Compare one suite; whether anything is wrong."""
    theirs = {name: trace for name, trace in suite.theirs.items() if not only or name in only}
    with tempfile.TemporaryDirectory() as folder:
        part = dataclasses.replace(suite, theirs=theirs)
        wrong = disagreements(part, known(), Path(folder)) if theirs else {}
    for name, verdict in wrong.items():
        for difference in verdict.unlisted:
            print(f"{suite.name} {name} {difference}")
        for path in verdict.vanished:
            print(f"{suite.name} {name} {path}: it is listed, and does not differ")
    print(f"{suite.name}: {len(theirs)} traces, {len(wrong)} not as known")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
