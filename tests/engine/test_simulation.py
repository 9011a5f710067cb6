"""Random code and random fate: whatever happens and wherever it crashes, the laws of the journal hold, and the instance
gets to its end. CELLD_PY_SIM_EXAMPLES sets how many lives are simulated."""

from __future__ import annotations

import os
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from runtime.engine import commands as cmd
from runtime.engine import decode
from tests.engine.journal_laws import check
from tests.engine.simulator import BOOM, Code, Host, Op

names = st.sampled_from(["a", "b"])
delays = st.sampled_from([0, 0, 50, 200])
types = st.sampled_from(["go", "stop"])
sleeps = st.builds(Op, st.just("sleep"), names, ms=delays)
waits = st.builds(Op, st.just("wait"), names, ms=st.sampled_from([100, 400]), type=types)


def steps(inside: Any) -> Any:
    flag = st.booleans()
    return st.builds(
        Op, st.just("do"), names, delays, limit=st.integers(0, 2), dynamic=flag, rollback=flag, inside=inside
    )


def scripts(op: Any, most: int) -> Any:
    return st.lists(st.lists(op, min_size=1, max_size=3).map(tuple), max_size=most).map(tuple)


leaves = st.one_of(sleeps, waits, steps(st.just(())))
middle = st.one_of(leaves, steps(scripts(leaves, 1)))
programs = scripts(st.one_of(leaves, steps(scripts(middle, 2))), 4)


class Life(RuleBasedStateMachine):
    """One instance's life, and what people and machines do to it."""

    host: Host

    @initialize(script=programs, fails=st.booleans())
    def create(self, script: Any, fails: bool) -> None:
        self.host = Host(script, fails=fails)
        self.host.act(lambda: None)

    # --------------------------------------------------------------------------------------------------- the code

    def pick(self, data: st.DataObject, code: Code, *, ended: bool) -> int:
        return data.draw(st.sampled_from([s for s, b in code.bodies.items() if b.at_the_end or not ended]))

    @precondition(lambda self: self.host.code and any(b.at_the_end for b in self.host.code.bodies.values()))
    @rule(data=st.data())
    def a_callback_returns(self, data: st.DataObject) -> None:
        assert self.host.code is not None
        step = self.pick(data, self.host.code, ended=True)
        self.finish(step, output=f"[{step}]", size=1)

    @precondition(lambda self: self.host.code and self.host.code.bodies)
    @rule(data=st.data())
    def a_callback_raises(self, data: st.DataObject) -> None:
        assert self.host.code is not None
        self.finish(self.pick(data, self.host.code, ended=False), error=BOOM)

    def finish(self, step: int, **outcome: Any) -> None:
        assert self.host.code is not None
        body = self.host.code.bodies.pop(step)
        self.host.act(lambda: self.host.tell(cmd.AttemptFinished(step, body.attempt, **outcome)))

    @precondition(lambda self: self.host.code and self.host.code.bodies)
    @rule(data=st.data())
    def an_attempt_times_out(self, data: st.DataObject) -> None:
        assert self.host.code is not None
        step = self.pick(data, self.host.code, ended=False)
        attempt = self.host.code.bodies[step].attempt
        self.host.act(lambda: self.host.tell(cmd.AttemptTimedOut(step, attempt)))

    @precondition(lambda self: self.host.code and self.host.code.asked)
    @rule(data=st.data(), value=st.sampled_from([0, 50, -1, None]))
    def a_delay_function_answers(self, data: st.DataObject, value: int | None) -> None:
        assert self.host.code is not None
        self.answer(data.draw(st.sampled_from(sorted(self.host.code.asked))), value)

    def answer(self, step: int, value: int | None) -> None:
        assert self.host.code is not None
        attempt = self.host.code.asked.pop(step)
        self.host.act(lambda: self.host.tell(cmd.DelayAnswered(step, attempt, value=value)))

    @precondition(lambda self: self.host.code and self.host.code.undo)
    @rule(fails=st.booleans())
    def an_undo_ends(self, fails: bool) -> None:
        assert self.host.code is not None and self.host.code.undo is not None
        (step, attempt), self.host.code.undo = self.host.code.undo, None
        self.host.act(lambda: self.host.tell(cmd.RollbackFinished(step, attempt, BOOM if fails else None)))

    @precondition(lambda self: self.host.code and self.host.code.undo)
    @rule(missing=st.booleans())
    def an_undo_does_not_end(self, missing: bool) -> None:
        assert self.host.code is not None and self.host.code.undo is not None
        (step, attempt), self.host.code.undo = self.host.code.undo, None
        gone = cmd.RollbackFinished(step, attempt, missing=True)
        self.host.act(lambda: self.host.tell(gone if missing else cmd.RollbackTimedOut(step, attempt)))

    @precondition(lambda self: self.host.ghosts)
    @rule(data=st.data())
    def a_dead_attempt_answers(self, data: st.DataObject) -> None:
        step, attempt = data.draw(st.sampled_from(self.host.ghosts))
        before = len(self.host.journal)
        self.host.act(lambda: self.host.tell(cmd.AttemptFinished(step, attempt, output='["late"]')))
        assert len(self.host.journal) == before

    # -------------------------------------------------------------------------------------------------- the world

    @rule(ms=st.sampled_from([0, 1, 50, 200, 10_000, -100]))
    def time_passes(self, ms: int) -> None:
        self.host.now += ms

    @rule()
    def the_timer_comes_round(self) -> None:
        if self.host.act(self.host.ring):
            due = self.host.alarm
            assert due is None or due > self.host.now, "else it would come round for ever"

    @rule()
    def the_next_thing_comes_due(self) -> None:
        due = self.host.alarm
        if due is not None:
            self.host.now = max(self.host.now, due)
            self.the_timer_comes_round()

    @rule(event_type=types)
    def an_event_is_sent(self, event_type: str) -> None:
        self.host.act(lambda: self.host.tell(cmd.SendEvent(event_type, "1")))

    @rule()
    def it_is_paused(self) -> None:
        self.host.act(lambda: self.host.tell(cmd.Pause()))

    @rule()
    def it_is_resumed(self) -> None:
        self.host.act(lambda: self.host.tell(cmd.Resume()))

    @precondition(lambda self: len(self.host.journal) > 25)
    @rule(undo=st.booleans())
    def it_is_terminated(self, undo: bool) -> None:
        self.host.act(lambda: self.host.tell(cmd.Terminate(rollback=undo)))

    @precondition(lambda self: len(self.host.journal) > 15)
    @rule(
        name=st.one_of(st.none(), names), count=st.integers(1, 2), kind=st.sampled_from(["do", "sleep", "waitForEvent"])
    )
    def it_is_restarted(self, name: str | None, count: int, kind: str) -> None:
        command = cmd.Restart() if name is None else cmd.Restart(name, count, kind, partial=True)
        self.host.act(lambda: self.host.tell(command))

    # ----------------------------------------------------------------------------------------------- the machines

    @rule(boundary=st.integers(0, 6))
    def the_host_will_crash_at_a_commit(self, boundary: int) -> None:
        self.host.crash_in = boundary

    @rule()
    def the_host_crashes(self) -> None:
        self.host.crash()

    @rule()
    def the_isolate_dies(self) -> None:
        self.host.act(self.host.lose_run)

    @rule()
    def it_hibernates(self) -> None:
        self.host.act(self.host.hibernate)

    @rule()
    def places_come_and_go(self) -> None:
        self.host.places = not self.host.places
        self.host.act(lambda: None)

    # ------------------------------------------------------------------------------------------------------- laws

    @invariant()
    def the_journal_is_the_state(self) -> None:
        assert check([decode(line) for line in self.host.journal]) == self.host.state

    @invariant()
    def it_waits_for_something(self) -> None:
        host, code = self.host, self.host.code
        if host.state.final or host.state.status == "paused":
            return
        if code is None:
            assert not host.places or host.state.status == "waiting"
            return
        running = set(code.bodies) & host.state.live
        assert running or code.asked or code.undo or host.state.next_due() is not None

    def teardown(self) -> None:
        """Given time and goodwill, every life comes to an end."""
        host = self.host
        host.crash_in, host.places = None, True
        host.act(lambda: host.tell(cmd.Resume()))
        for _ in range(500):
            if host.state.final:
                break
            self.something_goes_well()
        assert host.state.final, "it hangs"
        self.the_journal_is_the_state()

    def something_goes_well(self) -> None:
        code = self.host.code
        ended = [] if code is None else [s for s, b in code.bodies.items() if b.at_the_end]
        if ended:
            self.finish(ended[0], output="1", size=1)
        elif code is not None and code.asked:
            self.answer(next(iter(code.asked)), 0)
        elif code is not None and code.undo is not None:
            self.an_undo_ends(fails=False)
        else:
            self.the_next_thing_comes_due()


Life.TestCase.settings = settings(
    max_examples=int(os.environ.get("CELLD_PY_SIM_EXAMPLES", "50")),
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)
TestLife = Life.TestCase
