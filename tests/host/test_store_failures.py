"""What becomes of instances whose journal cannot be written."""

from __future__ import annotations

import asyncio

import pytest

from runtime.engine import commands as cmd
from runtime.store import DamagedJournal, Key, MemoryStore, StoreBusy, StoreUnusable
from tests.host.conftest import Hosts
from tests.host.disk import FULL, Disk
from tests.host.virtual_clock import rest
from tests.host.world import until

pytestmark = pytest.mark.asyncio

A = Key("wf", "a")


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
