"""The objects that a test holds: bindings, instances and subscriptions, with a Worker's own methods, but blocking.

Each method asks the Worker's side for the object of the same name there and calls the method on it, so arguments are
read, and errors are raised, as in the Worker.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any

from runtime.host.instances import NotFound
from runtime.host.workflows import bindings_of
from runtime.store import Key, Line

from . import history
from .errors import NothingMoves
from .host import Host
from .session import Session

_TRACES = {  # the lines that tell that a method has had its effect
    "terminate": {"workflow_terminated", "rollback_started"},
    "restart": {"restarted"},
    "delete": {"created"},  # it is gone with all others
    "send_event": {"event_received"},
}


class Env:
    """``env`` as the Worker has it: variables as they are, Workflow bindings as `Workflow`."""

    def __init__(self, session: Session) -> None:
        self._session = session
        bindings = bindings_of(session.project, session.options.target)
        self._workflows = {name: declared.name for name, declared in bindings.items()}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in self._workflows:
            return Workflow(self._session, name, self._workflows[name])
        env = self._session.host.work.env
        if not hasattr(env, name):
            raise AttributeError(f"env has no {name}; it has {', '.join(sorted(self.__dir__())) or 'nothing'}")
        return getattr(env, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_"):
            raise AttributeError(
                f"env.{name} cannot be set: the Worker has an env of its own. "
                "Give variables when it is opened: Worker.open(..., vars={...}) or @pytest.mark.worker(vars={...})"
            )
        super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return [name for name in dir(self._session.host.work.env) if not name.startswith("__")]


class Workflow:
    """A Workflow binding."""

    def __init__(self, session: Session, binding: str, name: str) -> None:
        self.session = session
        self.binding = binding
        self.name = name

    def create(self, options: Any = None, **more: Any) -> Instance:
        """Make an instance and start it; options are ``id``, ``params`` and ``retention``."""
        id, options, more = _named(options, more)
        key = Key(self.name, id)
        existed = self.session.has(key)
        asking = self._asking("create", options, **more)
        made = self.session.do(asking, lambda: not existed and self.session.has(key))
        return Instance(self.session, self.binding, self.name, id if made is None else made.id)

    def create_batch(self, batch: Any = None, **more: Any) -> Any:
        """Make up to 100 instances: from a list of options, or from ``count`` or ``instances``."""
        made = self._ask("create_batch", batch, **more)
        if isinstance(made, list):
            return [self._instance(one) for one in made]
        made["created"] = [self._instance(one) for one in made["created"]]
        return made

    def get(self, id: Any) -> Instance:
        """Find an instance by its id."""
        return self._instance(self._ask("get", id))

    def delete_batch(self, ids: Any) -> Any:
        """Delete instances by their ids."""
        return self._ask("delete_batch", ids)

    def list(self) -> list[Instance]:
        """All instances that exist, oldest first."""

        async def ids(host: Host) -> list[str]:
            rows = await host.store.catalog.list(self.name, limit=1_000_000)
            return [row.id for row in reversed(rows)]

        return [Instance(self.session, self.binding, self.name, id) for id in self.session.call(ids)]

    def _instance(self, made: Any) -> Instance:
        return Instance(self.session, self.binding, self.name, made.id)

    def _ask(self, method: str, *args: Any, **more: Any) -> Any:
        return self.session.call(self._asking(method, *args, **more))

    def _asking(self, method: str, *args: Any, **more: Any) -> Callable[[Host], Awaitable[Any]]:
        async def ask(host: Host) -> Any:
            return await getattr(getattr(host.work.env, self.binding), method)(*args, **more)

        return ask

    def __repr__(self) -> str:
        return f"<Workflow {self.name} of env.{self.binding}>"


def _named(options: Any, more: dict[str, Any]) -> tuple[Any, Any, dict[str, Any]]:
    """The arguments of a create, and the id in them.

    An id that is left out is made here, so that after a crash in the middle it can be told whether it is there.
    """
    unnamed = {"id": str(uuid.uuid4())}
    if options is None:
        more = unnamed | more
        return more["id"], None, more
    if isinstance(options, Mapping):
        options = unnamed | dict(options)
        return options["id"], options, more
    return None, options, more


class Instance:
    """One instance of a Workflow."""

    def __init__(self, session: Session, binding: str, workflow: str, id: str) -> None:
        self._session = session
        self._binding = binding
        self.workflow = workflow
        self.id = id

    def status(self, options: Any = None, **more: Any) -> Any:
        """Its status, with output or error when it has ended."""
        return self._ask("status", options, **more)

    def pause(self) -> None:
        """Let it stop before its next step."""
        self._ask("pause")

    def resume(self) -> None:
        """Let it go on."""
        self._ask("resume")

    def terminate(self, options: Any = None, **more: Any) -> None:
        """End it where it is."""
        self._do("terminate", options, **more)

    def restart(self, options: Any = None, **more: Any) -> None:
        """Run it again, from the start or from the step that ``from`` names."""
        self._do("restart", options, **more)

    def delete(self) -> None:
        """Remove it and all it stored."""
        self._do("delete")

    def send_event(self, event: Any = None, **more: Any) -> None:
        """Send it an event: ``type`` and ``payload``."""
        self._do("send_event", event, **more)

    def subscribe(self, options: Any = None, **more: Any) -> Subscription:
        """Follow its events."""
        return Subscription(self._session, self._ask("subscribe", options, **more))

    @property
    def key(self) -> Key:
        """How the store knows it."""
        return Key(self.workflow, self.id)

    def lines(self) -> list[Line]:
        """The lines of its journal; none when it does not exist."""

        async def read(host: Host) -> list[Line]:
            try:
                return await host.instances.lines(self.key)
            except NotFound:
                return []

        return self._session.call(read)

    def journal(self) -> list[dict[str, Any]]:
        """Everything that was committed for it: the events of ``subscribe()`` and the internal ones."""
        return history.entries(self.lines())

    def events(self) -> list[dict[str, Any]]:
        """All events that ``subscribe()`` would replay now."""
        return history.public(self.lines())

    def timeline(self) -> str:
        """What happened to it, to be read."""
        return history.timeline(f"{self.workflow}/{self.id}", self.lines())

    def _ask(self, method: str, *args: Any, **more: Any) -> Any:
        return self._session.call(self._asking(method, *args, **more))

    def _do(self, method: str, *args: Any, **more: Any) -> None:
        before = self._traces(method)
        self._session.do(self._asking(method, *args, **more), lambda: self._traces(method) != before)

    def _traces(self, method: str) -> int:
        """What of the method is committed: it grows when the method has had its effect."""
        return sum(line.kind in _TRACES[method] for line in self._session.committed(self.key))

    def _asking(self, method: str, *args: Any, **more: Any) -> Callable[[Host], Awaitable[Any]]:
        async def ask(host: Host) -> Any:
            return await getattr(host.work.instance(self.workflow, self.id), method)(*args, **more)

        return ask

    def __repr__(self) -> str:
        return f"<Instance {self.workflow}/{self.id}>"


class Subscription:
    """The events of an instance, one by one."""

    def __init__(self, session: Session, far: Any) -> None:
        self._session = session
        self._far = far
        self._reading: asyncio.Task[Any] | None = None

    def next(self) -> Any:
        """The next event: ``{"done": False, "value": ...}``, or ``{"done": True}`` after the last one.

        Raises `NothingMoves` when there is none and everything is at rest; it may be asked again.
        """

        async def read(host: Host) -> asyncio.Task[Any]:
            if self._reading is None:
                self._reading = asyncio.ensure_future(self._far.next())
            return self._reading

        reading = self._session.call(read)
        if not reading.done():
            raise NothingMoves(
                "There is no event now, and none will come by itself; move the clock, or send something."
            )
        self._reading = None
        return reading.result()

    def dispose(self) -> None:
        """Give it up."""

        async def dispose(host: Host) -> None:
            await self._far.dispose()

        self._session.call(dispose)

    def __iter__(self) -> Iterator[Any]:
        while not (answer := self.next())["done"]:
            yield answer["value"]
