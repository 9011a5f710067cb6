"""Runs a scenario once for each commit, with a crash right after that commit, and wants the same outcome each time."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from runtime.store import Key

from . import history
from .errors import OutcomeDiffers
from .memory import KeptInMemory
from .side_effects import SideEffects
from .worker import Worker

Scenario = Callable[[Worker], Any]
Observe = Callable[[], object]
Project = str | Path | Callable[[], Worker]


@dataclass
class CrashReport:
    """What was tried."""

    commits: int = 0  # how many there are, and so how many crashes were tried
    ran_twice: list[str] = field(default_factory=list)  # "workflow: step": their bodies were begun again after a crash

    outside_steps: list[str] = field(default_factory=list)  # lines that write or connect there, and what they do

    def __str__(self) -> str:
        again = ", ".join(self.ran_twice) or "none"
        told = f"{self.commits} crashes, each with the same outcome; steps whose body ran twice: {again}"
        if self.outside_steps:
            lines = "".join(f"\n  {line}" for line in self.outside_steps)
            told += f"; outside steps, and so again with every replay:{lines}"
        return told


def crash_everywhere(
    project: Project,
    scenario: Scenario,
    observe: Observe | None = None,
    *,
    output: Callable[[Any], Any] = lambda output: output,
    **options: Any,
) -> CrashReport:
    """Run ``scenario(worker)`` undisturbed, and then again for each commit with a crash right after it.

    ``project`` is a project's folder (``options`` are those of `Worker.open`), or a function that opens a Worker. Each
    time all instances must end with the same status, output and error, and ``observe()`` must give the same. The
    scenario starts by bringing what ``observe`` looks at to its beginning. Otherwise `OutcomeDiffers` tells after which
    commit, and names lines outside steps that have side effects, or lines that keep something in memory.

    What nobody observes changes no outcome. Still, lines outside steps that write files, open connections or start
    processes are listed in the report.

    A crash costs the running attempt, so a step's attempt number, or a random value that it makes, may well differ;
    ``output`` leaves such things out of an instance's output.
    """
    trials = _Trials(project, scenario, observe or (lambda: None), output, options)
    usual, effects = trials.undisturbed()
    report = CrashReport(usual.commits, outside_steps=effects)
    twice: Counter[str] = Counter()
    for number in range(1, usual.commits + 1):
        trial = trials.run(number)
        if trial.outcome != usual.outcome:
            raise OutcomeDiffers(trials.explain(usual, trial))
        twice |= trial.began - usual.began
    report.ran_twice = sorted(twice)
    return report


@dataclass
class Trial:
    """One run of the scenario."""

    crash_at: int
    commits: int = 0
    where: str = "nowhere"  # the commit after which it crashed
    outcome: list[str] = field(default_factory=list)
    began: Counter[str] = field(default_factory=Counter)


class _Trials:
    """Runs a scenario again and again, each time in a new Worker."""

    def __init__(
        self,
        project: Project,
        scenario: Scenario,
        observe: Observe,
        output: Callable[[Any], Any],
        options: dict[str, Any],
    ) -> None:
        self._project = project
        self._scenario = scenario
        self._observe = observe
        self._output = output
        self._options = {"now": time.time_ns() // 1_000_000, **options}  # one for all: outputs may tell the time

    def undisturbed(self) -> tuple[Trial, list[str]]:
        """The usual course, and what of code outside steps Python audits in it."""
        with self._open() as worker:
            effects = SideEffects(worker.session.project.main.parent, self._observe)
            with effects.watching():
                trial = self._try(worker, 0)
        return trial, effects.told()

    def run(self, crash_at: int) -> Trial:
        with self._open() as worker:
            return self._try(worker, crash_at)

    def _open(self) -> Worker:
        if callable(self._project):
            return self._project()
        return Worker.open(self._project, **self._options)

    def _try(self, worker: Worker, crash_at: int) -> Trial:
        trial = Trial(crash_at)

        def committed(point: str, key: Key | None) -> None:
            trial.commits += 1
            if trial.commits == crash_at:
                trial.where = _described(worker, point, key)
                worker.session.stand_still()

        worker.session.kept.on_commit = committed
        error = self._play(worker)
        worker.session.kept.on_commit = lambda point, key: None
        if error is not None and not crash_at:
            raise error
        trial.outcome = [
            *_outcome(worker, self._output),
            f"observed: {self._observe()!r}",
            f"the scenario raised: {error!r}",
        ]
        trial.began = Counter(f"{body.key.workflow}: {body.step}" for body in worker.session.kept.began.elements())
        return trial

    def _play(self, worker: Worker) -> Exception | None:
        try:
            self._scenario(worker)
        except Exception as error:
            return error  # of a crash; part of what came out
        return None

    # ----------------------------------------------------------------------------------------------- explanation

    def explain(self, usual: Trial, trial: Trial) -> str:
        """What differs, and which lines may be the reason."""
        lines = [f"A crash right after commit {trial.crash_at} of {usual.commits} ({trial.where}) changes the outcome."]
        pairs = zip(_padded(usual.outcome, trial), _padded(trial.outcome, usual), strict=True)
        for before, after in pairs:
            if before != after:
                lines += [f"  undisturbed: {before}", f"  with crash:  {after}"]
        if found := self._seen(lambda folder: SideEffects(folder, self._observe), trial.crash_at):
            lines.append("Code outside steps runs again after a crash, and this has side effects; put it into a step:")
        elif found := self._seen(KeptInMemory, 0):
            lines.append("A crash loses what is in memory, and this is kept there; give it out of a step instead:")
        else:
            lines.append("No side effect outside steps was seen. Does the code keep something in memory between steps?")
        return "\n".join([*lines, *(f"  {line}" for line in found)])

    def _seen(self, watch: Callable[[Path], SideEffects], crash_at: int) -> list[str]:
        """What is found in a trial that is watched line by line."""
        with self._open() as worker:
            effects = watch(worker.session.project.main.parent)
            worker.session.kept.trace = effects.trace  # of the threads to come
            worker.run(lambda: sys.settrace(effects.trace))
            with effects.watching():
                self._try(worker, crash_at)
            return effects.told()


def _outcome(worker: Worker, output: Callable[[Any], Any]) -> list[str]:
    """How the instances ended, in the order of their creation; ids may be different each time."""
    shown = []
    for instance in worker.instances:
        status = instance.status()
        kept = {name: status[name] for name in ("status", "output", "error", "rollback") if name in status}
        if status["status"] == "complete":
            kept["output"] = output(status["output"])
        shown.append(f"{instance.workflow}: {kept!r}")
    return shown


def _padded(outcome: list[str], other: Trial) -> list[str]:
    return outcome + ["nothing"] * (len(other.outcome) - len(outcome))


def _described(worker: Worker, point: str, key: Key | None) -> str:
    """What was committed last."""
    if key is None:
        return point
    last = history.entries(worker.session.committed(key))[-1:]
    event = " ".join(f"{entry['kind']} {entry.get('step_name', '')}".strip() for entry in last)
    return f"{point} of {key.workflow}: {event}"
