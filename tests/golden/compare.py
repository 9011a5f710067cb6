"""Two traces of one scenario, path by path: what differs, and whether that is known and has a reason.

A path such as ``$.notes[2][1].name`` leads to a value. ``[+3]`` is an entry of a list that only our trace has, by its
place there. In the list of known differences ``[*]`` stands for any entry. Times and random numbers are no difference.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

MISSING = "(missing)"
TIMES = frozenset({"t", "elapsed", "attempt_gaps_ms"})  # members that say when, or for how long
STATUSES = frozenset(
    {"queued", "running", "waiting", "waitingForPause", "paused", "complete", "errored", "terminated", "unknown"}
)
RANDOM_DIGITS = 14  # a number with fewer was written by somebody
_ENTRY = re.compile(r"\[\+?\d+\]")

Known = Mapping[str, str]
"""The known differences of a trace: the name of the reason, by path."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One place at which two traces differ."""

    path: str
    theirs: Any
    ours: Any

    def __str__(self) -> str:
        return f"{self.path}: theirs {_short(self.theirs)}, ours {_short(self.ours)}"


@dataclass(slots=True)
class Verdict:
    """What is to be said of one trace."""

    unlisted: list[Difference] = field(default_factory=list)
    vanished: list[str] = field(default_factory=list)  # known paths at which nothing differs

    @property
    def right(self) -> bool:
        """Whether the trace is equal but for what is known."""
        return self.count == 0

    @property
    def count(self) -> int:
        """How many things are not as they are known."""
        return len(self.unlisted) + len(self.vanished)


def judge(theirs: Any, ours: Any, known: Known, at_times: Collection[str] = ()) -> Verdict:
    """Compare two traces of a scenario with what is known; differences for reasons ``at_times`` need not be there."""
    found = list(differences(theirs, ours))
    matched = {path for path in known for difference in found if _leads_to(path, difference.path)}
    unlisted = [each for each in found if not any(_leads_to(path, each.path) for path in known)]
    vanished = [path for path, reason in known.items() if path not in matched and reason not in at_times]
    return Verdict(unlisted, vanished)


def _leads_to(pattern: str, path: str) -> bool:
    return pattern == path or ("[*]" in pattern and pattern == _generalised(path, pattern))


def _generalised(path: str, pattern: str) -> str:
    """The path with ``[*]`` wherever the pattern has it."""
    stars = iter(_ENTRY_OR_STAR.findall(pattern))
    return _ENTRY.sub(lambda entry: "[*]" if next(stars, "") == "[*]" else entry[0], path)


_ENTRY_OR_STAR = re.compile(r"\[(?:\+?\d+|\*)\]")


def differences(theirs: Any, ours: Any, path: str = "$") -> Iterator[Difference]:
    """Everything that differs, times left out."""
    theirs, ours = _settled(theirs), _settled(ours)
    if isinstance(theirs, dict) and isinstance(ours, dict):
        for name in [*theirs, *(name for name in ours if name not in theirs)]:
            if name not in TIMES:
                yield from differences(theirs.get(name, MISSING), ours.get(name, MISSING), _member(path, name))
    elif isinstance(theirs, list) and isinstance(ours, list):
        yield from _of_lists(theirs, ours, path)
    elif (theirs != ours or isinstance(theirs, bool) != isinstance(ours, bool)) and not _random(theirs, ours):
        yield Difference(path, theirs, ours)


def _settled(value: Any) -> Any:
    """Statuses that were seen one after another: which ones a look caught is a matter of time, the last one is not."""
    if isinstance(value, list) and value and all(isinstance(each, str) and each in STATUSES for each in value):
        return value[-1]
    return value


def _random(*values: Any) -> bool:
    """Whether all are what Math.random() gives."""
    return all(isinstance(value, float) and 0 < value < 1 and len(repr(value)) > RANDOM_DIGITS for value in values)


def _member(path: str, name: str) -> str:
    return f"{path}.{name}" if re.fullmatch(r"[\w$-]+", name) else f"{path}[{json.dumps(name)}]"


def _of_lists(theirs: Sequence[Any], ours: Sequence[Any], path: str) -> Iterator[Difference]:
    if len(theirs) == len(ours):
        for i, (their, our) in enumerate(zip(theirs, ours, strict=True)):
            yield from differences(their, our, f"{path}[{i}]")
        return
    matcher = difflib.SequenceMatcher(None, [_key(each) for each in theirs], [_key(each) for each in ours], False)
    for kind, first, last, our_first, our_last in matcher.get_opcodes():
        if kind == "equal":
            for i, j in zip(range(first, last), range(our_first, our_last), strict=True):
                yield from differences(theirs[i], ours[j], f"{path}[{i}]")
            continue
        for i in range(first, last):
            yield Difference(f"{path}[{i}]", theirs[i], MISSING)
        for j in range(our_first, our_last):
            yield Difference(f"{path}[+{j}]", MISSING, ours[j])


def _key(entry: Any) -> str:
    """By what entries of lists of unequal length are recognised: an event by what happened, a note by its label."""
    if isinstance(entry, dict) and ("type" in entry or "label" in entry):
        return json.dumps([entry.get(name) for name in ("type", "stepName", "attempt", "label")])
    if isinstance(entry, list) and entry and isinstance(entry[0], str):
        return entry[0]
    return json.dumps(entry, sort_keys=True)


def _short(value: Any) -> str:
    text = value if value is MISSING else json.dumps(value)
    return text if len(text) < 200 else f"{text[:200]}..."
