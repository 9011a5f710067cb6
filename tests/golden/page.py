"""docs/golden.md: every trace of the official local engine, and whether ours is equal to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from tests.golden.compare import Known
from tests.golden.known import KINDS, Differences

PAGE = Path(__file__).parents[2] / "docs" / "golden.md"

# Nearly every trace shows a status, whose members differ; it is told once, and what else a trace has beside it.
STATUS = frozenset({"status-without-step-outputs", "status-with-rollback"})

_INTRODUCTION = """\
# Traces of the official local engine

The same JavaScript Workers ran under `wrangler dev` 4.164 and under `celld-py dev`, scenario by scenario, and what each
of them saw was compared value by value, times aside. A trace is **equal**, or what differs in it has a reason:

{kinds}

`python -m tests.golden` compares anew and writes this page. Each difference is listed in
[`tests/golden/differences.json`](../tests/golden/differences.json), with its path in the trace; the comparison fails on
one that is not listed there, and on one that is listed and has vanished.
"""

_TITLES = {
    "official": "Traces of a Worker made to try out the official engine",
    "recorded": "Traces of the scenarios in `tests/golden/worker`",
}


def page(differences: Differences) -> str:
    """The text of the page."""
    kinds = "\n".join(f"* **{kind}**: {meaning};" for kind, meaning in KINDS.items())
    parts = [_INTRODUCTION.format(kinds=f"{kinds[:-1]}."), _reasons(differences)]
    parts += [_suite(_TITLES[name], traces, differences) for name, traces in sorted(differences.suites.items())]
    return "\n".join(parts)


def _reasons(differences: Differences) -> str:
    rows = [
        f"| {name} | {reason.kind} | {reason.why} | {reason.source} |\n"
        for name, reason in sorted(differences.reasons.items(), key=lambda each: (each[1].kind, each[0]))
    ]
    return f"## Reasons\n\n| reason | kind | what differs | shown by |\n| --- | --- | --- | --- |\n{''.join(rows)}"


def _suite(title: str, traces: Mapping[str, Known], differences: Differences) -> str:
    rows = [f"| {name} | {_verdict(known)} |\n" for name, known in traces.items()]
    equal = sum(not known for known in traces.values())
    like = sum(bool(known) and set(known.values()) <= STATUS for known in traces.values())
    kinds = Counter(kind for known in traces.values() for kind in _kinds(known, differences))
    others = ", ".join(f"{kinds[kind]} of kind {kind}" for kind in KINDS)
    counts = (
        f"{len(traces)} traces: {equal} equal, {like} equal but for what `status()` has; "
        f"of the others have a reason {others}."
    )
    return f"## {title}\n\n{counts}\n\n| trace | ours |\n| --- | --- |\n{''.join(rows)}"


def _kinds(known: Known, differences: Differences) -> set[str]:
    return {differences.reasons[name].kind for name in known.values() if name not in STATUS}


def _verdict(known: Known) -> str:
    counted = Counter(name for name in known.values() if name not in STATUS)
    if not counted:
        return "equal, but for what `status()` has" if known else "equal"
    return ", ".join(f"{reason} ({count})" if count > 1 else reason for reason, count in counted.items())
