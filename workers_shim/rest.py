"""Whether a run awaits anything but the engine.

A task awaits only the engine when it waits on a call's future, on a task that does, or on something that such futures
complete through the standard library's own combinators: gather, wait, as_completed, shield, TaskGroup. Anything else,
a timer first of all, is something of its own.
"""

from __future__ import annotations

import asyncio
from asyncio import tasks as _tasks
from collections.abc import Callable, Collection, Iterable, Iterator
from types import FrameType
from typing import Any

from workers_shim import place
from workers_shim.call import CallFuture
from workers_shim.place import Place
from workers_shim.scope import SCOPE, RunTask, Scope

Mine = Callable[[Scope], bool]

_WAIT: Any = vars(_tasks)["_wait"].__code__
_GATHERING: Any = vars(_tasks)["_GatheringFuture"]
# `__aexit__` moved its waiting into `_aexit` in Python 3.13.
_GROUP_EXITS = [vars(asyncio.TaskGroup)[name].__code__ for name in ("__aexit__", "_aexit")
                if name in vars(asyncio.TaskGroup)]  # fmt: skip
_QUEUE_GET = asyncio.Queue.get.__code__
_SHIELD = "shield.<locals>._outer_done_callback"


def busy(loop: Any, mine: Mine) -> bool:
    """Whether the loop has a handle ready in one of these scopes: their code goes on by itself."""
    return any(_belongs(handle, mine) for handle in list(loop._ready))


def busy_in(loop: Any, scope: Scope) -> bool:
    """`busy` for one scope, written out: it is asked for each result."""
    # A copy, which the interpreter lock keeps whole: other threads (the watch's, the user's) add handles at any moment.
    for handle in list(loop._ready):  # noqa: SIM110 - a generator would cost as much again
        if handle._context.get(SCOPE) is scope and not handle._cancelled:
            return True
    return False


def own_wait(loop: Any, tasks: Iterable[RunTask], mine: Mine) -> tuple[bool, Place | None]:
    """Whether code in these scopes awaits something of its own, and where."""
    alive = [task for task in tasks if not task.done() and mine(task.scope)]
    waits = _Waits(alive)
    for task in alive:
        if waits.own_task(task):
            return True, place.of_coroutine(task.get_coro())
    for handle in loop._scheduled:
        if _belongs(handle, mine):
            return True, _place_of_timer(handle, alive)
    return False, None


def own_awaits(tasks: Iterable[RunTask], mine: Mine) -> Iterator[tuple[asyncio.Future[Any], RunTask]]:
    """What the tasks of these scopes await themselves that neither the engine nor one of them completes.

    Unlike a timer around calls of the engine (``asyncio.timeout``), these are awaits that take their time.
    """
    alive = [task for task in tasks if not task.done() and mine(task.scope)]
    waits = _Waits(alive)
    for task in alive:
        for future in waits.leaves(task):
            yield future, task


def _belongs(handle: Any, mine: Mine) -> bool:
    if handle._cancelled:
        return False
    scope = handle._context.get(SCOPE)
    return scope is not None and mine(scope)


def _place_of_timer(handle: Any, alive: list[RunTask]) -> Place | None:
    timeout = getattr(handle._callback, "__self__", None)  # asyncio.timeout() knows its task
    owner = getattr(timeout, "_task", None) or (alive[0] if alive else None)
    return None if owner is None else place.of_coroutine(owner.get_coro())


class _Waits:
    """One look at what tasks wait on; tasks that wait on each other are looked at once."""

    def __init__(self, alive: list[RunTask]) -> None:
        self._alive = alive
        self._seen: dict[asyncio.Task[Any], bool] = {}

    def own_task(self, task: asyncio.Task[Any]) -> bool:
        if task not in self._seen:
            self._seen[task] = False  # a circle of tasks awaits nothing of its own
            waiter = getattr(task, "_fut_waiter", None)
            self._seen[task] = waiter is None or self._own_future(waiter, task)
        return self._seen[task]

    def leaves(self, task: asyncio.Task[Any]) -> Iterator[asyncio.Future[Any]]:
        """What a task awaits of its own, behind the standard library's combinators."""
        waiter = getattr(task, "_fut_waiter", None)
        return iter(()) if waiter is None else self._leaves(waiter, task)

    def _leaves(self, future: asyncio.Future[Any], waiting: asyncio.Task[Any] | None) -> Iterator[asyncio.Future[Any]]:
        if future.done() or isinstance(future, CallFuture) or future in self._alive:
            return  # a task of ours is looked at by itself
        sources = None if isinstance(future, asyncio.Task) else self._sources(future, waiting)
        if sources is None:
            yield future
        for source in sources or ():
            yield from self._leaves(source, None)

    def _own_future(self, future: asyncio.Future[Any], waiting: asyncio.Task[Any] | None) -> bool:
        if future.done() or isinstance(future, CallFuture):
            return False
        if isinstance(future, asyncio.Task):
            return future not in self._alive or self.own_task(future)
        sources = self._sources(future, waiting)
        return sources is None or any(self._own_future(source, None) for source in sources)

    def _sources(self, future: Any, waiting: asyncio.Task[Any] | None) -> Collection[asyncio.Future[Any]] | None:
        """The futures that complete this one, None when that is not known."""
        if isinstance(future, _GATHERING):
            return list(vars_of(future, "_children"))
        for callback, _context in future._callbacks or ():
            if getattr(callback, "__qualname__", "") == _SHIELD:
                return [_closure(callback)["inner"]]
        return None if waiting is None else self._sources_in_frames(list(place.await_chain(waiting.get_coro())))

    def _sources_in_frames(self, frames: list[FrameType]) -> Collection[asyncio.Future[Any]] | None:
        leaf = frames[-1] if frames else None
        if leaf is None:
            return None
        if leaf.f_code is _WAIT:
            return list(leaf.f_locals["fs"])
        if leaf.f_code in _GROUP_EXITS:
            return list(leaf.f_locals["self"]._tasks)
        if leaf.f_code is _QUEUE_GET:
            return self._feeders(leaf.f_locals["self"])
        return None

    def _feeders(self, queue: asyncio.Queue[Any]) -> Collection[asyncio.Future[Any]] | None:
        """The futures whose completion `as_completed` puts into this queue of its own."""
        for task in self._alive:
            for callback, _context in getattr(task, "_callbacks", None) or ():
                for todo in _as_completed_sets(callback, queue):
                    return list(todo)
        return None


def vars_of(owner: Any, name: str) -> Any:
    """A private attribute of one of asyncio's objects."""
    return getattr(owner, name)


def _closure(function: Any) -> dict[str, Any]:
    cells = function.__closure__ or ()
    return {name: cell.cell_contents for name, cell in zip(function.__code__.co_freevars, cells, strict=True)}


def _as_completed_sets(callback: Any, queue: asyncio.Queue[Any]) -> Iterator[Collection[Any]]:
    iterator = getattr(callback, "__self__", None)  # an object since Python 3.13, closures before
    if getattr(iterator, "_done", None) is queue:
        yield vars_of(iterator, "_todo")
    elif getattr(callback, "__closure__", None):
        cells = _closure(callback)
        if cells.get("done") is queue:
            yield cells["todo"]
