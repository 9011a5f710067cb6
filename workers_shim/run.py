"""One run: an execution of a workflow's `run()`, from `start` to `release`.

The run makes calls and is given results. What it may be given, and when, is told by `replay`; whether it has come to
rest, and whether it awaits anything of its own, by `rest`.
"""

from __future__ import annotations

import asyncio
import inspect
import traceback
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any
from weakref import WeakSet

from workers_shim import current, errors, place, values, well_formed
from workers_shim.attempt import Attempts
from workers_shim.call import Call, Outcome, describe
from workers_shim.place import Place
from workers_shim.pump import Pump
from workers_shim.replay import Record, Replay
from workers_shim.scope import NEUTRAL, SCOPE, RunTask, Scope
from workers_shim.step import make_step
from workers_shim.undo import PHASE, Undos
from workers_shim.wire.frames import MAX_TEXT
from workers_shim.wire.messages import Call as CallMessage
from workers_shim.wire.messages import Kind, Ret, Start

Send = Callable[[Mapping[str, Any]], None]

_NULL = values.encode(None)[0]
_EPOCH = datetime(1970, 1, 1)  # naive, as the SDK's timestamps are: the isolate runs in UTC


class Run:
    """A run's calls, tasks and life."""

    def __init__(self, start: Start, send: Send, loop: asyncio.AbstractEventLoop) -> None:
        self.number = start["run"]
        self.send = send
        self.loop: Any = loop  # its queues of handles are read, which its interface does not show
        self.tasks: WeakSet[RunTask] = WeakSet()
        self.root = Scope(self)
        self.over = False  # run() has ended, or the host let the run go: nothing more is asked or answered
        self.replay = Replay(start["journal"])
        self.pump = Pump(self)
        self.attempts = Attempts(self)
        self.undos = Undos(self)
        self.undoing = start.get("undo", False)  # the code is repeated for its undo functions only
        self.calls: dict[int, Call] = {}  # sent, and not answered
        self.sent = 0
        self.given = 0
        self._start = start
        self._made = 0
        self._steps = 0
        self._last: Call | None = None
        self._told: set[tuple[str, str]] = set()

    # ------------------------------------------------------------------------------------------- beginning and end

    def begin(self, entrypoint: type[Any], ctx: Any) -> None:
        """Start the user's `run()`."""
        body = self._live(entrypoint, ctx)
        self._main = self.loop.create_task(body, context=self.root.inside(NEUTRAL))
        if self.replay.queue:
            self.pump.stir()

    async def _live(self, entrypoint: type[Any], ctx: Any) -> None:
        done: dict[str, Any] = {"t": "done", "run": self.number}
        try:
            result = entrypoint(ctx, current.host.env).run(self._event(), make_step(self))
            if inspect.isawaitable(result):
                result = await result
            done["value"], done["size"] = _output(result)
        except GeneratorExit:
            raise  # the loop is being closed
        except BaseException as error:  # also SystemExit: user code must not end the isolate
            if self.root.dead:
                return
            done["error"] = errors.report(error)
        if not self.root.dead:
            self._finish(done)

    def _finish(self, done: dict[str, Any]) -> None:
        missing = self.replay.expected()
        if missing is not None:
            self.report(describe(missing.identity), "run() ended", self._last_place())
        self.over = True
        self.replay.left = 0
        self.send(done)
        self.undos.ended()

    def _event(self) -> values.JsDict:
        event = self._start["event"]
        schedule = {"schedule": values.JsDict(event["schedule"])} if "schedule" in event else {}
        return values.JsDict(
            payload=values.decode(event["payload"]),
            timestamp=_EPOCH + timedelta(milliseconds=event["timestamp"]),
            instanceId=self._start["instance"],
            workflowName=self._start["workflow"],
            **schedule,
        )

    # ------------------------------------------------------------------------------------------------------- calls

    def count_step(self) -> None:
        """Count a `do` call against the workflow's limit of steps."""
        self._steps += 1
        limit = self._start["step_limit"]
        if self._steps > limit:
            text = f"The limit of {limit} steps has been reached."
            hint = "This limit can be changed in your worker configuration."
            raise errors.revive({"name": "Error", "message": f"WorkflowFatalError: {text} {hint}"})

    def make(self, wire_kind: str, name: Any, arg: str, prepare: Callable[[Call], None] | None = None) -> Call:
        """Make a call; what it gives comes from `Call.wait`."""
        scope = SCOPE.get()
        if scope is not None and scope.undo:
            raise errors.revive({"name": "Error", "message": PHASE})
        if scope is None or scope.run is not self:  # a step object that went to other hands
            scope = self.root
        kind: Kind = "sleep" if wire_kind == "until" else wire_kind  # type: ignore[assignment]
        if self.over or scope.dead:
            return Call(0, kind, name, 0, scope)  # nobody will answer it
        name = well_formed.text(name if isinstance(name, str) else str(name))  # it is known by what the journal keeps
        self._made += 1
        nested = scope.call is not None
        call = Call(self._made, kind, name, self.replay.number(kind, name, nested=nested), scope)
        if prepare is not None:
            prepare(call)
        self._last = call
        if call.undo is not None:
            self.undos.keep(call)
        if (nested or not self._repeat(call)) and not (self.undoing and not self.replay.lacks(call)):
            self._send_call(call, wire_kind, arg)
        if self.pump.asked:
            self.pump.stir()
        return call

    def _repeat(self, call: Call) -> bool:
        """Fit a call into the journal; true when its result is there too."""
        replay = self.replay
        if not replay.records:
            return False
        if replay.queue:
            call.place = place.of_caller() or place.of_function(call.function)
        record, misfit = replay.made(call)
        if replay.queue:
            self.pump.stir()
        if misfit is not None:
            if record is None:
                call.misfit = misfit  # unless the host refuses it, for then it never was in the journal
            else:
                self.report(misfit, describe(call.identity), call.place)
        return record is not None and record.outcome is not None

    def _send_call(self, call: Call, wire_kind: str, arg: str) -> None:
        message: CallMessage = {
            "t": "call",
            "run": self.number,
            "call": call.number,
            "kind": wire_kind,  # type: ignore[typeddict-item]
            "name": call.name,
            "nth": call.nth,
            "arg": arg,
        }
        if call.scope.call is not None:
            message["parent"] = call.scope.call.number
        if call.delay is not None:
            message["delay_function"] = True
        if call.undo is not None:
            message["rollback"] = True
        if call.undo_config is not None:
            message["rollback_config"] = call.undo_config
        self.send(message)  # raises when it is too large: then nobody will answer it
        self.calls[call.number] = call
        self.sent += 1

    # ----------------------------------------------------------------------------------------------------- results

    def ret(self, message: Ret) -> None:
        """Take the host's answer to a call and hand it over when its turn has come."""
        call = self.calls.pop(message["call"], None)
        if call is None or self.over:
            return
        outcome = Outcome(message.get("value"), message.get("error"))
        refused = message.get("refused", False)
        if call.nested:
            if refused:
                self.replay.give_back(call)
            self._give(call, outcome)
            return
        if refused:
            call.misfit = None
        else:
            self.accepted(call)
        if (refused or not self.replay.queue) and not self.pump.busy():
            self._give(call, outcome)
        else:
            self.replay.arrive(call, outcome, first=refused)
        if self.replay.queue or self.pump.asked:
            self.pump.stir()

    def accepted(self, call: Call) -> None:
        """The host took the call: if it does not fit the journal, that is certain now."""
        if call.misfit is not None:
            self.report(call.misfit, describe(call.identity), call.place)
            call.misfit = None

    def make_again(self, call: Call) -> None:
        """Leave the host the last word before the callback of a call runs that does not fit: it may let the run go."""
        self._send_call(call, "do", _NULL)  # the config is recorded

    def hand_over(self, record: Record) -> None:
        """Give the code the next result."""
        assert record.call is not None and record.outcome is not None
        self.given += record.answered
        record.call.settle(record.outcome)

    def _give(self, call: Call, outcome: Outcome) -> None:
        self.given += 1
        call.settle(outcome)

    # --------------------------------------------------------------------------------------------------- mismatches

    def unanswered(self) -> bool:
        """Whether the host may still refuse a call that the journal does not have."""
        return any(call.misfit is not None for call in self.calls.values())

    def report_missing(self, record: Record) -> None:
        """Tell that the code came to rest without making the journal's next call."""
        called = "nothing more" if self._last is None else describe(self._last.identity)
        self.report(describe(record.identity), called, self._last_place())

    def _last_place(self) -> Place | None:
        return None if self._last is None else self._last.place

    def report(self, recorded: str, called: str, where: Place | None) -> None:
        """Tell the developer, once for each pair, that the code does not do what the journal has."""
        if (recorded, called) in self._told:
            return
        self._told.add((recorded, called))
        message: dict[str, Any] = {"t": "mismatch", "run": self.number, "recorded": recorded, "called": called}
        if where is not None:
            message |= {"file": where.file, "line": where.line}
        self.send(message)

    # ------------------------------------------------------------------------------------------------------ release

    def fail(self, error: BaseException) -> None:
        """End the run by an error that is not its code's; its tasks stand still until it is released."""
        done = broken(self.number, error, self.send)
        if self.over:
            return
        self.over = self.root.dead = True
        self.replay.left = 0
        self.pump.stop()
        self.send(done)
        self.undos.ended()

    def release(self) -> None:
        """Drop everything that belongs to the run."""
        self.over = self.root.dead = True
        self.replay.left = 0
        self.pump.stop()
        self.undos.release()
        for task in list(self.tasks):
            task.scope.dead = True
            task.cancel()


def broken(number: int, error: BaseException, send: Send) -> dict[str, Any]:
    """Tell the whole of an error that came from the machinery; gives the message that ends its run."""
    current.host.warn(f"A run ends by an error that is not its code's: {type(error).__name__}: {error}")
    for line in "".join(traceback.format_exception(error)).splitlines():
        send({"t": "log", "stream": "stderr", "text": line, "run": number})
    return {"t": "done", "run": number, "error": errors.report(error)}


def _output(result: Any) -> tuple[str, int]:
    """The text and size of what `run()` gave. A step's result is small; this is bounded only by what can be sent."""
    text, size = values.encode(result)
    if len(text) > MAX_TEXT:
        raise ValueError(f"The output of run() is too large: {len(text)} characters as text; {MAX_TEXT} can be kept.")
    return text, size
