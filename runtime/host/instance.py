"""A live instance: takes commands, decides, commits, acts; the imperative shell around the pure engine.

All commands that wait when the loop comes round are decided one after another and committed in one transaction (I2);
only then anything of it becomes visible to user code or to callers (I1).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from runtime.engine import Decision, Event, State, apply, decide, encode, kind_of, owed
from runtime.engine import commands as cmd
from runtime.engine import effects as fx
from runtime.engine.durations import milliseconds
from runtime.engine.events import SETTLED
from runtime.engine.state import Record
from runtime.engine.views import context_config, failure
from runtime.faults import fault
from runtime.store.types import JournalFile, Key, Line

from .clock import Alarm
from .run import Run, outcome, start_message
from .undo import NEVER, cancel_message, end_of_time, undo_message

if TYPE_CHECKING:
    from .instances import Instances

After = Callable[[Decision], None]

OUTSIDE_LOOK = 1000  # ms after something happened until a run is asked what it awaits outside steps, where that counts
REST_WORTH = 250  # ms; for a shorter wait the run is not asked to rest, nor the instance called waiting


class _Waiting(NamedTuple):
    """A command in the inbox: the run it comes from, if it comes from one, and what to do once it is committed."""

    command: cmd.Command
    run: Run | None
    after: After | None
    reply: asyncio.Future[Decision] | None


class Instance:
    """One instance in memory. `Instances` makes it, and drops it when it rests."""

    def __init__(self, home: Instances, key: Key, state: State, journal: JournalFile) -> None:
        self.key = key
        self.state = state
        self.run: Run | None = None
        self.home = home
        self.repeats = home.runs.repeats  # how often its run may yet be dropped in order to replay it
        self.left: int | None = None  # the run that was dropped last
        self.gone = False  # it has left memory; whoever still holds it must activate it anew
        self.journal = journal
        self._inbox: list[_Waiting] = []
        self._turn_due = False
        self._committing: asyncio.Task[None] | None = None
        self._alarm: Alarm | None = None
        self._loop = asyncio.get_running_loop()

    # --------------------------------------------------------------------------------------------------- commands

    def tell(self, command: cmd.Command, run: Run | None = None, after: After | None = None) -> None:
        """Let something happen to the instance; a command of a run that is over by then is dropped (I3)."""
        self._put(_Waiting(command, run, after, None))

    def ask(self, command: cmd.Command) -> Awaitable[Decision]:
        """Let something happen, and wait until it is committed; a refusal is in the decision."""
        reply = self._loop.create_future()
        self._put(_Waiting(command, None, None, reply))
        return reply

    @property
    def quiet(self) -> bool:
        """Whether nothing waits to be decided or committed."""
        return not self._inbox and self._committing is None

    def _put(self, waiting: _Waiting) -> None:
        self._inbox.append(waiting)
        self.nudge()

    def nudge(self) -> None:
        """Take a turn: decide what waits, then see what is to be done."""
        if not self._turn_due and self._committing is None:
            self._turn_due = True
            self.home.turns.ask(self._turn)

    async def committed(self) -> State:
        """The state, once everything in it is committed."""
        while self._committing is not None:
            await asyncio.shield(self._committing)
        return self.state

    # ------------------------------------------------------------------------------------------------------- turn

    def _turn(self) -> None:
        """Decide all that waits, commit it at once, act."""
        self._turn_due = False
        if self.gone:
            return
        batch, self._inbox = self._inbox, []
        decided: list[tuple[_Waiting, Decision]] = []
        events: list[Event] = []
        try:
            for waiting in batch:
                decision = self._decide(waiting)
                if decision is not None:
                    decided.append((waiting, decision))
                    events += decision.events
            pending = self._append(events)
            if pending is None:
                self._act(decided, events)
                return
        except Exception as error:
            self._failed(batch, error)
            return
        self._committing = asyncio.ensure_future(self._commit(pending, batch, decided, events))

    def _decide(self, waiting: _Waiting) -> Decision | None:
        if waiting.run is not None and waiting.run is not self.run:
            return None
        command = self.home.modifications.command(self.key, self.state, waiting.command)
        decision = decide(self.state, command, self.home.clock.now(), self.home.rules(self.key.workflow))
        for event in decision.events:
            apply(self.state, event)
        if any(isinstance(effect, fx.AbortRun) for effect in decision.effects):
            self.end_run()
        return decision

    def _append(self, events: list[Event]) -> Awaitable[None] | None:
        if not events:
            return None
        seq = self.journal.next_seq
        lines = [Line(seq + i, event.at, kind_of(event), encode(event)) for i, event in enumerate(events)]
        return self.journal.append(lines)

    async def _commit(
        self,
        pending: Awaitable[None],
        batch: list[_Waiting],
        decided: list[tuple[_Waiting, Decision]],
        events: list[Event],
    ) -> None:
        try:
            try:
                await pending
            finally:
                self._committing = None
            self._act(decided, events)
        except Exception as error:
            self._failed(batch, error)
            return
        if self._inbox:
            self.nudge()

    def _act(self, decided: list[tuple[_Waiting, Decision]], events: list[Event]) -> None:
        fault("instance.before_effects")
        for waiting, decision in decided:
            if waiting.after is not None and (waiting.run is None or waiting.run is self.run):
                waiting.after(decision)
            if waiting.reply is not None and not waiting.reply.done():
                waiting.reply.set_result(decision)
            for effect in decision.effects:
                self._perform(effect)
        if events:
            self.home.published(self, events)
            if self.repeats:
                self._note_settled(events)
        fault("instance.after_effects")
        if not self.gone:
            self._settle_down()

    def fail(self, error: Exception) -> None:
        """Nothing that the instance's run says can be trusted any more: stop this instance, and no other."""
        self._failed([], error)

    def _failed(self, batch: list[_Waiting], error: Exception) -> None:
        """The store or an invariant gave way: what is in memory may be ahead of the journal, so it is dropped."""
        batch, self._inbox = batch + self._inbox, []
        for waiting in batch:
            if waiting.reply is not None and not waiting.reply.done():
                waiting.reply.set_exception(error)
        self.end_run()
        self._disarm()
        self.home.broken(self, error)

    # ----------------------------------------------------------------------------------------------------- effects

    def _perform(self, effect: fx.Effect) -> None:
        run = self.run
        if run is None:
            return
        if isinstance(effect, fx.RunAttempt):
            self._run_attempt(run, effect)
        elif isinstance(effect, fx.Settle):
            self._settle_call(run, effect.step)
        elif isinstance(effect, fx.AskDelay):
            record = self.state.records[effect.step]
            if record.asked is None or record.attempt != effect.attempt:
                return  # given up by what was decided after it, in the same turn
            assert record.config is not None
            run.over(effect.step)
            self._say(
                run,
                effect.step,
                t="delay",
                attempt=effect.attempt,
                error=failure(effect.error),
                config=context_config(record.config),
            )
        elif isinstance(effect, fx.CancelAttempt):
            run.over(effect.step)
            self._say(run, effect.step, t="cancel", attempt=effect.attempt)
            self.home.given_up(run, effect.step)
        elif isinstance(effect, fx.RunRollback):
            run.isolate.send({**undo_message(self.state, effect), "run": run.id}, run.id)
        elif isinstance(effect, fx.CancelRollback):
            run.undo.over()
            run.isolate.send({**cancel_message(self.state, effect), "run": run.id}, run.id)
            self.home.given_up(run, effect.step)

    def _run_attempt(self, run: Run, effect: fx.RunAttempt) -> None:
        record = self.state.records[effect.step]
        if not record.live or record.attempt != effect.attempt:
            return  # what was decided after it, in the same turn, gave it up: an undo began, or its caller ended
        config = record.config
        assert config is not None
        run.over(effect.step)
        if (ended := self._ends_at_once(run, record)) is not None:
            self.tell(ended, run)
            return
        self._say(run, effect.step, t="exec", attempt=effect.attempt, config=context_config(config))
        if not run.isolate.says_began and effect.step in run.attached:
            run.began.setdefault(effect.step, self.home.clock.now())

    def _ends_at_once(self, run: Run, record: Record) -> cmd.AttemptFinished | None:
        """How an attempt ends that is not to be run at all, if it would be run now."""
        if record.step not in run.attached or run.moving:
            return None
        return self.home.modifications.outcome(self.key, record)

    def _settle_call(self, run: Run, step: int) -> None:
        run.over(step)
        if run.starting:
            return  # the code will not ask: it finds the result in the journal that it starts with
        if self.state.records[step].parent or step in run.large:
            self._answer(run, step)  # its place among the others is known to the isolate, or does not matter
        elif run.results or step not in run.attached:
            self._give(run, run.results.settled(step, run.attached))
        else:
            self._answer(run, step)

    def _give(self, run: Run, steps: Iterable[int]) -> None:
        for step in steps:
            self._answer(run, step)

    def pass_over(self, run: Run) -> None:
        """The run rests although results wait for calls that it has not made: it will not make them."""
        self._give(run, run.results.pass_over(run.attached))

    def _answer(self, run: Run, step: int) -> None:
        value, error = outcome(self.state, self.state.records[step])
        if step in run.attached:
            run.told += 1
        if error is not None:
            self._say(run, step, t="ret", error=failure(error))
        else:
            self._say(run, step, t="ret", value=value)

    def _say(self, run: Run, step: int, **message: object) -> None:
        """Tell the run something about a call that it has made; a call it has not made yet is answered when it is."""
        call = run.attached.get(step)
        if call is not None and (not run.moving or message["t"] == "cancel"):
            run.stirs()
            run.isolate.send({"run": run.id, "call": call, **message}, run.id)

    # -------------------------------------------------------------------------------------------------- run and rest

    def begin_run(self, run: Run, class_name: str, step_limit: int) -> None:
        """Put the instance's code on an isolate."""
        assert self.run is None
        self.run = run

        def started(decision: Decision) -> None:
            if self.run is run:
                run.isolate.send(start_message(run, self.state, class_name, step_limit), run.id)

        self.tell(cmd.RunStarted(run.code), run, started)
        if not self.state.started:
            for event in self.home.modifications.events(self.key):
                self.tell(event)

    def end_run(self) -> None:
        """The run is over, whatever the reason: its isolate forgets it, its place is free."""
        run, self.run = self.run, None
        if run is not None:
            run.end()
            self.home.run_ended(run)

    def _settle_down(self) -> None:
        """After a turn: arm the timer, ask for what is owed, or leave."""
        if self.run is not None:
            self.run.starting = False
            if self.state.final:
                self.end_run()
        if not self.quiet:
            return
        if self.repeats and self.run is not None and self._is_to_repeat(self.run):
            self.home.runs.repeat(self)
        if self.run is None:
            self._ask_for_what_is_owed()
            return
        now = self.home.clock.now()
        due = self.state.next_due(attempts=not self.run.moving)
        self._arm(due, now)
        self._watch_attempts(self.run, now)
        self._ask_for_rest(self.run, due, now)

    def _note_settled(self, events: list[Event]) -> None:
        if self.run is not None and any(isinstance(event, SETTLED) for event in events):
            self.run.settled = True

    def _is_to_repeat(self, run: Run) -> bool:
        """Whether the run is to be replayed now because a step has settled, and nothing in it would be lost by that."""
        if not run.settled or run.moving:
            return False
        state = self.state
        return state.status == "running" and not state.live and not state.asking

    def _ask_for_what_is_owed(self) -> None:
        for effect in owed(self.state):
            if isinstance(effect, fx.DeclareLost):
                fault("lost.before_commit")
                self.tell(cmd.RunLost(), None, lambda _: fault("lost.after_commit"))
                return
            if isinstance(effect, fx.StartRun):
                self._disarm()
                self.home.wants_run(self)
                return
        self.home.rests(self)

    def _arm(self, due: int | None, now: int) -> None:
        if self._alarm is not None:
            if self._alarm.at == due:
                return
            self._disarm()
        if due is not None:
            self._alarm = self.home.clock.call_at(due, self._timer)

    def _disarm(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None

    def _timer(self) -> None:
        self._alarm = None
        self.tell(cmd.TimerDue(run=self.run is not None and not self.run.moving))

    def alarms(self) -> Iterator[int]:
        """When (ms) something of this instance is due: a sleep, a retry, a deadline, the end of an attempt's time."""
        if self._alarm is not None:
            yield self._alarm.at
        if self.run is not None:
            yield from (alarm.at for alarm in self.run.timeouts.values())
            if self.run.undo.at is not None:
                yield self.run.undo.at

    def _ask_for_rest(self, run: Run, due: int | None, now: int) -> None:
        if run.resting or run.parked or run.moving:
            return
        worth = due is not None and due - now > REST_WORTH
        if run.results or (worth and self.state.only_waits()):
            if run.isolate.parks_by_ending:
                self.home.runs.calm(run)
                self.home.runs.lingering.waits(run)
            else:
                self.ask_whether_it_rests(run)
            return
        self.home.runs.lingering.goes_on(run)
        if run.outside_await is not None and run.look is None:
            run.look = self.home.clock.call_at(now + OUTSIDE_LOOK, lambda: self._look_outside(run))

    def _look_outside(self, run: Run) -> None:
        """The isolate tells how long an await outside a step takes for as long as it is asked whether the run rests."""
        run.look = None
        self.ask_whether_it_rests(run)

    def ask_whether_it_rests(self, run: Run) -> None:
        """Let the isolate say when the run waits for nothing of its own."""
        if run is self.run and not (run.resting or run.parked or run.moving):
            run.resting = True
            run.isolate.send({"t": "rest", "run": run.id}, run.id)

    # ---------------------------------------------------------------------------------------------------- timeouts

    def _watch_attempts(self, run: Run, now: int) -> None:
        """Give every attempt that began and still runs the end of its time; most have ended in the same turn."""
        for step, began in run.began.items():
            if step not in run.timeouts:
                record = self.state.records[step]
                assert record.config is not None
                end = min(began + milliseconds(record.config.timeout), NEVER)
                run.timeouts[step] = self._time_out_at(run, round(end), step, record.attempt)

    def _time_out_at(self, run: Run, at: int, step: int, attempt: int) -> Alarm:
        def time_out() -> None:
            self.tell(cmd.AttemptTimedOut(step, attempt, held=run.moving), run)

        return self.home.clock.call_at(at, time_out)

    def attempt_began(self, run: Run, step: int, attempt: int, began: int) -> None:
        """The attempt's callback has begun; its time counts from here."""
        record = self.state.open.get(step)
        if run is self.run and record is not None and record.live and record.attempt == attempt:
            run.began.setdefault(step, began)
            self.nudge()

    def undo_began(self, run: Run, began: int) -> None:
        """The running undo function has begun; its time counts from here."""
        undo = self.state.rollback
        if run is not self.run or undo is None or not undo.live:
            return
        timed_out = cmd.RollbackTimedOut(undo.steps[0], undo.attempt)
        end = end_of_time(self.state, began, self.home.rules(self.key.workflow))
        run.undo.begin(self.home.clock, end, lambda: self.tell(timed_out, run))

    async def discard(self, error: Exception) -> bool:
        """Leave memory in the middle of whatever it does: who waits for it gets the error. False when it has left."""
        await self.committed()
        if self.gone:
            return False
        batch, self._inbox = self._inbox, []
        for waiting in batch:
            if waiting.reply is not None and not waiting.reply.done():
                waiting.reply.set_exception(error)
        self.end_run()
        self.leave()
        return True

    def leave(self) -> None:
        """The instance leaves memory: no timer, no run is left."""
        assert self.quiet and self.run is None
        self.gone = True
        self._disarm()
