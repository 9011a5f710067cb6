"""Instances are created, come into memory and leave it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from runtime.engine import commands as cmd
from runtime.host.clock import Clock
from runtime.host.instances import NewInstance, NotFound
from runtime.store import JournalExists, Key, MemoryStore, Store, StoreFull, StoreUnusable
from tests.host.conftest import Hosts
from tests.host.disk import FULL, Disk
from tests.host.virtual_clock import rest
from tests.host.world import Host, crash, until

pytestmark = pytest.mark.asyncio

A = Key("wf", "a")

# --------------------------------------------------------------------------------------------------------------- create


async def test_a_created_instance_runs_by_itself(host: Host) -> None:
    isolate = host.serve()

    existed = await host.create("a", params='["p"]')

    (start,) = isolate.told("start")
    assert existed == set()
    assert (start["instance"], start["workflow"], start["class_name"]) == ("a", "wf", "Wf")
    assert start["event"] == {"payload": '["p"]', "timestamp": host.clock.now()}
    assert await host.kinds() == ["created", "workflow_queued", "workflow_started", "workflow_running"]


async def test_an_id_that_exists_is_left_alone(host: Host) -> None:
    isolate = host.serve()
    await host.create("a", "b")

    assert await host.create("b", "c") == {"b"}
    assert [start["instance"] for start in isolate.told("start")] == ["a", "b", "c"]


async def test_i8_of_64_creations_of_one_id_at_once_one_is_done(host: Host) -> None:
    isolate = host.serve()

    wanted = [NewInstance("a", "[1]")]
    existed = await asyncio.gather(*(host.instances.create("wf", wanted) for _ in range(64)))
    await rest()

    assert sorted(map(len, existed)) == [0] + [1] * 63
    assert len(isolate.told("start")) == 1


async def test_i8_a_created_instance_runs_though_its_host_is_gone(hosts: Hosts) -> None:
    before = hosts()
    await before.create("a")  # acknowledged; there is no isolate yet

    host = hosts(await crash(before))
    isolate = host.serve()
    await host.recover()

    assert len(isolate.told("start")) == 1


@pytest.mark.parametrize("point", ["create.before_file", "create.after_file", "catalog.before_commit"])
async def test_a_creation_that_fails_raises_its_error_and_leaves_nothing(hosts: Hosts, disk: Disk, point: str) -> None:
    store = MemoryStore(hook=disk)
    host = hosts(store)
    isolate = host.serve()
    disk.fails[point] = FULL

    with pytest.raises(StoreFull):
        await host.create("a")
    disk.fails.clear()

    assert (store.catalog.rows, store.journals.committed) == ({}, {})
    assert await host.create("a") == set()
    assert len(isolate.told("start")) == 1


async def test_a_creation_that_cannot_be_confirmed_is_taken_back_when_the_disk_lets_us(
    hosts: Hosts, disk: Disk, quick: None
) -> None:
    store = MemoryStore(hook=disk)
    host = hosts(store)

    def full_after_the_row(point: str, key: Key | None) -> None:
        disk(point, key)
        if point == "create.after_file":
            disk.fails["catalog.before_commit"] = FULL

    store.journals._hook = full_after_the_row
    with pytest.raises(StoreFull):
        await host.create("a")
    assert store.catalog.rows[A].state == "creating"

    disk.fails.clear()
    await until(lambda: not store.catalog.rows)
    assert store.journals.committed == {}


async def test_when_one_file_of_a_batch_cannot_be_made_none_is(hosts: Hosts, disk: Disk) -> None:
    store = MemoryStore(hook=disk)
    host = hosts(store)
    disk.fails["create.before_file"], disk.only = StoreUnusable("b.db", "broken"), Key("wf", "b")

    with pytest.raises(StoreUnusable):
        await host.create("a", "b", "c")

    assert (store.catalog.rows, store.journals.committed) == ({}, {})


async def test_a_file_that_stood_there_without_a_row_is_not_removed(host: Host) -> None:
    assert isinstance(host.store, MemoryStore)
    host.store.journals.committed[A] = []

    with pytest.raises(JournalExists):
        await host.create("a")

    assert A in host.store.journals.committed
    assert host.store.catalog.rows == {}


# ------------------------------------------------------------------------------------------------- in and out of memory


async def test_an_instance_that_ends_leaves_memory_and_its_row_says_how(host: Host) -> None:
    code = await host.code(host.serve())

    code.done("out")

    assert await host.in_memory() == 0
    row = await host.store.catalog.get(A)
    assert row is not None
    assert (row.status, row.dirty, row.wake_at, row.ended) == ("complete", False, None, host.clock.now())
    assert code.released


async def test_what_is_asked_while_an_instance_leaves_waits_until_it_has_left(host: Host) -> None:
    code = await host.code(host.serve())
    code.done()

    asked = host.instances.ask(A, cmd.Restart())  # its journal is being closed just now

    assert (await asked).refusal is None
    await rest()
    assert await host.status() == "running"


async def test_an_instance_is_dropped_opened_and_dropped_again_without_a_trace(host: Host) -> None:
    await host.create("a")
    await host.instances.ask(A, cmd.Terminate())

    for _ in range(5):
        await asyncio.gather(*(host.instances.ask(A, cmd.Pause()) for _ in range(3)))

    assert await host.in_memory() == 0


async def test_many_who_ask_at_once_open_the_journal_once(host: Host) -> None:
    assert isinstance(host.store, MemoryStore)
    await host.create("a")
    await host.instances.ask(A, cmd.Terminate())
    await rest()

    decisions = await asyncio.gather(*(host.instances.ask(A, cmd.Terminate()) for _ in range(10)))

    assert all(decision.refusal is not None for decision in decisions)
    assert host.store.journals.open_files == 1  # it has ended: its file is left to be closed when it is idle


async def test_the_state_of_an_instance_on_disk_is_read_without_waking_it(host: Host) -> None:
    code = await host.code(host.serve())
    code.done()
    await rest()

    assert await host.status() == "complete"
    assert await host.in_memory() == 0


async def test_there_is_no_state_of_what_does_not_exist(host: Host) -> None:
    with pytest.raises(NotFound):
        await host.status("nobody")
    with pytest.raises(NotFound):
        await host.instances.ask(A, cmd.Pause())


# -------------------------------------------------------------------------------------------------------------- on disk


async def test_the_same_on_disk(tmp_path: Path) -> None:
    store = await Store.open(tmp_path / "state")
    host = Host(store, Clock())
    isolate = host.serve()
    try:
        assert await host.instances.create("wf", [NewInstance(str(i), "[1]") for i in range(100)]) == set()
        await until(lambda: len(isolate.told("start")) == 100)
        for start in isolate.told("start"):
            code = isolate.codes(start["instance"])[0]
            await until(lambda code=code: code.run in host.runs._owners)  # type: ignore[misc]
            code.done(start["instance"])
        await until(lambda: not host.instances._live and not host.instances._leaving)
        assert await store.catalog.counts() == {"wf": {"complete": 100}}

        await asyncio.gather(*(host.instances.delete(Key("wf", str(i))) for i in range(100)))

        assert [path for path in (tmp_path / "state" / "instances").rglob("*") if path.is_file()] == []
        assert host.runs.free == store.journals.limit
    finally:
        await host.stop()
        await store.close()


async def test_an_instance_that_is_asked_something_before_its_creation_is_acknowledged_is_not_taken_for_a_new_one_later(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    confirm = host.instances.catalog.confirm

    async def confirm_and_be_slow(keys: Any) -> None:
        await confirm(keys)
        await host.instances.ask(A, cmd.SendEvent("go", "[1]"))

    monkeypatch.setattr(host.instances.catalog, "confirm", confirm_and_be_slow)
    code = await host.code(host.serve())
    code.sleep("1 hour")
    code.parked()
    await host.later(5)
    assert (code.released, await host.in_memory()) == (True, 0)

    await host.instances.ask(A, cmd.SendEvent("go", "[2]"))

    assert (await host.instances.state(A)).last_event == 2
