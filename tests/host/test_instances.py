from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runtime.engine import commands as cmd
from runtime.host import instances as module
from runtime.host.clock import Clock
from runtime.host.instances import NewInstance, NotFound
from runtime.store import (
    DamagedJournal,
    JournalExists,
    Key,
    MemoryStore,
    Store,
    StoreBusy,
    StoreFull,
    StoreUnusable,
)
from tests.host.conftest import Hosts
from tests.host.fake_isolate import Code
from tests.host.virtual_clock import rest
from tests.host.world import Host, crash

pytestmark = pytest.mark.asyncio

A = Key("wf", "a")


class Disk:
    """A hook for a memory store: what is in ``fails`` happens at the commits of these points."""

    def __init__(self) -> None:
        self.fails: dict[str, Exception] = {}
        self.only: Key | None = None

    def __call__(self, point: str, key: Key | None) -> None:
        if point in self.fails and self.only in (None, key):
            raise self.fails[point]


FULL = StoreFull("a.db")


@pytest.fixture
def disk() -> Disk:
    return Disk()


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk is looked at again very soon."""
    monkeypatch.setattr(module, "RETRY_FULL", 0.001)


async def until(condition: Callable[[], bool]) -> None:
    """Let what repeats itself go on until the condition holds; the test's timeout is its end."""
    while not condition():
        await asyncio.sleep(0)


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


# --------------------------------------------------------------------------------------------------------------- delete


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


# ------------------------------------------------------------------------------------------------ when the store fails


@pytest.mark.parametrize(
    "error", [FULL, StoreBusy("a.db"), StoreUnusable("a.db", "too many open files")], ids=lambda e: type(e).__name__
)
async def test_what_passes_stops_the_instance_with_a_name_and_it_goes_on_by_itself(
    hosts: Hosts, disk: Disk, quick: None, error: Exception
) -> None:
    host = hosts(MemoryStore(hook=disk))
    isolate = host.serve()
    code = await host.code(isolate)
    other = await host.code(isolate, "b")
    disk.fails["journal.before_commit"], disk.only = error, A

    code.do()
    assert code.released
    assert code.execs == []
    other.step()
    assert other.rets == {1: None}
    assert host.err.getvalue().startswith(f"error: wf/a is stopped: {error}\n  It goes on by itself ")
    disk.fails.clear()
    await until(lambda: len(isolate.codes("a")) > 1)
    isolate.codes("a")[-1].done()
    assert await host.status() == "complete"


async def test_a_disk_that_stays_full_is_looked_at_again_and_again(hosts: Hosts, disk: Disk, quick: None) -> None:
    store = MemoryStore(hook=disk)
    host = hosts(store)
    isolate = host.serve()
    code = await host.code(isolate)
    disk.fails |= {"journal.before_commit": FULL, "catalog.before_commit": FULL}
    attempts = 0

    def count(point: str, key: Key | None) -> None:
        nonlocal attempts
        attempts += point == "catalog.before_commit"
        disk(point, key)

    store.catalog._hook = count
    code.do()
    await until(lambda: attempts > 3)
    disk.fails.clear()

    await until(lambda: len(isolate.codes("a")) > 1)
    assert host.err.getvalue().count("error:") == 1


async def test_a_sleeper_whose_row_could_not_be_written_is_put_to_bed_again(
    hosts: Hosts, disk: Disk, quick: None
) -> None:
    store = MemoryStore(hook=disk)
    host = hosts(store)
    code = await host.code(host.serve())
    code.sleep("1 hour")
    code.parked()
    disk.fails["catalog.before_commit"] = FULL
    await host.later(6)
    assert store.catalog.rows[A].dirty

    disk.fails.clear()

    await until(lambda: not store.catalog.rows[A].dirty)
    assert store.catalog.rows[A].wake_at == host.clock.now() - 6_000 + 3_600_000


async def test_other_errors_stop_the_instance_until_somebody_asks_for_it(hosts: Hosts, disk: Disk) -> None:
    host = hosts(MemoryStore(hook=disk))
    isolate = host.serve()
    code = await host.code(isolate)
    disk.fails["journal.before_commit"] = DamagedJournal("a.db", "a.db.damaged", "malformed")

    code.do()
    await rest()
    assert "wf/a is stopped: The journal a.db is damaged (malformed)" in host.err.getvalue()
    assert await host.in_memory() == 0
    disk.fails.clear()

    await host.instances.ask(A, cmd.Pause())
    await rest()
    assert await host.status() == "paused"


async def test_who_asked_hears_of_the_error(hosts: Hosts, disk: Disk) -> None:
    host = hosts(MemoryStore(hook=disk, late=True))
    await host.create("a")
    disk.fails["journal.before_commit"] = StoreUnusable("a.db", "I/O error")

    outcomes = await asyncio.gather(*(host.instances.ask(A, cmd.Terminate()) for _ in range(2)), return_exceptions=True)

    assert [type(outcome) for outcome in outcomes] == [StoreUnusable, StoreUnusable]
    disk.fails.clear()
    assert await host.status() == "queued", "nothing of it has happened"


async def test_i1_a_state_that_could_not_be_committed_is_not_shown(hosts: Hosts, disk: Disk) -> None:
    host = hosts(MemoryStore(hook=disk, late=True))
    code = await host.code(host.serve())
    disk.fails["journal.before_commit"] = StoreUnusable("a.db", "I/O error")

    code.done("out")
    assert host.instances._live[A].state.status == "complete"

    assert await host.status() == "running"
    disk.fails.clear()


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
