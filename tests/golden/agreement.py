"""Plays a suite on `celld-py dev` and says in which traces it does not agree with what is known."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

from tests.dev import dev
from tests.golden.compare import Verdict
from tests.golden.known import Differences
from tests.golden.suites import Suite, Traces

TAKES = 3  # how often a trace that does not agree is looked at again: on a busy machine a scenario may come out of step

Play = Callable[[Iterable[str]], Traces]


def disagreements(suite: Suite, known: Differences, folder: Path) -> dict[str, Verdict]:
    """Run the suite's Worker in a copy in ``folder``; gives the verdicts that are not right, by trace."""
    project = shutil.copytree(suite.worker, folder / suite.name, ignore=shutil.ignore_patterns(".*"))
    with dev(Path(project), "--no-watch") as server:
        return judged(suite, known, lambda names: suite.play(server.url, names))


def judged(suite: Suite, known: Differences, play: Play) -> dict[str, Verdict]:
    """The verdicts of the traces that are right in no take: for each that of its best take."""
    wrong: dict[str, Verdict] = {}
    names = list(suite.theirs)
    for _ in range(TAKES):
        for name, ours in (play(names) if names else {}).items():
            verdict = known.judge(suite.name, name, suite.theirs[name], ours)
            wrong[name] = min(verdict, wrong.get(name, verdict), key=lambda each: each.count)
        names = [name for name in names if not wrong[name].right]
    return {name: wrong[name] for name in names}
