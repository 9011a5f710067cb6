"""What a new host does with what the last one left half-done (I4)."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from runtime.engine import commands as cmd
from runtime.host.instances import NewInstance, NotFound
from runtime.store import Key, MemoryStore
from tests.host.conftest import Hosts
from tests.host.world import Host, crash

pytestmark = pytest.mark.asyncio

A = Key("wf", "a")


def new(id: str) -> NewInstance:
    return NewInstance(id, "[1]")


class Killed(BaseException):
    """The process ends here."""


async def killed_at(hosts: Hosts, wanted: str, action: Any) -> Host:
    """The next host, after one that was killed when it came to a point of the store."""
    store = MemoryStore()
    host = hosts(store)
    await host.create("a")
    armed = True

    def hook(point: str, key: Key | None) -> None:
        nonlocal armed
        if armed and point == wanted:
            armed = False
            raise Killed

    store.journals._hook = store.catalog._hook = hook
    with pytest.raises(Killed):
        await action(host)
    armed = False
    after = await crash(host)
    after.journals._hook = after.catalog._hook = lambda point, key: None
    return hosts(after)


async def test_an_empty_folder_has_nothing_to_recover(host: Host) -> None:
    recovered = await host.recover()

    assert (recovered.resumed, recovered.waiting, recovered.next_wake) == (0, 0, None)


async def test_a_creation_without_a_file_is_dropped(hosts: Hosts) -> None:
    host = await killed_at(hosts, "catalog.after_creating", lambda host: host.instances.create("wf", [new("b")]))
    assert isinstance(host.store, MemoryStore)
    assert host.store.catalog.rows[Key("wf", "b")].state == "creating"

    await host.recover()

    with pytest.raises(NotFound):
        await host.status("b")
    assert await host.create("b") == set()


async def test_a_creation_with_a_file_is_finished_and_runs(hosts: Hosts) -> None:
    host = await killed_at(hosts, "create.after_file", lambda host: host.instances.create("wf", [new("b")]))
    isolate = host.serve()

    recovered = await host.recover()

    assert recovered.resumed == 2
    assert [start["instance"] for start in isolate.told("start")] == ["a", "b"]


@pytest.mark.parametrize("point", ["delete.before_file", "delete.after_file"])
async def test_a_deletion_is_finished(hosts: Hosts, point: str) -> None:
    host = await killed_at(hosts, point, lambda host: host.instances.delete(A))
    assert isinstance(host.store, MemoryStore)

    await host.recover()

    assert (host.store.catalog.rows, host.store.journals.committed) == ({}, {})


async def test_what_ran_goes_on_by_itself_and_what_was_in_flight_counts_as_lost(hosts: Hosts) -> None:
    before = hosts()
    code = await before.code(before.serve())
    code.step("done", 1)
    code.do("in flight")

    host = hosts(await crash(before))
    isolate = host.serve()
    recovered = await host.recover()

    assert recovered.resumed == 1
    replay = isolate.codes("a")[0]
    assert replay.start["journal"][:2] == [["c", "do", "done", 1, 0], ["v", "do", "done", 1, "[1]"]]
    call = replay.do("in flight")
    assert replay.execs == [(call, 2)]


async def test_a_pending_pause_is_finished(hosts: Hosts) -> None:
    before = hosts()
    code = await before.code(before.serve())
    code.do()
    await before.instances.ask(A, cmd.Pause())
    assert await before.status() == "waitingForPause"

    host = hosts(await crash(before))
    await host.recover()

    assert await host.status() == "paused"
    assert await host.in_memory() == 0


async def test_what_had_ended_or_waits_is_put_right_and_put_away(hosts: Hosts) -> None:
    before = hosts()
    isolate = before.serve()
    (await before.code(isolate, "ended")).done()
    waits = await before.code(isolate, "waits")
    waits.sleep("1 hour")
    waits.parked()
    store = before.store
    assert isinstance(store, MemoryStore)
    after = await crash(before)
    for key, row in after.catalog.rows.items():
        after.catalog.rows[key] = msgspec.structs.replace(row, dirty=True)

    host = hosts(after)
    isolate = host.serve()
    await host.recover()

    assert isolate.told("start") == []
    assert {key.id: (row.status, row.dirty, row.wake_at) for key, row in after.catalog.rows.items()} == {
        "ended": ("complete", False, None),
        "waits": ("waiting", False, host.clock.now() + 3_600_000),
    }


async def test_recovery_leaves_instances_that_rest_on_disk(hosts: Hosts) -> None:
    before = hosts()
    code = await before.code(before.serve())
    code.sleep("1 hour")
    code.parked()
    await before.later(5)

    host = hosts(await crash(before))
    recovered = await host.recover()

    assert (recovered.resumed, recovered.waiting, await host.in_memory()) == (0, 1, 0)
    assert recovered.next_wake == host.clock.now() - 5_000 + 3_600_000
