"""A host for one run, in memory: a test says how it answers, and reads what it was told."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from tests.inbox import Inbox, Message
from workers_shim import current, values
from workers_shim.runs import Runs
from workers_shim.scope import task_factory

CONFIG = {"retries": {"limit": 5, "delay": 10000, "backoff": "exponential"}, "timeout": "10 minutes"}


class Surroundings:
    """What `current.host` is in these tests."""

    def __init__(self, *, implicit: bool) -> None:
        self.env = object()
        self.compatibility_date = "2026-11-01"
        self.warnings: list[str] = []
        self._implicit = implicit

    def flag(self, name: str) -> bool:
        return name == "python_workflows_implicit_dependencies" and self._implicit

    def bind(self, workflow: str, op: str, args: list[Any]) -> Any:
        raise NotImplementedError

    def tell(self, workflow: str, op: str, args: list[Any]) -> None:
        raise NotImplementedError

    def wait_until(self, awaitable: Any) -> None:
        raise NotImplementedError

    def warn(self, text: str, *, once: str | None = None) -> None:
        self.warnings.append(text)


class ScriptedHost:
    """Starts runs and speaks the host's part. Use it inside a running loop."""

    def __init__(self, *, implicit: bool = True) -> None:
        self.surroundings = Surroundings(implicit=implicit)
        current.host = self.surroundings
        self.loop = asyncio.get_running_loop()
        self.loop.set_task_factory(task_factory)  # type: ignore[arg-type]
        self.runs = Runs(self._hear, self.loop)
        self.heard: list[Message] = []
        self._inbox = Inbox()
        self._number = 0

    def _hear(self, message: Mapping[str, Any]) -> None:
        self.heard.append(dict(message))
        self._inbox.arrive([dict(message)])

    # ------------------------------------------------------------------------------------------------------ speaking

    def start(
        self,
        entrypoint: type[Any],
        journal: list[list[Any]] | None = None,
        payload: Any = None,
        limit: int = 10000,
        undo: bool = False,
        schedule: Message | None = None,
    ) -> int:
        """Start a run of the class; gives its number. One to ``undo`` is repeated for its undo functions only."""
        self._number += 1
        event: Message = {"payload": text({} if payload is None else payload), "timestamp": 1_750_000_000_123}
        if schedule is not None:
            event["schedule"] = schedule
        self.runs.start(
            {
                "t": "start",
                "run": self._number,
                "workflow": "flow",
                "class_name": entrypoint.__name__,
                "instance": "one",
                "event": event,  # type: ignore[typeddict-item]
                "step_limit": limit,
                "journal": journal or [],
                "undo": undo,
            },
            entrypoint,
            object(),
        )
        return self._number

    def exec(self, call: Message, attempt: int = 1, config: Message | None = None) -> None:
        """Order an attempt of a call."""
        run = self.runs.get(call["run"])
        assert run is not None
        run.attempts.exec(
            {"t": "exec", "run": call["run"], "call": call["call"], "attempt": attempt, "config": config or CONFIG}
        )

    def ret(self, call: Message, value: Any = None, **extra: Any) -> None:
        """Settle a call: with a value, or with ``error=`` and ``refused=``."""
        run = self.runs.get(call["run"])
        assert run is not None
        message: Any = {"t": "ret", "run": call["run"], "call": call["call"], **extra}
        if "error" not in extra:
            message["value"] = text(value)
        run.ret(message)

    def undo(self, run: int, name: str, nth: int = 1, attempt: int = 1, **more: Any) -> None:
        """Ask for a step's undo function; ``error`` and ``output`` may be given."""
        found = self.runs.get(run)
        assert found is not None
        context = {"step": {"name": name, "count": nth}, "attempt": 1, "config": CONFIG}
        error = more.pop("error", {"name": "Error", "message": "boom"})
        if "output" in more:
            more["output"] = text(more["output"])
        message: Any = {"t": "undo", "run": run, "name": name, "nth": nth, "attempt": attempt}
        message |= {"context": context, "error": error, **more}
        found.undos.undo(message)

    def cancel_undo(self, run: int, name: str, nth: int = 1, attempt: int = 1) -> None:
        """Give an attempt of an undo function up."""
        found = self.runs.get(run)
        assert found is not None
        found.undos.cancel({"t": "cancel_undo", "run": run, "name": name, "nth": nth, "attempt": attempt})

    def rest(self, run: int) -> None:
        """Ask when the run parks."""
        found = self.runs.get(run)
        assert found is not None
        found.pump.rest()

    def release(self, run: int) -> None:
        """Let a run go."""
        self.runs.release({"t": "release", "run": run})

    # ------------------------------------------------------------------------------------------------------- hearing

    async def next(self, *types: str) -> Message:
        """The next message of one of these types; others before it are passed over."""
        return await self._inbox.next(*types)

    async def serve(self, *, seen: list[Message] | None = None) -> Message:
        """Answer as an engine does that never fails and never waits, until the run is done."""
        calls: dict[int, Message] = {}
        while True:
            message = await self.next("call", "ran", "done")
            if seen is not None:
                seen.append(message)
            if message["t"] == "done":
                return message
            if message["t"] == "call":
                calls[message["call"]] = message
                if message["kind"] == "do":
                    self.exec(message)
                else:
                    self.ret(message)
            elif "error" in message:
                self.ret(calls[message["call"]], error=message["error"])
            else:
                self.ret(calls[message["call"]], values.decode(message["value"]))

    def told(self, kind: str) -> list[Message]:
        """All messages of a type so far."""
        return [message for message in self.heard if message["t"] == kind]


async def turns(count: int = 20) -> None:
    """Let the loop come round so many times: more than any chain of wake-ups in these tests needs."""
    for _ in range(count):
        await asyncio.sleep(0)


def text(value: Any) -> str:
    """The value as it travels."""
    return values.encode(value)[0]


def value(message: Message) -> Any:
    """What a message carries, or its error's message."""
    return values.decode(message["value"]) if "value" in message else message["error"]["message"]


def recorded(kind: str, name: str, nth: int = 1, result: Any = None) -> list[list[Any]]:
    """A call and its value, as the journal has them."""
    return [["c", kind, name, nth, 0], ["v", kind, name, nth, text(result)]]


class Base:
    """What a Workflow class of these tests derives from."""

    def __init__(self, ctx: Any, env: Any) -> None:
        self.ctx, self.env = ctx, env


__all__ = ["CONFIG", "Base", "Message", "ScriptedHost", "recorded", "text", "turns", "value"]
