"""Workflow bindings as Worker code uses them: ``env.MY_WORKFLOW``."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import AsyncIterator, Iterator, Mapping
from types import TracebackType
from typing import Any, Self

from workers_shim import current, values
from workers_shim.scope import NEUTRAL
from workers_shim.web.proxy import Array, JsProxy, jsnull, plain

_USER_VALUES = ("params", "payload")  # what the host stores unread


class WorkflowBinding:
    """A Workflow whose instances can be made, found and deleted."""

    def __init__(self, workflow: str) -> None:
        self._workflow = workflow

    def __repr__(self) -> str:
        return "[object Workflow]"

    def __iter__(self) -> Iterator[Any]:
        raise TypeError("'Workflow' object is not iterable")

    def __len__(self) -> int:
        raise TypeError("object of type 'Workflow' has no len()")

    def __bool__(self) -> bool:
        return True

    async def create(self, options: Any = None, **more: Any) -> WorkflowInstance:
        """Make an instance and start it; options are ``id``, ``params``, ``retention`` and ``locationHint``."""
        made = await self._call("create", _arguments(options, more))
        return self._instance(made)

    async def create_batch(self, batch: Any = None, **more: Any) -> Any:
        """Make up to 100 instances: from a list of options, or from ``count`` or ``instances`` in an object."""
        made = await self._call("createBatch", _arguments(batch, more))
        if isinstance(made, list):
            return [self._instance(item) for item in made]
        made["created"] = [self._instance(item) for item in made["created"]]
        return made

    async def get(self, id: Any) -> WorkflowInstance:
        """Find an instance by its id."""
        return self._instance(await self._call("get", [plain(id)]))

    async def delete_batch(self, ids: Any) -> Any:
        """Delete instances by their ids; the answer says for each whether it was."""
        return await self._call("deleteBatch", [_listed(ids)])

    createBatch = create_batch
    deleteBatch = delete_batch

    async def _call(self, op: str, args: list[Any]) -> Any:
        return await current.host.bind(self._workflow, op, args)

    def _instance(self, made: Any) -> WorkflowInstance:
        return WorkflowInstance(self._workflow, made if isinstance(made, str) else made["id"])


class WorkflowInstance:
    """One instance of a Workflow."""

    def __init__(self, workflow: str, id: str) -> None:
        self._workflow = workflow
        self.id = id

    def __repr__(self) -> str:
        return f"WorkflowInstance(id={self.id!r})"

    async def status(self, options: Any = None, **more: Any) -> Any:
        """Its status, with output or error when it has ended."""
        return await self._call("status", _arguments(options, more))

    async def pause(self) -> None:
        await self._call("pause", [])

    async def resume(self) -> None:
        await self._call("resume", [])

    async def terminate(self, options: Any = None, **more: Any) -> None:
        await self._call("terminate", _arguments(options, more))

    async def restart(self, options: Any = None, **more: Any) -> None:
        """Run it again, from the start or from the step that ``from`` names."""
        await self._call("restart", _arguments(options, more))

    async def delete(self) -> None:
        await self._call("delete", [])

    async def send_event(self, event: Any = None, **more: Any) -> None:
        """Send it an event: ``type`` and ``payload``."""
        await self._call("sendEvent", _arguments(event, more))

    async def subscribe(self, options: Any = None, **more: Any) -> Subscription:
        """Follow its events, from the first on or from after ``cursor``, all or those in ``filter``."""
        return Subscription(self._workflow, await self._call("subscribe", _arguments(options, more)))

    sendEvent = send_event

    async def _call(self, op: str, args: list[Any]) -> Any:
        return await current.host.bind(self._workflow, op, [self.id, *args])


class Subscription:
    """The events of an instance, one by one. Leave it with ``dispose()`` or ``async with``."""

    def __init__(self, workflow: str, number: Any) -> None:
        self._workflow = workflow
        self._number = number
        self._forgotten = weakref.finalize(self, _forget, asyncio.get_running_loop(), workflow, number)

    async def next(self) -> Any:
        """Wait for the next event: ``{done: False, value}``, or ``{done: True}`` after the last one."""
        answer = await current.host.bind(self._workflow, "next", [self._number])
        if answer["done"]:
            self._forgotten.detach()
        return answer

    async def dispose(self) -> None:
        """Give the subscription up; a pending `next` is done."""
        self._forgotten.detach()
        await current.host.bind(self._workflow, "dispose", [self._number])

    async def __aiter__(self) -> AsyncIterator[Any]:
        while not (answer := await self.next())["done"]:
            yield answer["value"]

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.dispose()


def _forget(loop: asyncio.AbstractEventLoop, workflow: str, number: Any) -> None:
    """Dispose of a subscription that its code dropped. The collector calls this in any thread."""
    if not loop.is_closed():
        loop.call_soon_threadsafe(current.host.tell, workflow, "dispose", [number], context=NEUTRAL)


def _arguments(options: Any, more: dict[str, Any]) -> list[Any]:
    """The arguments of a call with one trailing options object, which keyword arguments may spell out."""
    given = [] if options is None else [_option(options)]
    return [*given, _option(more)] if more else given


def _option(value: Any) -> Any:
    """Options as plain dicts and lists, with the user's values in them replaced by their own text."""
    if isinstance(value, list | Array):
        return [_option(item) for item in value]
    fields = _fields(value)
    if fields is None:
        return value
    return {key: _member(key, item) for key, item in fields.items()}


def _member(key: Any, value: Any) -> Any:
    if key in _USER_VALUES:
        return values.encode(value, key)[0]
    return _option(value) if key == "instances" else _plain(value)


def _fields(value: Any) -> Mapping[Any, Any] | None:
    if isinstance(value, Mapping):
        return value
    return dict(value._own()) if isinstance(value, JsProxy) and value is not jsnull else None


def _plain(value: Any) -> Any:
    return plain(value) if isinstance(value, JsProxy | dict | list) else value


def _listed(ids: Any) -> Any:
    # Python code gives tuples, sets and dict views as readily as lists; JavaScript has one kind of sequence.
    return list(ids) if isinstance(ids, tuple | set | frozenset) else plain(ids)
