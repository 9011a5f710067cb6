"""One use of the step API, from the moment the code makes it until its outcome is handed over."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import Context
from typing import Any

from workers_shim import current, errors, values
from workers_shim.place import Place
from workers_shim.scope import Scope
from workers_shim.wire.describe import describe
from workers_shim.wire.messages import ErrorData, Identity, Kind

__all__ = ["Call", "CallFuture", "Outcome", "describe"]


class CallFuture(asyncio.Future[None]):
    """What a task waits on while it waits for the engine, and for nothing else."""


class Outcome:
    """How a call settled: a value as text, decoded once and then shared by all who wait, or an error."""

    __slots__ = ("_decoded", "error", "text", "value")

    def __init__(self, text: str | None = None, error: ErrorData | None = None) -> None:
        self.text = text
        self.error = error
        self.value: Any = None
        self._decoded = False

    def unwrap(self) -> Any:
        """Give the value or raise the error; each waiter gets an exception object of its own."""
        if self.error is not None:
            raise errors.revive(self.error)
        if not self._decoded:
            assert self.text is not None
            self.value = values.decode(self.text)
            self._decoded = True
        return self.value


class Call:
    """A call of `do`, `sleep`, `sleep_until` or `wait_for_event`."""

    __slots__ = ("body", "context", "delay", "function", "kind", "misfit", "name", "nth", "number", "outcome", "place",
                 "scope", "undo", "undo_config", "waiters")  # fmt: skip

    def __init__(self, number: int, kind: Kind, name: str, nth: int, scope: Scope) -> None:
        self.number = number
        self.kind = kind
        self.name = name
        self.nth = nth
        self.scope = scope  # in which it was made
        self.function: Callable[..., Any] | None = None  # the user's
        self.body: Callable[[Any], Any] | None = None  # it with its parameters filled, given the step context
        self.delay: Callable[[Any], Any] | None = None
        self.undo: Callable[[Any], Any] | None = None  # given {ctx, error, output, stepName}
        self.undo_config: str | None = None  # as the host reads it
        self.context: Context | None = None
        self.place: Place | None = None
        self.misfit: str | None = None  # what the journal had in its place, until it is known to be accepted
        self.outcome: Outcome | None = None
        self.waiters: list[CallFuture] = []

    @property
    def identity(self) -> Identity:
        """What it is known by across replays."""
        return (self.kind, self.name, self.nth)

    @property
    def nested(self) -> bool:
        """Whether it was made inside a step's callback."""
        return self.scope.call is not None

    def settle(self, outcome: Outcome) -> None:
        """Hand the outcome to all who wait."""
        assert self.outcome is None, f"{describe(self.identity)} settled twice"
        self.outcome = outcome
        if self.kind == "wait" and outcome.error is None and all(waiter.done() for waiter in self.waiters):
            self._warn_unheard()
        for waiter in self.waiters:
            if not waiter.done():
                waiter.set_result(None)
        self.waiters.clear()

    def _warn_unheard(self) -> None:
        """As on Cloudflare, a wait whose task was cancelled stays registered, and takes its event from later ones."""
        current.host.warn(
            f"{describe(self.identity)} took an event, but the code no longer waits for it: its task was cancelled.",
        )

    async def wait(self) -> Any:
        """Give the call's value or raise its error. Cancelling one who waits changes nothing for the others."""
        if self.outcome is None:
            waiter = CallFuture()
            self.waiters.append(waiter)
            await waiter
            assert self.outcome is not None
        return self.outcome.unwrap()
