"""A host and an isolate in miniature: scripted code, run durably by the engine, with crashes at every commit."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from runtime.engine import Decision, Failure, State, apply, decide, decode, encode, fold, owed
from runtime.engine import commands as cmd
from runtime.engine import effects as fx
from runtime.engine import events as ev
from runtime.engine.rules import CLOUDFLARE
from runtime.engine.state import Kind

NOW = 1_700_000_000_000
BOOM = Failure("Error", "boom")


@dataclass(frozen=True)
class Op:
    """One use of the step API. A ``do`` has code inside."""

    kind: Kind
    name: str
    ms: int = 0  # of a sleep, of a wait's timeout, of the delay between attempts
    type: str = "go"
    limit: int = 1
    dynamic: bool = False
    rollback: bool = False
    inside: Script = ()


Script = tuple[tuple[Op, ...], ...]  # one after another; those of a group at the same time


class Crash(BaseException):
    """The host dies here."""


@dataclass(eq=False)
class Body:
    """Code in progress: ``run()``, or a step's callback."""

    script: Script
    parent: int = 0
    attempt: int = 0
    place: int = 0
    awaited: set[int] = field(default_factory=set)

    @property
    def at_the_end(self) -> bool:
        return self.place == len(self.script) and not self.awaited


class Code:
    """A run: which calls it has made, which callbacks run, which questions it was asked."""

    def __init__(self, script: Script) -> None:
        self.main = Body(script)
        self.bodies: dict[int, Body] = {}
        self.made: dict[int, tuple[Op, Body]] = {}
        self.asked: dict[int, int] = {}
        self.undo: tuple[int, int] | None = None
        self.counts: dict[tuple[Kind, str], int] = {}
        self.stopped = False  # a call was refused: run() goes no further

    def alive(self, body: Body) -> bool:
        return body is self.main or self.bodies.get(body.parent) is body


class Host:
    """Decides, commits, acts; loses everything but the journal in a crash, and comes back by `owed` alone."""

    def __init__(self, script: Script, *, fails: bool) -> None:
        self.script, self.fails = script, fails
        self.now = NOW
        self.journal: list[str] = []
        self.state = State()
        self.code: Code | None = None
        self.crash_in: int | None = None  # commits, and half ones: before and after each there is a boundary
        self.ghosts: list[tuple[int, int]] = []  # attempts that may still answer, too late
        self.executed: set[tuple[int, int]] = set()
        self.heard: dict[int, tuple[Any, ...]] = {}
        self.work: deque[Callable[[], None]] = deque()
        self.places = True  # whether there is a place for a run
        self._commit([ev.Created(at=NOW, workflow="wf", instance="i", params="{}"), ev.WorkflowQueued(at=NOW)])

    # -------------------------------------------------------------------------------------------------- commands

    def act(self, story: Callable[[], object]) -> bool:
        """Do something, survive what it brings about, and come to rest; whether all of it was done."""
        try:
            story()
            self._come_to_rest()
        except Crash:
            self.crash()
            return False
        return True

    def crash(self) -> None:
        self.crash_in = None
        self.state = fold(decode(line) for line in self.journal)
        self._drop_code(dead=True)
        self.act(lambda: None)

    def tell(self, command: cmd.Command) -> Decision:
        decision = decide(self.state, command, self.now, CLOUDFLARE)
        if decision.events:
            self._boundary()
            self._commit(decision.events)
            self._boundary()
        for effect in decision.effects:
            self._perform(effect)
        return decision

    def _boundary(self) -> None:
        if self.crash_in is not None:
            self.crash_in -= 1
            if self.crash_in < 0:
                raise Crash

    def _commit(self, events: list[ev.Event]) -> None:
        for event in events:
            self.journal.append(encode(event))
            apply(self.state, event)

    def _drop_code(self, *, dead: bool = False) -> None:
        """``dead`` code cannot say anything any more; otherwise its callbacks may."""
        if self.code is not None and not dead:
            self.ghosts += [(step, body.attempt) for step, body in self.code.bodies.items()]
        if dead:
            self.ghosts.clear()
        self.code = None
        self.work.clear()

    def lose_run(self) -> None:
        if self.code is not None:
            self._drop_code(dead=True)
            self.tell(cmd.RunLost())

    def hibernate(self) -> None:
        if self.code is not None and not self.code.bodies and not self.code.asked:
            self.tell(cmd.RunParked())
            if self.state.status == "waiting":
                self._drop_code()

    @property
    def alarm(self) -> int | None:
        """When the timer is to come round. An instance that waits for a place needs none."""
        return self.state.next_due() if self.code is not None or self.state.status == "waiting" else None

    def ring(self) -> None:
        if self.alarm is not None and self.alarm <= self.now:
            self.tell(cmd.TimerDue(run=self.code is not None))

    # --------------------------------------------------------------------------------------------------- effects

    def _perform(self, effect: fx.Effect) -> None:
        code = self.code
        if isinstance(effect, fx.AbortRun):
            self._drop_code()
        elif code is None:
            return
        elif isinstance(effect, fx.RunRollback):
            code.undo = (effect.step, effect.attempt)
        elif (
            isinstance(effect, fx.RunAttempt | fx.Settle | fx.AskDelay | fx.CancelAttempt) and effect.step in code.made
        ):
            self._answer(code, effect)

    def _answer(self, code: Code, effect: fx.RunAttempt | fx.Settle | fx.AskDelay | fx.CancelAttempt) -> None:
        op, caller = code.made[effect.step]
        over = code.bodies.pop(effect.step, None)
        code.asked.pop(effect.step, None)
        if isinstance(effect, fx.RunAttempt):
            assert (effect.step, effect.attempt) not in self.executed, "an attempt runs once"
            assert not self.state.records[effect.step].settled, "a settled step runs no more"
            self.executed.add((effect.step, effect.attempt))
            body = code.bodies[effect.step] = Body(op.inside, effect.step, effect.attempt)
            self.work.append(lambda: self._go_on(code, body))
        elif isinstance(effect, fx.AskDelay):
            code.asked[effect.step] = effect.attempt
        elif isinstance(effect, fx.CancelAttempt):
            assert over is not None
            self.ghosts.append((effect.step, effect.attempt))
        else:
            self._hear(effect.step)
            caller.awaited.discard(effect.step)
            self.work.append(lambda: self._go_on(code, caller))

    def _hear(self, step: int) -> None:
        record = self.state.records[step]
        outcome = (record.output, record.error, record.event)
        assert self.heard.setdefault(step, outcome) == outcome, "a replay gives what was given before"

    def _come_to_rest(self) -> None:
        while True:
            while self.work:
                self.work.popleft()()
            if self.state.final:
                self._drop_code()
            if self.code is not None:
                return
            effects = owed(self.state)
            if any(isinstance(effect, fx.DeclareLost) for effect in effects):
                self.tell(cmd.RunLost())
            elif self.places and any(isinstance(effect, fx.StartRun) for effect in effects):
                self._start()
            else:
                return

    # ------------------------------------------------------------------------------------------------------ code

    def _start(self) -> None:
        self.tell(cmd.RunStarted())
        code = self.code = Code(self.script)
        self.work.append(lambda: self._go_on(code, code.main))

    def _go_on(self, code: Code, body: Body) -> None:
        """Let the body make the calls that it comes to."""
        while code is self.code and code.alive(body) and not body.awaited and not code.stopped:
            if body.place == len(body.script):
                if body is code.main and self.state.rollback is None:
                    self.tell(cmd.RunDone(error=BOOM) if self.fails else cmd.RunDone(output="1"))
                return
            group = body.script[body.place]
            body.place += 1
            for op in group:
                if code is self.code and code.alive(body):
                    self._call(code, body, op)

    def _call(self, code: Code, body: Body, op: Op) -> None:
        nth = self._number(code, op, nested=body is not code.main)
        delay: Any = "[dynamic]" if op.dynamic else op.ms
        command = cmd.CallMade(
            op.kind,
            op.name,
            nth,
            parent=body.parent,
            parent_attempt=body.attempt,
            config={"retries": {"limit": op.limit, "delay": delay, "backoff": "constant"}},
            duration=op.ms,
            event_type=op.type,
            timeout=op.ms,
            delay_function=op.dynamic,
            rollback=op.rollback,
        )
        decision = decide(self.state, command, self.now, CLOUDFLARE)
        if decision.refusal is not None:
            assert self.state.rollback is not None
            code.stopped = True
            return
        # As the host does: the call is known as its step before its effects are performed.
        known = self.state.find((op.kind, op.name, nth))
        step = self.state.last_step + 1 if known is None else known.step
        code.made[step] = (op, body)
        body.awaited.add(step)
        self.tell(command)

    def _number(self, code: Code, op: Op, *, nested: bool) -> int:
        """As the isolate numbers: what runs inside callbacks takes unused numbers, ``run()`` skips those."""
        records = [r for r in self.state.records.values() if (r.kind, r.name) == (op.kind, op.name)]
        taken = {r.nth for r in records if nested or r.parent}
        nth = code.counts.get((op.kind, op.name), 0) + 1
        while nth in taken:
            nth += 1
        if not nested:
            code.counts[op.kind, op.name] = nth
        return nth
