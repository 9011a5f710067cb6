"""When the server is killed: at each point that the code names, and at any moment."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from tests.dev import ROOT

POINT = re.compile(r'(?<![\w.])fault\("([a-z_.]+)"\)')

# Points of the way back from a crash: each is passed only after a crash at the point beside it.
FOLLOWS = {
    "recover.half_created": "create.after_file",
    "recover.half_dropped": "create.after_row",
    "recover.half_deleted": "delete.after_row",
    "lost.before_commit": "instance.after_effects",
    "lost.after_commit": "instance.after_effects",
}

HOST, WORK, FRONT, ALL = "host", "work isolate", "front isolate", "host and isolates"
WORKERD = "workerd"

# Who may be killed, and how often beside the others: of a Python project, and of a JavaScript one.
Victims = Mapping[str, int]
PYTHON: Victims = {HOST: 4, WORK: 3, FRONT: 1, ALL: 3}
JAVASCRIPT: Victims = {HOST: 3, WORKERD: 4, ALL: 3}

# What is committed and not yet acted on is what a crash could lose or do twice.
BETWEEN_COMMIT_AND_EFFECT = (
    "journal.after_commit",
    "instance.before_effects",
    "instance.after_effects",
    "binding.before_answer",
    "lost.after_commit",
)
OF_STREAMS = ("block.before_commit", "block.after_commit")  # steps of the Python project return none
JAVASCRIPT_POINTS = (*BETWEEN_COMMIT_AND_EFFECT, *BETWEEN_COMMIT_AND_EFFECT, *OF_STREAMS)

_TURNS = (1, 2, 3)  # at which pass of a point it strikes
_OFTEN = ("binding.", "instance.", "journal.")  # points that are passed many times a second


@dataclass(frozen=True, slots=True)
class Moment:
    """One kill that is to be: at a point (which the host passes, and dies), or at any moment."""

    victim: str
    point: str | None = None
    turn: int = 1
    tries: int = 1  # how often it is waited for, this time included

    @property
    def name(self) -> str:
        """As the histogram has it."""
        return self.point or f"any moment: {self.victim}"

    def again(self) -> list[Moment]:
        """The same at its first pass, with what has to come before."""
        assert self.point is not None
        before = [Moment(HOST, FOLLOWS[self.point])] if self.point in FOLLOWS else []
        return [*before, Moment(self.victim, self.point, 1, self.tries + 1)]


def named_points() -> list[str]:
    """All points of the host's code, so that a new one cannot be forgotten."""
    files = sorted((ROOT / "runtime").rglob("*.py"))
    return sorted({name for file in files for name in POINT.findall(file.read_text()) if file.name != "faults.py"})


def plan(kills: int, points: Sequence[str], random: Random, victims: Victims = PYTHON) -> list[Moment]:
    """At least that many moments: every victim at any moment, then every point and what chance adds, shuffled."""
    first = [Moment(victim) for victim in victims]
    groups = [_at(point, random) for point in points]
    while len(first) + sum(map(len, groups)) < kills:
        groups.append(_at(random.choice(points), random) if random.random() < 0.4 else [_any(random, victims)])
    random.shuffle(groups)
    return first + [moment for group in groups for moment in group]


def _at(point: str, random: Random) -> list[Moment]:
    before = FOLLOWS.get(point)
    if before is not None:
        return [Moment(HOST, before), Moment(HOST, point)]
    turn = random.randint(1, 50) if point.startswith(_OFTEN) else random.choice(_TURNS)
    return [Moment(HOST, point, turn)]


def _any(random: Random, victims: Victims) -> Moment:
    return Moment(random.choices(list(victims), list(victims.values()))[0])
