"""The side-effect file, and what no order of crashes may ever put into it."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple


class Effect(NamedTuple):
    """One line that a step's body wrote."""

    instance: str
    step: str
    attempt: int
    phase: Literal["start", "end", "fail"]
    pid: int
    at: int = 0  # where the line begins in the file


class EffectFile:
    """The file, read as it grows."""

    def __init__(self, path: Path, last: str) -> None:
        self.path = path
        self.effects: list[Effect] = []
        self.closed: set[str] = set()  # instances whose ``last`` step has ended
        self._last = last
        self._read = 0

    def read(self) -> None:
        """Take in what was written since."""
        if not self.path.exists():
            return
        with self.path.open("rb") as file:
            file.seek(self._read)
            for line in file:
                instance, step, attempt, phase, pid = json.loads(line)
                effect = Effect(instance, step, attempt, phase, pid, self._read)
                self._read += len(line)
                self.effects.append(effect)
                if effect.step == self._last and effect.phase == "end":
                    self.closed.add(effect.instance)

    def undead(self, instance: str, deleted_at: int) -> str | None:
        """Whether a deleted instance did something in an isolate that came after its deletion."""
        known = {effect.pid for effect in self.effects if effect.at < deleted_at}
        for effect in self.effects:
            if effect.instance == instance and effect.at >= deleted_at and effect.pid not in known:
                return f"{effect.step} ran after the instance was deleted"
        return None


@dataclass
class _Step:
    """What the file has told of one step so far."""

    attempt: int = 0  # the last one that started
    runs_in: int | None = None  # the process in which it runs, as far as the file tells
    ended: bool = False  # its last attempt ended well
    seen: bool = False  # later code has got its result


class Judge:
    """Reads the file line by line; ``seen`` names for each step those whose results its code had seen."""

    def __init__(self, seen: Mapping[str, frozenset[str]]) -> None:
        self._seen = seen
        self._steps: dict[tuple[str, str], _Step] = defaultdict(_Step)

    def violations(self, effects: Iterable[Effect]) -> Iterator[str]:
        """What is wrong in the file."""
        for effect in effects:
            step = self._steps[effect.instance, effect.step]
            for problem in self._start(step, effect) if effect.phase == "start" else self._end(step, effect):
                yield f"{effect.instance}: {effect.step}, attempt {effect.attempt}: {problem}"

    def _start(self, step: _Step, effect: Effect) -> Iterator[str]:
        if step.seen:
            yield "it ran again after later code had its result"
        if effect.attempt <= step.attempt:
            yield "it started twice" if effect.attempt == step.attempt else f"it came after attempt {step.attempt}"
        if step.runs_in == effect.pid:
            yield f"attempt {step.attempt} had not ended in the same process"
        step.attempt, step.runs_in, step.ended = effect.attempt, effect.pid, False
        for name in sorted(self._seen[effect.step]):
            before = self._steps[effect.instance, name]
            before.seen = True
            if not before.ended:
                yield f"{name} had not ended"

    def _end(self, step: _Step, effect: Effect) -> Iterator[str]:
        if effect.attempt != step.attempt:
            yield f"it went on after attempt {step.attempt} had started"
        step.runs_in, step.ended = None, effect.phase == "end"
