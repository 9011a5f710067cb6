"""An instance is deleted, whatever it is doing."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from runtime.engine import commands as cmd
from runtime.host.instances import NewInstance, NotFound
from runtime.store import (
    Key,
    MemoryStore,
    StoreUnusable,
)
from tests.host.conftest import Hosts
from tests.host.disk import Disk
from tests.host.fake_isolate import Code
from tests.host.virtual_clock import rest
from tests.host.world import Host

pytestmark = pytest.mark.asyncio

A = Key("wf", "a")


async def queued(host: Host) -> None:
    """There is no isolate."""


async def begun(host: Host) -> Code:
    isolate = host.serve()
    await rest()
    return isolate.codes("a")[0]


async def running(host: Host) -> None:
    (await begun(host)).do()


async def sleeping(host: Host) -> None:
    (await begun(host)).sleep("1 hour")


async def hibernating(host: Host) -> None:
    code = await begun(host)
    code.sleep("1 hour")
    code.parked()
    await host.later(60)
    assert await host.in_memory() == 0


async def paused(host: Host) -> None:
    await begun(host)
    await host.instances.ask(A, cmd.Pause())


async def ended(host: Host) -> None:
    (await begun(host)).done()


STAGES = [queued, running, sleeping, hibernating, paused, ended]


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.__name__)
async def test_an_instance_is_deleted_at_every_stage_and_its_id_is_free_again(host: Host, stage: Any) -> None:
    assert isinstance(host.store, MemoryStore)
    await host.create("a")
    await stage(host)

    await host.instances.delete(A)

    with pytest.raises(NotFound):
        await host.status()
    assert (host.store.catalog.rows, host.store.journals.committed) == ({}, {})
    isolate = host.serve()
    assert await host.create("a") == set()
    isolate.codes("a")[0].done()
    assert await host.status() == "complete"


async def test_code_that_deletes_its_own_instance_hears_nothing_more(host: Host) -> None:
    isolate = host.serve()
    code = await host.code(isolate)

    isolate.says({"t": "bind", "id": 1, "workflow": "wf", "op": "delete", "args": '[[1],"a"]'})
    await rest()
    code.done()

    assert code.released
    with pytest.raises(NotFound):
        await host.status()


async def test_two_deletions_at_once_remove_one_instance(host: Host) -> None:
    await host.create("a")

    outcomes = await asyncio.gather(*(host.instances.delete(A) for _ in range(3)), return_exceptions=True)

    assert [type(outcome) for outcome in outcomes] == [type(None), NotFound, NotFound]


async def test_a_creation_waits_for_a_deletion_of_its_id(host: Host) -> None:
    isolate = host.serve()
    await host.create("a")

    created = host.instances.create("wf", [NewInstance("a", "[1]")])
    _, existed = await asyncio.gather(host.instances.delete(A), created)
    await rest()

    assert existed == set()
    assert len(isolate.told("start")) == 2


async def test_whoever_waits_for_a_deleted_instance_is_told_that_there_is_none(host: Host) -> None:
    await host.create("a")
    instance = await host.instances.activate(A)

    asked = instance.ask(cmd.Pause())
    assert await instance.discard(NotFound())

    with pytest.raises(NotFound):
        await asked
    assert not await instance.discard(NotFound()), "it has left already"
    host.instances._live.pop(A)


async def test_a_deletion_that_failed_can_be_done_again(hosts: Hosts, disk: Disk) -> None:
    store = MemoryStore(hook=disk)
    host = hosts(store)
    await host.create("a")
    disk.fails["delete.before_file"] = StoreUnusable("a.db", "broken")
    with pytest.raises(StoreUnusable):
        await host.instances.delete(A)

    disk.fails.clear()
    await host.instances.delete(A)

    assert store.catalog.rows == {}


async def test_an_instance_whose_journal_cannot_be_read_can_be_deleted(host: Host) -> None:
    assert isinstance(host.store, MemoryStore)
    code = await host.code(host.serve())
    code.done()
    await rest()
    host.store.journals.committed[A] = host.store.journals.committed[A][1:2] * 2

    await host.instances.delete(A)

    assert host.store.journals.committed == {}
