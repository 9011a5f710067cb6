"""One run of a program: what the isolate's machinery and the user's code do between `start` and `release`.

The order in which results reach the code, and the numbers that its calls get, are the isolate's own
(`workers_shim.replay`). What the code does next depends on nothing but the program and these results, so that a replay
does the same again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, cast

from tests.simulation.programs import Group, Op, Program, Script
from workers_shim.call import Call, Outcome
from workers_shim.replay import Replay
from workers_shim.scope import Scope
from workers_shim.wire import devalue

_NOWHERE = Scope(cast(Any, None))


class Body:
    """Code in progress: ``run()``, or an attempt of a step's callback."""

    def __init__(self, script: Script, call: Made | None = None, attempt: int = 0) -> None:
        self.call = call
        self.attempt = attempt
        self.over = False
        self.heard: list[str] = []  # what the calls that it awaited gave
        self.execution = 0  # no other execution of a callback, in any run, has this number
        self._left = [*reversed(script)]
        self._group: Group | None = None
        self._awaited: list[Made] = []

    def next(self) -> Group | None:
        """The calls that the code makes now; None while it awaits some, and at its end."""
        if self._awaited or self.over or not self._left:
            return None
        self._group = self._left.pop()
        return self._group

    @property
    def at_the_end(self) -> bool:
        """Whether nothing is left to be called or awaited."""
        return not self.over and not self._awaited and not self._left

    def awaits(self, calls: list[Made]) -> None:
        """The group's calls are made, and awaited from now on."""
        self._awaited = calls

    def settled(self, call: Made, outcome: Outcome) -> bool:
        """A call gave something; True when the code raises over it."""
        if self.over or call not in self._awaited:
            return False  # one that lost a race, or whose group is given up
        assert self._group is not None
        place = call.place_in_group
        self.heard.append(f"{place} {outcome.text or outcome.error}")
        if self._group.race:
            self._awaited = []
            self._left += reversed(self._group.branches[place])
        else:
            self._awaited = [other for other in self._awaited if other is not call]
        return outcome.error is not None and not call.op.caught


class Made(Call):
    """A call, with what the program says of it and the code that made it."""

    __slots__ = ("caller", "op", "place_in_group")

    def __init__(self, number: int, op: Op, nth: int, caller: Body, place_in_group: int) -> None:
        super().__init__(number, op.kind, op.name, nth, _NOWHERE)
        self.op = op
        self.caller = caller
        self.place_in_group = place_in_group

    @property
    def nested(self) -> bool:
        return self.caller.call is not None


class Watcher(Protocol):
    """Who judges what the code does and hears."""

    def began(self, run: int, call: Made, attempt: int) -> int:
        """A callback begins; gives a number that no other execution has."""

    def heard(self, run: int, call: Made, outcome: Outcome, place: int) -> None:
        """``run()`` is given its ``place``-th result."""

    def mismatch(self, run: int, call: Made | None) -> None:
        """The code does not do what the journal has."""

    def ended(self, run: int, output: str) -> None:
        """``run()`` ended with this output, or error."""

    def undoing(self, run: int, name: str, nth: int, attempt: int) -> None:
        """An undo function begins."""


class Code:
    """A run on a scripted isolate."""

    def __init__(
        self, start: dict[str, Any], program: Program, watcher: Watcher, say: Callable[[dict[str, Any]], None]
    ) -> None:
        self.run: int = start["run"]
        self.calls: dict[int, Made] = {}  # sent, and not answered
        self.attempts: dict[int, Body] = {}  # running, by call
        self.asked: dict[int, int] = {}  # delay functions that have not answered: call -> attempt
        self.undo: dict[str, Any] | None = None  # the undo function that runs
        self.over = False
        self._program = program
        self._watcher = watcher
        self._say = say
        self._replay = Replay(start["journal"])
        self._made = self._sent = self._given = self._delivered = 0
        self._rest = False
        self.undoable: dict[tuple[str, int], Op] = {}
        self._main = Body(program.script)
        self._go_on(self._main)
        self._pump()

    def say(self, t: str, **fields: Any) -> None:
        self._say({"t": t, "run": self.run, **fields})

    # -------------------------------------------------------------------------------------------------- the code

    def _go_on(self, body: Body) -> None:
        while (group := body.next()) is not None:
            calls = [self._call(op, body, place) for place, op in enumerate(group.ops)]
            body.awaits(calls)
        if body.at_the_end:
            self._end(body)

    def _end(self, body: Body) -> None:
        if body.call is None:
            self._finish(body, "the end" if self._program.raises else None)
        elif body.call.op.quick:
            self.end_attempt(body)

    def _raise(self, body: Body) -> None:
        if body.call is None:
            self._finish(body, "a step failed")
        else:
            self._ran(body, error={"name": "Error", "message": "a call failed"})

    def _finish(self, body: Body, error: str | None) -> None:
        body.over = self.over = True
        text = devalue.stringify(body.heard)
        self._watcher.ended(self.run, error or text)
        if error is None:
            self.say("done", value=text, size=len(text))
        else:
            self.say("done", error={"name": "Error", "message": error})

    def end_attempt(self, body: Body) -> None:
        """The callback returns or raises."""
        assert body.call is not None
        op = body.call.op
        if body.attempt <= op.fails:
            name = "NonRetryableError" if op.fatal else "Error"
            self._ran(body, error={"name": name, "message": f"attempt {body.attempt}"})
        else:
            self._ran(body, value=f'["{op.name}-{body.call.nth} by {body.execution}"]', size=20)

    def _ran(self, body: Body, **outcome: Any) -> None:
        assert body.call is not None
        body.over = True
        del self.attempts[body.call.number]
        self.say("ran", call=body.call.number, attempt=body.attempt, **outcome)

    # ----------------------------------------------------------------------------------------------------- calls

    def _call(self, op: Op, body: Body, place: int) -> Made:
        self._made += 1
        nested = body.call is not None
        call = Made(self._made, op, self._replay.number(op.kind, op.name, nested=nested), body, place)
        if op.undo is not None:
            self.undoable[op.name, call.nth] = op
        if nested or not self._repeat(call):
            self._send(call, body)
        return call

    def _repeat(self, call: Made) -> bool:
        """Fit the call into the journal; True when its result is there, too."""
        record, misfit = self._replay.made(call)
        if misfit is not None:
            self._watcher.mismatch(self.run, call)
        return record is not None and record.outcome is not None

    def _send(self, call: Made, body: Body) -> None:
        op = call.op
        message: dict[str, Any] = {"call": call.number, "kind": op.kind, "name": op.name, "nth": call.nth}
        later = self.run % 3 * 7  # code that is run again passes something else: the first record wins (I6)
        message["arg"] = _ARGUMENTS[op.kind](op, later)
        if body.call is not None:
            message["parent"] = body.call.number
        if op.dynamic:
            message["delay_function"] = True
        if op.undo is not None:
            message["rollback"] = True
            message["rollback_config"] = '[{"retries":1},{"limit":2,"delay":3},1,100]'
        self.calls[call.number] = call
        self._sent += 1
        self.say("call", **message)

    # --------------------------------------------------------------------------------------------------- results

    def _pump(self) -> None:
        """Hand over the results that are there, one at a time: the code comes to rest after each."""
        while not self.over:
            record = self._replay.next()
            if record is not None:
                assert isinstance(record.call, Made) and record.outcome is not None
                self._given += record.answered
                self._give(record.call, record.outcome)
            elif self._replay.blocked() is not None:
                self._watcher.mismatch(self.run, None)
                if not self._replay.skip():
                    return
            else:
                return

    def _give(self, call: Made, outcome: Outcome, *, refused: bool = False) -> None:
        if not call.nested and not refused:
            self._watcher.heard(self.run, call, outcome, self._delivered)
            self._delivered += 1
        body = call.caller
        if body.settled(call, outcome):
            self._raise(body)
        elif not body.over:
            self._go_on(body)

    def _on_ret(self, message: dict[str, Any]) -> None:
        call = self.calls.pop(message["call"], None)
        if call is None or self.over:
            return
        outcome = Outcome(message.get("value"), message.get("error"))
        refused = message.get("refused", False)
        if call.nested or refused or not self._replay.queue:
            self._given += 1
            self._give(call, outcome, refused=refused)
        else:
            self._replay.arrive(call, outcome)

    # -------------------------------------------------------------------------------------------------- messages

    def hear(self, message: dict[str, Any]) -> None:
        """Take a message from the host."""
        _HEAR[message["t"]](self, message)
        self._pump()
        if self._rest and not self.asked and not any(body.at_the_end for body in self.attempts.values()):
            self._rest = False
            self.say("parked", calls=self._sent, rets=self._given)

    def _on_exec(self, message: dict[str, Any]) -> None:
        call = self.calls.get(message["call"])
        if call is None:
            return
        attempt = message["attempt"]
        body = self.attempts[call.number] = Body(call.op.inside, call, attempt)
        body.execution = self._watcher.began(self.run, call, attempt)
        self.say("began", call=call.number, attempt=attempt)
        self._go_on(body)

    def _on_cancel(self, message: dict[str, Any]) -> None:
        body = self.attempts.get(message["call"])
        if body is not None and body.attempt == message["attempt"]:
            body.over = True
            del self.attempts[message["call"]]

    def _on_delay(self, message: dict[str, Any]) -> None:
        if message["call"] in self.calls:
            self.asked[message["call"]] = message["attempt"]

    def answer_delay(self, call: int) -> None:
        """The delay function says when to try again; sometimes what it says is no delay."""
        answer = ("[0]", "[300]", '["2 seconds"]', "[-1]")[(call + self.asked[call]) % 4]
        self.say("delayed", call=call, attempt=self.asked.pop(call), value=answer)

    def _on_rest(self, message: dict[str, Any]) -> None:
        self._rest = True

    def _on_undo(self, message: dict[str, Any]) -> None:
        self.undo = {key: message[key] for key in ("name", "nth", "attempt")}
        if (message["name"], message["nth"]) not in self.undoable:
            self._watcher.mismatch(self.run, None)
            self.end_undo(missing=True)
            return
        self._watcher.undoing(self.run, message["name"], message["nth"], message["attempt"])
        self.say("undoing", **self.undo)

    def _on_cancel_undo(self, message: dict[str, Any]) -> None:
        self.undo = None

    def end_undo(self, *, missing: bool = False) -> None:
        """The undo function returns or raises."""
        assert self.undo is not None
        undo, self.undo = self.undo, None
        if missing:
            self.say("undone", missing=True, **undo)
        elif undo["attempt"] <= (self.undoable[undo["name"], undo["nth"]].undo or 0):
            self.say("undone", error={"name": "Error", "message": "cannot be undone"}, **undo)
        else:
            self.say("undone", **undo)


_HEAR: dict[str, Callable[[Code, dict[str, Any]], None]] = {
    "exec": Code._on_exec,
    "cancel": Code._on_cancel,
    "delay": Code._on_delay,
    "rest": Code._on_rest,
    "ret": Code._on_ret,
    "undo": Code._on_undo,
    "cancel_undo": Code._on_cancel_undo,
}


def _do(op: Op, later: int) -> str:
    delay: Any = "[dynamic]" if op.dynamic else op.ms + later
    retries = {"limit": op.limit, "delay": delay, "backoff": "exponential"}
    return devalue.stringify({"retries": retries, "timeout": op.timeout})


def _sleep(op: Op, later: int) -> str:
    return f"[{op.ms + later}]"


def _wait(op: Op, later: int) -> str:
    return devalue.stringify({"type": op.type, "timeout": op.ms + later})


_ARGUMENTS: dict[str, Callable[[Op, int], str]] = {"do": _do, "sleep": _sleep, "wait": _wait}
