"""What must hold of a host and its isolates, seen from outside: the journals, the messages, and what the code did.

The model knows of each instance what its journal says (`story.py`), what its callers were told, and what its code
did and heard in all of its runs, which no crash makes it forget.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from runtime.engine import decode
from runtime.engine.views import context_config
from runtime.store.types import Key, Line
from tests.engine.journal_laws import check
from tests.simulation.code import Made
from tests.simulation.isolate import ScriptedIsolate
from tests.simulation.story import Step, Story
from workers_shim.call import Outcome


class Life:
    """One instance from its creation to its deletion."""

    def __init__(self, key: Key) -> None:
        self.key = key
        self.story = Story()
        self.run: int | None = None  # the run that may be heard
        self.executed: set[tuple[int, int]] = set()  # (step, attempt) whose callback began
        self.undone: set[tuple[int, int, int]] = set()  # (epoch, step, attempt) whose undo function began
        self.heard: dict[int, list[tuple[str, str]]] = {}  # epoch -> what run() was given, in order
        self.outputs: dict[int, str] = {}  # epoch -> what run() gave
        self.acknowledged: set[str] = set()  # payloads of events


@dataclass(frozen=True, slots=True)
class Run:
    """An execution of run()."""

    life: Life
    epoch: int
    isolate: ScriptedIsolate


@dataclass(slots=True)
class Model:
    """The `Judge` of all isolates, and the reader of all journals."""

    committed: dict[Key, list[Line]]  # what a crash would leave
    lives: dict[Key, Life] = field(default_factory=dict)
    runs: dict[int, Run] = field(default_factory=dict)
    isolates: list[ScriptedIsolate] = field(default_factory=list)
    callbacks: list[tuple[Life, int]] = field(default_factory=list)  # every execution of a callback, and its step
    laws: Counter[str] = field(default_factory=Counter)  # how often each was asked

    # -------------------------------------------------------------------------------------------------- journals

    def life(self, key: Key) -> Life:
        """The instance as its journal has it now."""
        life = self.lives.get(key)
        if life is None:
            life = self.lives[key] = Life(key)
        lines = self.committed[key]
        for line in lines[life.story.lines :]:
            life.story.learn(decode(line.data))
        return life

    def catch_up(self) -> None:
        """Read all that was committed."""
        for key, lines in self.committed.items():
            life = self.lives.get(key)
            if life is None or life.story.lines < len(lines):
                self.life(key)

    def forget(self, key: Key) -> None:
        """The instance is deleted."""
        self.lives.pop(key, None)

    def host_died(self, committed: dict[Key, list[Line]]) -> None:
        """All isolates end with the host; what was committed is what there is."""
        self.committed = committed
        self.runs.clear()
        self.isolates.clear()
        for key, life in [*self.lives.items()]:
            life.run = None
            if key not in committed:
                self.forget(key)
            else:
                assert life.story.lines <= len(committed[key]), "what was committed is lost"
                assert self.life(key).story.completing is None, "I2: a decision is committed in two parts"

    # -------------------------------------------------------------------------------- what the host tells isolates

    def told(self, isolate: ScriptedIsolate, message: Mapping[str, Any]) -> None:
        """I1: it may tell what is committed, and nothing else."""
        kind = message["t"]
        if kind == "start":
            self._start(isolate, message)
            return
        if message["run"] not in self.runs:
            assert kind == "release", "a run is told something before it has begun"
            return
        run = self.runs[message["run"]]
        if kind == "release":
            if run.life.run == message["run"]:
                run.life.run = None
        elif kind in ("exec", "ret", "delay") and not message.get("refused"):
            self._catch_up(run.life)
            assert run.life.run == message["run"], f"a dead run is told {kind}"
            call = isolate.codes[message["run"]].calls[message["call"]]
            step = run.life.story.current[call.identity]
            self._judge(kind, step, message, run.life.story)
        elif kind == "undo":
            self._catch_up(run.life)
            story = run.life.story
            step = story.steps[story.undo[-1]]
            assert step.identity == ("do", message["name"], message["nth"]) and story.undo_live
            assert message["attempt"] == story.undo_attempt, "an undo runs when its attempt is in the journal"

    def _catch_up(self, life: Life) -> None:
        if self.lives.get(life.key) is life and life.key in self.committed:
            self.life(life.key)

    def _start(self, isolate: ScriptedIsolate, message: Mapping[str, Any]) -> None:
        life = self.life(Key(message["workflow"], message["instance"]))
        assert life.run is None, "I10: an instance has one live run"
        story = life.story
        assert story.begun[story.epoch] == 1, "I1: a run begins when the journal says so"
        life.run = message["run"]
        self.runs[message["run"]] = Run(life, story.epoch, isolate)
        given = [entry for entry in message["journal"] if entry[0] in "vel"]
        known = [step for step in story.settled if not step.parent]
        assert [tuple(entry[1:4]) for entry in given] == [step.identity for step in known], "I5: the order of results"
        for entry, step in zip(given, known, strict=True):
            value = entry[4] if entry[0] == "v" else entry[4]["message"]
            assert fits(step, story, value), f"a replay gives {step.identity} {value!r}, not {step.outcome!r}"
        self.laws["replays"] += bool(given)

    def _judge(self, kind: str, step: Step, message: Mapping[str, Any], story: Story) -> None:
        if kind == "exec":
            assert not step.settled, "I1: a committed step runs again"
            assert step.live and step.attempts == message["attempt"], "I3: an attempt is journalled before it runs"
            assert step.config is not None and message["config"] == context_config(step.config), "I6"
        elif kind == "delay":
            assert step.asked and step.attempts == message["attempt"]
        else:
            assert step.settled, "I1: user code sees a result only after it is committed"
            value = message["error"]["message"] if "error" in message else message["value"]
            assert fits(step, story, value), f"{step.identity} gives {value!r}, not {step.outcome!r}"

    # ------------------------------------------------------------------------------------------ what the code does

    def began(self, run: int, call: Made, attempt: int) -> int:
        """A callback begins."""
        known = self.runs[run]
        life = known.life
        self._catch_up(life)
        step = life.story.current.get(call.identity)
        if life.run == run and not (step is not None and step.abandoned):  # else it was given up on the way here
            assert step is not None and not step.settled, "I1: a committed step runs again"
            assert step.live and step.attempts == attempt, "I3: an attempt that the journal does not have runs"
            assert (step.number, attempt) not in life.executed, "I3: an attempt runs once"
            life.executed.add((step.number, attempt))
            others = [body for body in self._running() if self.callbacks[body - 1] == (life, step.number)]
            assert not others, "I3: two attempts of a step run at once"
        self.callbacks.append((life, 0 if step is None or life.run != run else step.number))
        self.laws["callbacks"] += 1
        return len(self.callbacks)

    def _running(self) -> list[int]:
        return [
            body.execution
            for isolate in self.isolates
            for code in isolate.codes.values()
            for body in code.attempts.values()
            if body.execution
        ]

    def heard(self, run: int, call: Made, outcome: Outcome, place: int) -> None:
        """I5: each run of an epoch is given what the first was given, in the same order."""
        known = self.runs[run]
        if known.epoch in known.life.story.partial:
            return
        trace = known.life.heard.setdefault(known.epoch, [])
        given = (repr(call.identity), outcome.text or str(outcome.error))
        if place == len(trace):
            trace.append(given)
        assert trace[place] == given, f"I5: replay is given {given}, and was given {trace[place]}"
        self.laws["results"] += 1

    def mismatch(self, run: int, call: Made | None) -> None:
        """I12: code that is a function of its results fits its journal."""
        what = "nothing more" if call is None else call.identity
        raise AssertionError(f"I12: a replay of run {run} that does not fit: {what}")

    def ended(self, run: int, output: str) -> None:
        """run() gives the same each time."""
        known = self.runs[run]
        if known.epoch not in known.life.story.partial:
            assert known.life.outputs.setdefault(known.epoch, output) == output, "I5: another output after a replay"

    def undoing(self, run: int, name: str, nth: int, attempt: int) -> None:
        """An attempt of an undo function begins."""
        life = self.runs[run].life
        if life.run == run:
            step = life.story.current["do", name, nth]
            ran = (life.story.epoch, step.number, attempt)
            assert ran not in life.undone, "an attempt of an undo function runs once"
            life.undone.add(ran)
        self.laws["undos"] += 1

    # ------------------------------------------------------------------------------------------------ at any rest

    def acknowledged(self, key: Key, payload: str) -> None:
        """I7: an event whose sender was told so is in the journal."""
        life = self.life(key)
        assert payloads(life.story)[payload] == 1, "I7: an acknowledged event is not in the journal"
        life.acknowledged.add(payload)

    def rests(self, now: int) -> None:
        """No event lies beside a wait that wants it."""
        for life in self.lives.values():
            story = life.story
            if story.status in ("queued", "running", "waiting", "waitingForPause"):
                for step in story.opened():
                    if step.type and step.due is not None and step.due > now:
                        # One that came after the deadline is the next wait's, also when the clock is set back since.
                        fit = [number for number in story.kept.get(step.type, ()) if story.events[number].at < step.due]
                        assert not fit, "I7: an event and its wait do not meet"

    def ends(self, key: Key) -> None:
        """What must hold when everything has come to its end."""
        life = self.lives[key]
        story = life.story
        state = check([decode(line.data) for line in self.committed[key]])
        assert (state.status, set(state.records)) == (story.status, set(story.steps)), "both folds see the same"
        assert story.begun[story.epoch] <= 1, "I8: an acknowledged create runs once"
        assert all(count == 1 for count in payloads(story).values()), "I7: an event is received once"
        assert life.undone.issuperset(story.undone_by), "an undo that is in the journal has run"
        if story.status == "complete" and story.epoch not in story.partial:
            assert story.output == life.outputs[story.epoch], "the output is what the code gave"


def payloads(story: Story) -> Counter[str]:
    """How often each event was received."""
    return Counter(event.payload for event in story.events.values())


def fits(step: Step, story: Story, value: str) -> bool:
    """Whether a value, or an error's message, is what the step settled with."""
    if step.identity[0] == "do":
        return value == step.outcome
    if step.event:
        event = story.events[step.event]
        return '"type":' in value and event.payload[1:-1] in value
    return value == "-1" if not step.outcome else "timed out" in value


def same_lines(before: Mapping[Key, int], committed: Mapping[Key, Sequence[Line]]) -> set[Key]:
    """The instances to which nothing happened since their lines were counted."""
    return {key for key, lines in committed.items() if before.get(key) == len(lines)}
