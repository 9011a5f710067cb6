"""Places in memory: who has one, and who waits for one."""

from __future__ import annotations

import asyncio

import pytest

from runtime.engine import commands as cmd
from runtime.host import runs
from runtime.host.runs import MAX_BEGINNING
from runtime.store import Key, MemoryStore
from tests.host.conftest import Hosts
from tests.host.fake_isolate import FakeIsolate
from tests.host.virtual_clock import rest
from tests.host.world import Host, store_with_places

pytestmark = pytest.mark.asyncio

A = Key("wf", "a")


async def test_the_257th_instance_queues_on_disk_and_runs_when_a_place_is_free(host: Host) -> None:
    assert isinstance(host.store, MemoryStore)
    isolate = host.serve()

    await host.create(*(str(i) for i in range(300)))
    await started(isolate, 256)
    assert host.store.journals.limit == 256
    assert (host.runs.free, await host.in_memory(), host.store.journals.open_files) == (0, 256, 256)
    assert await host.status("299") == "queued"
    for i in range(256):
        isolate.codes(str(i))[0].done()
    await rest()

    assert [start["instance"] for start in isolate.told("start")] == [str(i) for i in range(300)]
    assert host.runs.free == 256 - 44


async def test_few_instances_begin_at_a_time(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "CALM", 600)
    isolate = host.serve()

    await host.create(*(str(i) for i in range(MAX_BEGINNING + 2)))
    assert len(isolate.told("start")) == MAX_BEGINNING
    isolate.codes("0")[0].done()
    await rest()
    assert len(isolate.told("start")) == MAX_BEGINNING + 1
    (sleeper,) = isolate.codes("1")
    sleeper.sleep("1 day")
    await rest()
    sleeper.parked()
    await rest()
    assert len(isolate.told("start")) == MAX_BEGINNING + 2


async def test_one_that_takes_its_time_is_at_its_beginning_for_a_moment_only(host: Host) -> None:
    isolate = host.serve()
    await host.create(*(str(i) for i in range(2 * MAX_BEGINNING)))
    await started(isolate, 2 * MAX_BEGINNING)


async def started(isolate: FakeIsolate, count: int) -> None:
    """Wait until so many runs have begun: how many begin at a time is not by the clock of the tests."""
    async with asyncio.timeout(30):
        while len(isolate.told("start")) < count:
            await asyncio.sleep(0.01)
    await rest()


async def test_places_are_given_in_the_order_of_creation(hosts: Hosts) -> None:
    host = hosts(store_with_places(1))
    isolate = host.serve()
    await host.create("a", "b", "c")

    for id in "abc":
        isolate.codes(id)[0].done()
        await rest()

    assert [start["instance"] for start in isolate.told("start")] == ["a", "b", "c"]


async def test_without_an_isolate_instances_wait_for_one(host: Host) -> None:
    await host.create("a")
    assert await host.status() == "queued"

    isolate = host.serve()
    await rest()

    assert len(isolate.codes("a")) == 1


async def test_what_ends_while_it_waits_for_an_isolate_gives_its_place_back(hosts: Hosts) -> None:
    host = hosts(store_with_places(1))
    await host.create("a", "b")

    await host.instances.ask(A, cmd.Terminate())
    await rest()

    isolate = host.serve()
    await rest()
    assert [start["instance"] for start in isolate.told("start")] == ["b"]


async def test_what_is_asked_while_it_waits_for_an_isolate_costs_no_second_place(hosts: Hosts) -> None:
    host = hosts(store_with_places(1))
    await host.create("a")

    for _ in range(3):
        await host.instances.ask(A, cmd.SendEvent("go", "[1]"))

    assert (host.runs.free, await host.in_memory()) == (0, 1)
    isolate = host.serve()
    await rest()
    assert len(isolate.codes("a")) == 1


async def test_what_is_being_paused_when_an_isolate_comes_does_not_run(hosts: Hosts) -> None:
    host = hosts(MemoryStore(late=True))
    isolate = host.serve()
    await host.code(isolate)
    isolate.dies()
    await rest()
    instance = await host.instances.activate(Key("wf", "a"))

    paused = asyncio.ensure_future(instance.ask(cmd.Pause()))
    while instance.state.status != "paused":
        await asyncio.sleep(0)
    assert not paused.done(), "it is not committed yet"
    isolate = host.serve()
    await rest()

    assert isolate.codes("a") == []
    assert (await host.kinds())[-1] == "workflow_paused"
    await host.bind("resume", "a")
    isolate.codes("a")[-1].done()
    await rest()
    assert await host.status() == "complete"


async def test_an_instance_in_the_queue_that_is_asked_something_stays_in_the_queue(hosts: Hosts) -> None:
    host = hosts(store_with_places(1))
    isolate = host.serve()
    await host.create("a", "b")

    await host.instances.ask(Key("wf", "b"), cmd.SendEvent("go", "[1]"))
    assert await host.in_memory() == 1
    isolate.codes("a")[0].done()
    await rest()

    assert len(isolate.codes("b")) == 1


async def test_a_running_instance_that_is_queued_once_more_takes_no_second_place(host: Host) -> None:
    code = await host.code(host.serve())
    free = host.runs.free

    host.runs.queue([A])
    await rest()

    assert host.runs.free == free
    assert not code.released


async def test_an_instance_that_no_longer_exists_leaves_the_queue(hosts: Hosts) -> None:
    host = hosts(store_with_places(1))
    isolate = host.serve()
    await host.create("a", "b", "c")

    await host.instances.delete(Key("wf", "b"))
    host.runs.queue([Key("wf", "never was")])
    isolate.codes("a")[0].done()
    await rest()
    isolate.codes("c")[0].done()
    await rest()

    assert host.runs.free == 1
