"""What is known of the differences between the official local engine and ours: differences.json."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from tests.golden.compare import Known, Verdict, judge
from tests.golden.suites import DIFFERENCES

Kind = Literal["design", "quirk", "harness"]

KINDS: dict[Kind, str] = {
    "design": "production differs from its local engine, and we follow production",
    "quirk": "a fault of the local engine, which we do not repeat",
    "harness": "something that only the local engine's test harness shows",
}


@dataclass(frozen=True, slots=True)
class Reason:
    """Why something differs; ``source`` is a case of docs/conformance.md, or a page of docs/."""

    kind: Kind
    why: str
    source: str
    always: bool = True  # else it is a matter of time whether the difference shows


@dataclass(frozen=True, slots=True)
class Differences:
    """All that is known: the reasons by name, and for each suite's traces the differing paths with their reasons."""

    reasons: dict[str, Reason]
    suites: dict[str, dict[str, Known]]

    def judge(self, suite: str, trace: str, theirs: Any, ours: Any) -> Verdict:
        """Compare two traces with what is known of their differences."""
        at_times = {name for name, reason in self.reasons.items() if not reason.always}
        return judge(theirs, ours, self.suites[suite].get(trace, {}), at_times)


@cache
def known() -> Differences:
    """Read the file."""
    data = json.loads(DIFFERENCES.read_text("utf-8"))
    reasons = {name: Reason(**reason) for name, reason in data.pop("reasons").items()}
    return Differences(reasons, data)
