"""The `step` object that `run()` is given: `do`, `sleep`, `sleep_until` and `wait_for_event`."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Sequence
from contextvars import copy_context
from datetime import timedelta
from types import FunctionType
from typing import TYPE_CHECKING, Any, NamedTuple

from workers_shim import current, errors, values, well_formed
from workers_shim.call import Call
from workers_shim.rollback import undo_function
from workers_shim.web.proxy import JsProxy, plain

if TYPE_CHECKING:
    from workers_shim.run import Run

Decorator = Callable[[Callable[..., Any]], Callable[[], Awaitable[Any]]]

_NULL = values.encode(None)[0]
_HELP = "See https://developers.cloudflare.com/workflows/build/sleeping-and-retrying/"


class Step:
    """One decorated function: how it is called, and what its last call gave."""

    __slots__ = ("concurrent", "config", "depends", "flight", "function", "memo", "name", "parameters", "rollback",
                 "rollback_config")  # fmt: skip

    def __init__(self, name: str, function: Callable[..., Any], config: Any, concurrent: bool) -> None:
        self.name = name
        self.function = function
        self.config = config
        self.concurrent = concurrent
        self.depends: Sequence[Any] | None = None
        self.rollback: Any = None
        self.rollback_config: Any = None
        self.parameters: list[Parameter] | None = None
        self.memo: tuple[Any] | None = None  # what the last call that succeeded gave: the very object
        self.flight: Call | asyncio.Task[Any] | None = None


class Parameter(NamedTuple):
    """A parameter of a step's function."""

    name: str
    keyword: bool


class WorkflowStep:
    """What both generations of `step.do` share."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._steps: dict[str, Step] = {}

    async def sleep(self, name: str, duration: Any) -> None:
        """Sleep for a number of milliseconds or a text like "10 seconds"."""
        await self._run.make("sleep", name, _encode(_duration(duration))).wait()

    async def sleep_until(self, name: str, timestamp: Any) -> None:
        """Sleep until a datetime (naive ones are UTC) or a number of milliseconds since the epoch."""
        await self._run.make("until", name, _encode(timestamp)).wait()

    async def wait_for_event(self, name: str, event_type: str, /, timeout: Any = "24 hours") -> Any:
        """Wait for an event of a type; gives its type, payload and timestamp."""
        arg = _encode({"type": event_type, "timeout": _duration(timeout)})
        return await self._run.make("wait", name, arg).wait()

    # ------------------------------------------------------------------------------------------------------- do

    def _decorate(self, step: Step) -> Callable[[], Awaitable[Any]]:
        self._steps[step.name] = step

        async def call() -> Any:
            return await self._call(step)

        call._step_name = step.name  # type: ignore[attr-defined]
        call._step = step  # type: ignore[attr-defined]
        return call

    async def _call(self, step: Step) -> Any:
        if step.parameters is None:
            step.parameters = _parameters(step.function)
        if not step.parameters:
            return await self._direct(step, step.function if step.depends is None else None)
        return await self._with_arguments(step, step.parameters)

    async def _direct(self, step: Step, function: Callable[[], Any] | None) -> Any:
        if function is None:
            self._sources(step, [])
            function = step.function
        body = function
        call = self._make(step, lambda _ctx: body())
        step.flight = call
        value = await call.wait()
        step.memo = (value,)
        if step.flight is call:
            step.flight = None
        return value

    async def _with_arguments(self, step: Step, parameters: list[Parameter]) -> Any:
        sources = self._sources(step, parameters)
        # A task, for who cancels this call must not stop the others that wait for the same result.
        task = step.flight = asyncio.create_task(self._resolved(step, parameters, sources))
        task.add_done_callback(_seen)
        return await asyncio.shield(task)

    async def _resolved(self, step: Step, parameters: list[Parameter], sources: list[Step | None]) -> Any:
        given = await self._gather([source for source in sources if source is not None], step.concurrent)
        call = self._make(step, _bound(step.function, parameters, sources, given))
        value = await call.wait()
        step.memo = (value,)
        step.flight = None
        return value

    async def _gather(self, sources: list[Step], concurrent: bool) -> list[Any]:
        if concurrent:
            return await asyncio.gather(*(self._result(source) for source in sources))
        return [await self._result(source) for source in sources]

    async def _result(self, step: Step) -> Any:
        """What a dependency gave, gives, or will give when it is called now."""
        if step.memo is not None:
            return step.memo[0]
        flight = step.flight
        if isinstance(flight, asyncio.Task) and not flight.done():
            return await asyncio.shield(flight)
        if isinstance(flight, Call) and (flight.outcome is None or flight.outcome.error is None):
            return await flight.wait()
        return await self._call(step)

    def _make(self, step: Step, body: Callable[[Any], Any]) -> Call:
        undo = undo_config = None
        if step.rollback is not None or step.rollback_config is not None:
            undo = undo_function(step.name, step.rollback)
            if step.rollback_config is not None:
                undo_config = _config(step.name, step.rollback_config, "Rollback")[0]
        self._run.count_step()
        arg, delay = _config(step.name, step.config)

        def prepare(call: Call) -> None:
            call.undo = undo
            call.undo_config = undo_config
            call.function = step.function
            call.body = body
            call.delay = delay
            call.context = copy_context()

        return self._run.make("do", step.name, arg, prepare)

    def _sources(self, step: Step, parameters: list[Parameter]) -> list[Step | None]:
        """Where each parameter comes from, None for the step context."""
        raise NotImplementedError


class ImplicitStep(WorkflowStep):
    """Parameters take the results of the steps that they are named after."""

    def do(
        self,
        name: str | None = None,
        *,
        concurrent: bool = False,
        config: Any = None,
        rollback: Any = None,
        rollback_config: Any = None,
    ) -> Decorator:
        """Make a function a step. ``rollback`` undoes it when the instance fails later, or is terminated so."""

        def decorate(function: Callable[..., Any]) -> Callable[[], Awaitable[Any]]:
            step = Step(_name(name, function), function, config, concurrent)
            step.rollback, step.rollback_config = rollback, rollback_config
            return self._decorate(step)

        return decorate

    def _sources(self, step: Step, parameters: list[Parameter]) -> list[Step | None]:
        return [self._source(parameter.name) for parameter in parameters]

    def _source(self, name: str) -> Step | None:
        if name in self._steps:
            return self._steps[name]
        if name == "ctx":
            return None
        error = TypeError(f"Received unexpected parameter {name}")
        known = ", ".join(f'"{step}"' for step in self._steps) or "none"
        errors.add_detail(error, f"A step's parameters are named after steps, or ctx. Known steps: {known}.")
        raise error


class LegacyStep(WorkflowStep):
    """Parameters take the results of the steps listed in ``depends``, in order."""

    def do(
        self,
        name: str | None,
        depends: Sequence[Any] | None = None,
        concurrent: bool = False,
        config: Any = None,
        *,
        rollback: Any = None,
        rollback_config: Any = None,
    ) -> Decorator:
        """Make a function a step. ``rollback`` undoes it when the instance fails later, or is terminated so."""

        def decorate(function: Callable[..., Any]) -> Callable[[], Awaitable[Any]]:
            step = Step(_name(name, function), function, config, concurrent)
            step.depends, step.rollback, step.rollback_config = depends, rollback, rollback_config
            return self._decorate(step)

        return decorate

    def _sources(self, step: Step, parameters: list[Parameter]) -> list[Step | None]:
        wanted = [parameter.name for parameter in parameters if parameter.name != "ctx"]
        depends = step.depends
        if depends is None and wanted:
            raise TypeError(f"Step has {len(wanted)} non-ctx parameter(s) but no 'depends' list provided")
        if depends is not None and len(depends) != len(wanted):
            counts = f"{len(wanted)} non-ctx parameter(s) but 'depends' has {len(depends)} item(s)"
            raise TypeError(f"Step declares {counts}")
        given = iter(depends or ())
        return [None if p.name == "ctx" else _step_of(next(given), p.name) for p in parameters]


def make_step(run: Run) -> WorkflowStep:
    """The step object for a run, by the project's compatibility date and flags."""
    implicit = current.host.flag("python_workflows_implicit_dependencies")
    return ImplicitStep(run) if implicit else LegacyStep(run)


def _seen(task: asyncio.Task[Any]) -> None:
    """Its error went to those who waited; when all of them were cancelled, it is nobody's."""
    if not task.cancelled():
        task.exception()


def _name(name: str | None, function: Callable[..., Any]) -> str:
    return well_formed.text(str(function.__name__ if name is None else name))


def _step_of(entry: Any, parameter: str) -> Step:
    step = getattr(entry, "_step", None)
    if not isinstance(step, Step):
        raise TypeError(f"'depends' entry for parameter {parameter!r} is not a function decorated with step.do")
    return step


def _parameters(function: Callable[..., Any]) -> list[Parameter]:
    if type(function) is FunctionType and not function.__dict__:  # inspect.signature takes 10 us
        code = function.__code__
        if not (code.co_argcount or code.co_kwonlyargcount or code.co_flags & 0x0C):
            return []
    kinds = inspect.Parameter
    return [
        Parameter(name, keyword=parameter.kind in (kinds.KEYWORD_ONLY, kinds.VAR_KEYWORD))
        for name, parameter in inspect.signature(function).parameters.items()
    ]


def _bound(
    function: Callable[..., Any], parameters: list[Parameter], sources: list[Step | None], given: list[Any]
) -> Callable[[Any], Any]:
    """The function with its dependencies' results in place, waiting for the step context."""

    def body(ctx: Any) -> Any:
        results = iter(given)
        arguments = [ctx if source is None else next(results) for source in sources]
        pairs = list(zip(parameters, arguments, strict=True))
        keywords = {parameter.name: value for parameter, value in pairs if parameter.keyword}
        return function(*(value for parameter, value in pairs if not parameter.keyword), **keywords)

    return body


def _encode(value: Any) -> str:
    return well_formed.encoded(values.encode(value)[0])  # the host reads it


def _duration(value: Any) -> Any:
    if not isinstance(value, timedelta):
        return value
    current.host.warn(
        "A timedelta works as a duration here; on Cloudflare it does not. Use milliseconds or a text.",
        once="timedelta",
    )
    return value / timedelta(milliseconds=1)


def _config(name: str, config: Any, what: str = "Step") -> tuple[str, Callable[[Any], Any] | None]:
    """A config as the host reads it, and its delay function, which stays here."""
    if config is None:
        return _NULL, None
    delay = None
    if isinstance(config, JsProxy):
        config = plain(config)
    if isinstance(config, dict):
        config = {key: _duration(value) for key, value in config.items()}
        retries = config.get("retries")
        if isinstance(retries, dict) and "delay" in retries:
            given = retries["delay"]
            delay = given if callable(given) else None
            config["retries"] = {**retries, "delay": "[dynamic]" if delay else _duration(given)}
    try:
        return _encode(config), delay
    except Exception as error:  # what cannot travel is no config; the engine says it in these words
        text = f'WorkflowFatalError: {what} config for "{name}" is in a invalid format. {_HELP}'
        raise errors.revive({"name": "Error", "message": text}) from error
