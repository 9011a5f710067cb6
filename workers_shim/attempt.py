"""Attempts: the callbacks of `do` calls while they run, and the questions to delay functions."""

from __future__ import annotations

import asyncio
import inspect
from typing import TYPE_CHECKING, Any

from workers_shim import current, errors, output, values
from workers_shim.call import Call, describe
from workers_shim.scope import NEUTRAL, Scope
from workers_shim.wire.frames import MAX_TEXT
from workers_shim.wire.messages import Cancel, Delay, Exec

if TYPE_CHECKING:
    from workers_shim.run import Run

_UNDEFINED = "-1"  # in devalue
DELAY_LIMIT = 5.0  # seconds a delay function may take; Cloudflare's


class Attempts:
    """The attempts of one run."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._tasks: dict[tuple[int, int], asyncio.Task[None]] = {}

    def exec(self, message: Exec) -> None:
        """Run the callback of a call."""
        call = self._run.calls.get(message["call"])
        if call is None or self._run.root.dead:
            return
        if call.misfit is not None:
            self._run.accepted(call)
            self._run.make_again(call)
            return
        scope = Scope(self._run, call, message["attempt"])
        ctx = _context(call, message["attempt"], message["config"])
        task = self._run.loop.create_task(
            self._attempt(scope, call, ctx), context=scope.inside(call.context or NEUTRAL)
        )
        self._tasks[message["call"], message["attempt"]] = task

    async def _attempt(self, scope: Scope, call: Call, ctx: values.JsDict) -> None:
        head = {"run": self._run.number, "call": call.number, "attempt": scope.attempt}
        self._run.send({"t": "began", **head})
        ran: dict[str, Any] = {"t": "ran", **head}
        try:
            assert call.body is not None
            value = call.body(ctx)
            if inspect.isawaitable(value):
                value = await value
            ran["value"], ran["size"] = _sendable(*values.encode(value))
        except GeneratorExit:
            raise  # the loop is being closed
        except BaseException as error:  # also SystemExit: user code must not end the isolate
            ran["error"] = errors.report(error)
            warn_of_subclass(error)
        finally:
            self._tasks.pop((call.number, ctx["attempt"]), None)
            output.flush()
        if not scope.dead:
            self._run.send(ran)

    def cancel(self, message: Cancel) -> None:
        """Give an attempt up: what it says and asks from now on is not heard."""
        task: Any = self._tasks.pop((message["call"], message["attempt"]), None)
        if task is not None:
            task.scope.dead = True
            task.cancel()

    def delay(self, message: Delay) -> None:
        """Ask a call's delay function how long to wait."""
        call = self._run.calls.get(message["call"])
        if call is None:
            return  # it settled; the host does not know yet
        scope = Scope(self._run, call, message["attempt"])
        self._run.loop.create_task(self._delay(call, message), context=scope.inside(call.context or NEUTRAL))

    async def _delay(self, call: Call, message: Delay) -> None:
        ctx = _context(call, message["attempt"], message["config"])
        answer: dict[str, Any] = {"t": "delayed", "run": self._run.number, "call": call.number}
        answer["attempt"] = message["attempt"]
        clock = asyncio.timeout(DELAY_LIMIT)
        try:
            async with clock:
                if call.delay is None:  # the code was changed since the host was told of one
                    raise LookupError(f"the code has no delay function for {describe(call.identity)}")
                value = call.delay(values.JsDict(ctx=ctx, error=values.JsDict(message["error"])))
                if inspect.isawaitable(value):
                    value = await value
            answer["value"] = _sendable(*values.encode(value))[0]
        except GeneratorExit:
            raise
        except BaseException as error:
            if clock.expired():
                answer["timeout"] = True
            else:
                answer["error"] = errors.message_of(error)
        if not self._run.root.dead:
            self._run.send(answer)


def _sendable(text: str, size: int) -> tuple[str, int]:
    """A value's text and size; of one that is too large to send the size alone, by which the host refuses it."""
    return (text if len(text) <= MAX_TEXT else _UNDEFINED), size


def warn_of_subclass(error: BaseException) -> None:
    """Cloudflare compares the exact name of the class, so a subclass is retried; few expect that."""
    name = type(error).__name__
    if isinstance(error, errors.NonRetryableError) and name != "NonRetryableError":
        current.host.warn(
            f"{name} is a subclass of NonRetryableError, and is retried: only NonRetryableError itself ends a step.",
            once=f"subclass {name}",
        )


def _context(call: Call, attempt: int, config: dict[str, Any]) -> values.JsDict:
    step = values.JsDict(name=call.name, count=call.nth)
    return values.JsDict(step=step, attempt=attempt, config=js(config))


def js(value: Any) -> Any:
    """A fresh copy of a JSON value, with attribute access: changing it changes nothing for the next attempt."""
    if isinstance(value, dict):
        return values.JsDict({key: js(member) for key, member in value.items()})
    if isinstance(value, list):
        return [js(member) for member in value]
    return value
