"""The host's shell in memory: everything between the isolates and the store, joined as `runtime.host.app` joins it."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, Protocol, cast

import pytest

from runtime.cli.terminal import Terminal
from runtime.engine import Rules
from runtime.host.binding_rules import Refused
from runtime.host.clock import Clock
from runtime.host.instances import NewInstance
from runtime.host.isolates import Isolates
from runtime.host.recovery import Recovered, recover
from runtime.host.shell import Shell
from runtime.host.workflows import Workflow
from runtime.http.ingress import Ingress
from runtime.store import CatalogStore, JournalStore, Key, MemoryStore
from tests.host.fake_isolate import Code, FakeIsolate
from tests.host.virtual_clock import VirtualClock, rest
from workers_shim.wire import devalue

WORKFLOW = Workflow("wf", "Wf")
GRACE_MS = 5_000


class Stored(Protocol):
    """A store: in memory or on disk."""

    @property
    def catalog(self) -> CatalogStore: ...

    @property
    def journals(self) -> JournalStore: ...


class Elsewhere:
    """What has no part in these tests hears of lost isolates, too."""

    def lost(self, isolate: object) -> None:
        """Nothing to do."""


class Host(Shell):
    """One life of the host process over a store that may outlive it."""

    def __init__(self, store: Stored, clock: Clock, rest: Callable[[], Awaitable[None]] = rest) -> None:
        self.store = store
        self.rest = rest
        self.out, self.err = io.StringIO(), io.StringIO()
        terminal = Terminal.over(self.out, self.err, environ={})
        super().__init__(clock, store.catalog, store.journals, terminal, grace_ms=GRACE_MS)
        self.dispatch.isolates = cast(Isolates, Elsewhere())
        self.dispatch.ingress = cast(Ingress, Elsewhere())
        self.declare(WORKFLOW)

    # ------------------------------------------------------------------------------------------- what happens to it

    def declare(self, *workflows: Workflow) -> None:
        self.workflows = workflows
        self.instances.declare(workflows)

    def serve(self, classes: Iterable[str] = ("Wf",), *, parks_by_ending: bool = False) -> FakeIsolate:
        """An isolate has loaded the code."""
        isolate = FakeIsolate(self.dispatch, parks_by_ending=parks_by_ending)
        self.runs.serve(isolate, self.workflows, classes)
        return isolate

    async def recover(self) -> Recovered:
        """Start up on what the store holds."""
        recovered = await recover(self.store.catalog, self.store.journals, self.instances)
        self.wakeups.start()
        self.sweeper.start()
        await self.rest()
        return recovered

    async def create(self, *ids: str, params: str = "[{}]") -> set[str]:
        existed = await self.instances.create("wf", [NewInstance(id, params) for id in ids])
        await self.rest()
        return existed

    async def code(self, isolate: FakeIsolate, id: str = "a") -> Code:
        """A new instance's first run."""
        await self.create(id)
        return isolate.codes(id)[-1]

    async def bind(self, op: str, *args: Any) -> Any:
        """A method of the Workflow's binding or of a handle: its answer as a neutral value."""
        answer = devalue.parse(await self.bindings.call("wf", op, devalue.stringify(list(args))))
        await self.rest()
        return answer

    async def later(self, seconds: float) -> None:
        """Let virtual time pass."""
        assert isinstance(self.clock, VirtualClock)
        await self.clock.advance(round(seconds * 1000))

    # --------------------------------------------------------------------------------------------- what can be seen

    async def status(self, id: str = "a") -> str:
        return (await self.instances.state(Key("wf", id))).status

    async def kinds(self, id: str = "a") -> list[str]:
        """The kinds of the journal's lines."""
        return [line.kind for line in await self.instances.lines(Key("wf", id))]

    async def in_memory(self) -> int:
        """How many instances are in memory, once everything has come to rest."""
        await self.rest()
        return len(self.instances._live)

    # --------------------------------------------------------------------------------------------------------- end

    async def stop(self) -> None:
        """End the host in an orderly way."""
        await self.wakeups.close()
        await self.sweeper.close()
        await self.instances.close()

    async def forget_everything(self, workflows: Sequence[str] = ("wf",)) -> None:
        """Delete all instances."""
        for workflow in workflows:
            for row in await self.store.catalog.list(workflow, limit=100_000):
                await self.instances.delete(row.key)
        await self.rest()


async def refusal(host: Host, op: str, *args: Any) -> str:
    """The message of the plain error that a method of the binding raises."""
    with pytest.raises(Refused) as caught:
        await host.bind(op, *args)
    assert caught.value.failure.name == "Error"
    return caught.value.failure.message


def rules(**changes: Any) -> Rules:
    """Cloudflare's rules, but for these."""
    return Rules(**changes)


async def crash(host: Host) -> MemoryStore:
    """The host is killed: what is left is what was committed; nothing of it goes on."""
    assert isinstance(host.store, MemoryStore)
    store = host.store.crash()
    assert isinstance(host.clock, VirtualClock)
    host.clock.alarms.clear()
    await host.wakeups.close()
    await host.sweeper.close()
    host.instances._closing = True  # it does not go on; nobody waits for what it leaves, either
    await rest()
    return store


def store_with_places(count: int) -> MemoryStore:
    """A store in memory that has so many places for instances in memory."""
    store = MemoryStore()
    store.journals.limit = count
    return store


async def until(condition: Callable[[], bool]) -> None:
    """Let what repeats itself go on until the condition holds; the test's timeout is its end."""
    while not condition():
        await asyncio.sleep(0)
