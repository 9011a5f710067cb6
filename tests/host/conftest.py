"""A host in memory for each test, which must leave nothing behind."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
import pytest_asyncio

from runtime.host import instances
from runtime.store import MemoryStore
from tests.host.disk import Disk
from tests.host.fake_isolate import Code, FakeIsolate
from tests.host.virtual_clock import VirtualClock
from tests.host.world import Host, Stored

Hosts = Callable[..., Host]


@pytest_asyncio.fixture
async def hosts() -> AsyncIterator[Hosts]:
    """Makes hosts over a store. At the end each living one gives back every place, alarm, file and task."""
    made: list[Host] = []
    clock = VirtualClock()
    problems: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, problem: problems.append(problem))

    def make(store: Stored | None = None) -> Host:
        made.append(Host(store or MemoryStore(), clock))
        return made[-1]

    yield make
    for host in made:
        if not host.instances._closing:
            async with asyncio.timeout(5):  # of a test that failed, something may wait for ever
                await leaves_nothing(host)
    assert problems == []


@pytest_asyncio.fixture
async def host(hosts: Hosts) -> Host:
    """A host over an empty store in memory."""
    return hosts()


@pytest_asyncio.fixture
async def isolate(host: Host) -> FakeIsolate:
    """The isolate that the host's instances run on."""
    return host.serve()


@pytest_asyncio.fixture
async def code(host: Host, isolate: FakeIsolate) -> Callable[..., Awaitable[Code]]:
    """Creates an instance; gives its first run."""

    async def create(id: str = "a") -> Code:
        return await host.code(isolate, id)

    return create


async def leaves_nothing(host: Host) -> None:
    """When all instances are deleted, nothing is held for any of them."""
    await host.forget_everything()
    runs, instances = host.runs, host.instances
    assert runs.free == host.store.journals.limit, "every place has been given back"
    assert (dict(runs._queue), runs.held, dict(runs._parked)) == ({}, {}, {})
    assert dict(runs.lingering._alarms) == {}
    assert not any(line.holders or line.begun or line.new for line in runs._slots._lines.values())
    kept = (instances._live, instances._opening, instances._leaving, instances._deleting)
    assert kept == ({}, {}, {}, {})
    assert (host.subscriptions._by_key, instances._tasks) == ({}, set())
    await host.stop()
    assert getattr(host.clock, "alarms", []) == []
    assert asyncio.all_tasks() == {asyncio.current_task()}


@pytest.fixture
def disk() -> Disk:
    """The hook of a store whose disk may fail."""
    return Disk()


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk is looked at again very soon."""
    monkeypatch.setattr(instances, "RETRY_FULL", 0.001)
