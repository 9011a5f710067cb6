"""What a run says, turned into commands for its instance."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from runtime.engine import Decision, Failure
from runtime.engine import commands as cmd
from runtime.engine.durations import js_number
from runtime.engine.failures import not_serialisable
from runtime.engine.state import Kind
from runtime.engine.views import failure
from runtime.store.types import Key

from .advice import advice
from .instance import Instance
from .run import Run
from .runs import Runs
from .undo import running_undo
from .values import read

Message = dict[str, Any]


class RunMessages:
    """Hears the runs of all isolates. Messages of a run that is over are dropped."""

    def __init__(self, runs: Runs, now: Callable[[], int], advise: Callable[[Key, str], None]) -> None:
        self._runs = runs
        self._now = now
        self._advise = advise
        self._handlers: dict[str, Callable[[Instance, Run, Message], None]] = {
            "call": self._call,
            "began": self._began,
            "ran": self._ran,
            "delayed": self._delayed,
            "parked": self._parked,
            "awaiting": self._awaiting,
            "undoing": self._undoing,
            "undone": self._undone,
            "done": self._done,
            "lost": self._lost,
        }

    def handles(self, message: Message) -> bool:
        """Deal with the message if it is a run's; False when it is not."""
        handler = self._handlers.get(message["t"])
        if handler is None:
            return False
        instance = self._runs.owner(message["run"])
        if instance is not None and instance.run is not None and instance.run.id == message["run"]:
            try:
                handler(instance, instance.run, message)
            except Exception as error:
                # What one run says must not cost all others their isolate, which an exception here would close.
                instance.fail(error)
        return True

    def _call(self, instance: Instance, run: Run, message: Message) -> None:
        if run.moving:
            return
        run.made += 1
        run.stirs()
        number = message["call"]
        arg = read(message["arg"])
        command = _call_made(instance, run, message, arg, self._now())
        for text in advice(message["kind"], message["name"], arg) if arg is not None else ():
            self._advise(instance.key, text)

        def known(decision: Decision) -> None:
            if decision.refusal is not None:
                run.told += 1
                error = failure(decision.refusal)
                run.isolate.send({"t": "ret", "run": run.id, "call": number, "error": error, "refused": True}, run.id)
                return
            record = instance.state.find((command.kind, command.name, command.nth))
            if record is not None:
                run.attach(number, record.step)

        instance.tell(command, run, known)

    def _began(self, instance: Instance, run: Run, message: Message) -> None:
        step = run.calls.get(message["call"])
        if step is not None:
            instance.attempt_began(run, step, message["attempt"], self._now())

    def _ran(self, instance: Instance, run: Run, message: Message) -> None:
        step = run.calls.get(message["call"])
        if step is None:
            return
        run.stirs()
        run.over(step)
        attempt = message["attempt"]
        if "fatal" in message:
            error = _fatal(message["fatal"], instance.state.records[step].name)
            command = cmd.AttemptFinished(step, attempt, error=error, held=run.moving, fatal=True)
        elif "error" in message:
            command = cmd.AttemptFinished(step, attempt, error=_failure(message["error"]), held=run.moving)
        else:
            command = cmd.AttemptFinished(step, attempt, output=message["value"], size=message["size"], held=run.moving)
        instance.tell(command, run)

    def _delayed(self, instance: Instance, run: Run, message: Message) -> None:
        step = run.calls.get(message["call"])
        if step is None:
            return
        attempt = message["attempt"]
        if message.get("timeout"):
            command = cmd.DelayAnswered(step, attempt, problem="did not return within 5 seconds")
        elif "error" in message:
            command = cmd.DelayAnswered(step, attempt, problem=f"threw an error: {message['error']}")
        else:
            command = cmd.DelayAnswered(step, attempt, value=read(message["value"]))
        instance.tell(command, run)

    def _parked(self, instance: Instance, run: Run, message: Message) -> None:
        run.resting = False
        current = message["calls"] == run.made and message["rets"] == run.told and instance.quiet
        if run.isolate.parks_by_ending:
            self._runs.ended_by_resting(run, crossed=not current or bool(run.results))
        elif current and not run.moving:
            if run.results:
                instance.pass_over(run)
                instance.nudge()
            else:
                self._runs.rested(run)
        else:
            instance.nudge()  # it crossed newer news: the turn asks again if that is still worth it

    def _awaiting(self, instance: Instance, run: Run, message: Message) -> None:
        self._runs.awaits(run, message["seconds"], message["where"], message.get("longest", 0.0))

    def _done(self, instance: Instance, run: Run, message: Message) -> None:
        if "error" in message:
            instance.tell(cmd.RunDone(error=_failure(message["error"]), held=run.moving), run)
        else:
            instance.tell(cmd.RunDone(output=message["value"]), run)

    def _lost(self, instance: Instance, run: Run, message: Message) -> None:
        self._runs.broke(run, message["reason"])

    def _undoing(self, instance: Instance, run: Run, message: Message) -> None:
        if running_undo(instance.state, message) is not None:
            instance.undo_began(run, self._now())

    def _undone(self, instance: Instance, run: Run, message: Message) -> None:
        step = running_undo(instance.state, message)
        if step is None:
            return
        run.undo.over()
        error = _failure(message["error"]) if "error" in message else None
        missing = message.get("missing", False)
        command = cmd.RollbackFinished(step, message["attempt"], error, missing=missing, held=run.moving)
        instance.tell(command, run)


def _fatal(error: dict[str, str], step: str) -> Failure:
    """What ends the instance; for a value that nothing can keep the engine has its own words."""
    return not_serialisable(step) if error["name"] == "DataCloneError" else _failure(error)


def _failure(error: dict[str, str]) -> Failure:
    return Failure(error["name"], error["message"], error.get("detail", ""))


def _call_made(instance: Instance, run: Run, message: Message, arg: Any, now: int) -> cmd.CallMade:
    kind: Kind = "sleep" if message["kind"] == "until" else message["kind"]
    parent = run.calls.get(message.get("parent", 0), 0)
    parent_attempt = instance.state.records[parent].attempt if parent else 0
    base = cmd.CallMade(kind, message["name"], message["nth"], parent, parent_attempt)
    return _with_argument(base, message, arg, now)


def _target(given: Any) -> float:
    """The target of a sleepUntil in ms since the epoch, NaN when it is none: a number, a Date, or a number's text."""
    if isinstance(given, str):
        return js_number(given)
    return float(given) if isinstance(given, int | float) else math.nan


def _with_argument(call: cmd.CallMade, message: Message, arg: Any, now: int) -> cmd.CallMade:
    match message["kind"]:
        case "do":
            dynamic = message.get("delay_function", False)
            if message.get("rollback"):
                undo = message.get("rollback_config")
                call = replace(call, rollback=True, rollback_config=None if undo is None else read(undo))
            if arg is None and not dynamic:
                return call
            return replace(call, config=arg, delay_function=dynamic)
        case "sleep":
            return replace(call, duration=arg)
        case "until":
            until = _target(arg)
            # On the way here a moment that the code called "now" has passed.
            called_in_time = until >= message.get("at", now)
            return replace(call, until=max(until, now) if called_in_time else until)
        case _:
            options = arg if isinstance(arg, dict) else {}
            return replace(call, event_type=options.get("type"), timeout=options.get("timeout"))
