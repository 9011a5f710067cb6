"""Undo functions while they run.

They live in the run's code: a run keeps them from the moment a step is called until it is released. One that is asked
for while the code still repeats what it did, after a crash or a sleep, waits for that: it may use what the code keeps
of the results.
"""

from __future__ import annotations

import asyncio
import inspect
from typing import TYPE_CHECKING, Any

from workers_shim import errors, output, values
from workers_shim.attempt import js, warn_of_subclass
from workers_shim.call import Call
from workers_shim.rest import own_wait
from workers_shim.scope import NEUTRAL, Scope
from workers_shim.wire.messages import CancelUndo, Undo

if TYPE_CHECKING:
    from workers_shim.run import Run

PHASE = "WorkflowFatalError: Cannot execute steps during rollback phase"
# Seconds in which a replay has to come on, until it is at the step that is to be undone; a blocked loop does not count.
# It is no limit of the whole: after a crash hundreds of long instances replay at once.
LIMIT = 10.0
FIRST_LOOK = 0.02  # seconds until the replay is looked at again; doubles up to LAST_LOOK
LAST_LOOK = 0.5


class Undos:
    """The undo functions of one run; the host asks for one at a time."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._calls: dict[tuple[str, int], Call] = {}
        self._task: tuple[Scope, asyncio.Task[None]] | None = None
        self._wanted: Undo | None = None  # the code has not come to its step (again) yet
        self._left = 0.0  # seconds
        self._ahead = 0  # of the journal, at the last look
        self._pause = FIRST_LOOK
        self._timer: asyncio.TimerHandle | None = None

    @property
    def waiting(self) -> bool:
        """Whether an undo function is wanted to whose step the code has not come yet."""
        return self._wanted is not None

    def keep(self, call: Call) -> None:
        """The code called a step that can be undone."""
        self._calls[call.name, call.nth] = call
        if self._wanted is not None and self._call_of(self._wanted) is call:
            self._pause = FIRST_LOOK
            self._look_again()

    def undo(self, message: Undo) -> None:
        """Run a step's undo function, now or when the code has come to the step and to what followed it."""
        self._wanted = message
        self._ahead, self._left, self._pause = self._run.replay.left, LIMIT, FIRST_LOOK
        if self._run.over or self._has_come_to(message):
            self.ended()
        else:
            self._look_again()

    def cancel(self, message: CancelUndo) -> None:
        """Give an attempt up: what it says from now on is not heard."""
        if self._task is None:
            return
        scope, task = self._task
        assert scope.call is not None
        if (scope.call.name, scope.call.nth, scope.attempt) == (message["name"], message["nth"], message["attempt"]):
            scope.dead = True
            task.cancel()

    def ended(self) -> None:
        """``run()`` is over, or is waited for no longer: a step that it has not called by now it will not call."""
        wanted = self._wanted
        if wanted is None:
            return
        self._stop_waiting()
        call = self._call_of(wanted)
        if call is not None:
            self._begin(call, wanted)
        else:
            self._run.send(missing(wanted))

    def release(self) -> None:
        """Forget everything."""
        self._stop_waiting()
        self._calls.clear()

    # ------------------------------------------------------------------------------------------------------ running

    def _begin(self, call: Call, message: Undo) -> None:
        scope = Scope(self._run, call, message["attempt"], undo=True)
        context = scope.inside(call.context or NEUTRAL)
        self._task = scope, self._run.loop.create_task(self._undo(scope, call, message), context=context)

    async def _undo(self, scope: Scope, call: Call, message: Undo) -> None:
        self._run.send({"t": "undoing", **_head(message)})
        undone: dict[str, Any] = {"t": "undone", **_head(message)}
        try:
            assert call.undo is not None
            result = call.undo(_given(call, message))
            if inspect.isawaitable(result):
                await result
        except GeneratorExit:
            raise  # the loop is being closed
        except BaseException as error:  # also SystemExit: user code must not end the isolate
            undone["error"] = errors.report(error)
            warn_of_subclass(error)
        finally:
            output.flush()
        if not scope.dead:
            self._run.send(undone)

    # ------------------------------------------------------------------------------------------------------ waiting

    def _look_again(self) -> None:
        self._stop_timer()
        self._timer = self._run.loop.call_later(self._pause, self._look, context=NEUTRAL)
        self._left -= self._pause
        self._pause = min(2 * self._pause, LAST_LOOK)

    def _look(self) -> None:
        self._timer = None
        assert self._wanted is not None, "who waits no longer is not called"
        if self._run.replay.left < self._ahead:
            self._ahead, self._left = self._run.replay.left, LIMIT
        if self._left <= 0 or self._has_come_to(self._wanted) or self._at_rest():
            self.ended()
        else:
            self._look_again()

    def _call_of(self, message: Undo) -> Call | None:
        return self._calls.get((message["name"], message["nth"]))

    def _has_come_to(self, message: Undo) -> bool:
        """Whether the code has called the step, and was given every result that the journal has."""
        repeats = self._run.replay.muted or (self._run.undoing and self._run.pump.busy())
        return self._call_of(message) is not None and not repeats

    def _at_rest(self) -> bool:
        """Whether the code will call nothing more by itself, and no result that it waits for is still to come."""
        run = self._run
        if run.pump.due or run.pump.busy() or any(map(run.replay.lacks, run.calls.values())):
            return False
        return not own_wait(run.loop, run.tasks, lambda scope: scope is run.root)[0]

    def _stop_waiting(self) -> None:
        self._wanted = None
        self._stop_timer()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def missing(message: Undo) -> dict[str, Any]:
    """The answer that the code does not come to the step."""
    return {"t": "undone", **_head(message), "missing": True}


def _head(message: Undo) -> dict[str, Any]:
    return {key: message[key] for key in ("run", "name", "nth", "attempt")}


def _given(call: Call, message: Undo) -> values.JsDict:
    """What the function is called with, made anew for each attempt."""
    return values.JsDict(
        ctx=js(message["context"]),
        error=errors.revive(message["error"]),
        output=values.decode(message["output"]) if "output" in message else None,
        stepName=f"{call.name}-{call.nth}",
    )
