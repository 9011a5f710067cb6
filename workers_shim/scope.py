"""Who is speaking: the run, and in it the step attempt, that a task belongs to.

Everything that user code starts inherits its scope through the context: tasks, callbacks, timers. So one look at a
handle of the event loop tells whose it is, and a call of the step API knows in whose callback it was made.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextvars import Context, ContextVar, copy_context
from typing import TYPE_CHECKING, Any

from workers_shim import current

if TYPE_CHECKING:
    from workers_shim.call import Call
    from workers_shim.run import Run


class Scope:
    """A run's code outside steps (``call`` is None), or one attempt of one of its steps or of what undoes it."""

    __slots__ = ("attempt", "call", "dead", "run", "undo")

    def __init__(self, run: Run, call: Call | None = None, attempt: int | None = None, *, undo: bool = False) -> None:
        self.run = run
        self.call = call
        self.attempt = attempt
        self.undo = undo  # the attempt is of the call's undo function
        self.dead = False  # given up: what it still asks for is never answered

    def inside(self, context: Context) -> Context:
        """A copy of the context in which user code acts, and prints, in this scope."""
        inner = context.copy()
        inner.run(self._enter)
        return inner

    def _enter(self) -> None:
        SCOPE.set(self)
        step = None if self.call is None else f"{self.call.name}-{self.call.nth}"
        current.ORIGIN.set((self.run.number, step, self.attempt))


SCOPE: ContextVar[Scope | None] = ContextVar("SCOPE", default=None)

# What the isolate schedules for itself runs in here: never in a run's context, whose handles tell that code is busy.
NEUTRAL = copy_context()


class RunTask(asyncio.Task[Any]):
    """A task that belongs to a run."""

    scope: Scope


def task_factory(loop: asyncio.AbstractEventLoop, coro: Coroutine[Any, Any, Any], **options: Any) -> asyncio.Task[Any]:
    """Make the loop's tasks, and note those of runs with their run."""
    context: Context | None = options.get("context")
    scope = SCOPE.get() if context is None else context.get(SCOPE)
    if scope is None:
        return asyncio.Task(coro, loop=loop, **options)
    task = RunTask(coro, loop=loop, **options)
    task.scope = scope
    scope.run.tasks.add(task)
    return task
