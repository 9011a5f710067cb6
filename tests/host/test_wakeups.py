"""Sleepers wake at their times: after restarts, many at once, and when the store has its own opinion."""

from __future__ import annotations

import asyncio

import pytest

from runtime.host import wakeups as module
from runtime.host.instances import NewInstance
from runtime.store import Key, MemoryStore, StoreFull, StoreUnusable
from tests.host.conftest import Hosts
from tests.host.fake_isolate import FakeIsolate
from tests.host.virtual_clock import rest
from tests.host.world import Host, crash

pytestmark = pytest.mark.asyncio

A = Key("wf", "a")


async def asleep(host: Host, isolate: FakeIsolate, id: str = "a", duration: str = "1 hour") -> None:
    """An instance that sleeps, out of memory."""
    code = await host.code(isolate, id)
    code.sleep(duration)
    code.parked()
    await host.later(5)
    assert code.released


async def test_a_sleeper_wakes_at_its_time_and_replays(host: Host) -> None:
    isolate = host.serve()
    await host.recover()
    await asleep(host, isolate)

    await host.later(3600 - 5 - 0.001)
    assert len(isolate.codes("a")) == 1
    await host.later(0.001)

    replay = isolate.codes("a")[-1]
    assert replay.start["journal"] == [["c", "sleep", "s", 1, 0], ["v", "sleep", "s", 1, "-1"]]
    assert (await host.kinds())[-2:] == ["workflow_running", "sleep_completed"]


async def test_i4_a_sleeper_keeps_its_time_over_a_restart(hosts: Hosts) -> None:
    before = hosts()
    await asleep(before, before.serve())
    await before.later(1000)

    host = hosts(await crash(before))
    isolate = host.serve()
    await host.recover()
    await host.later(3600 - 5 - 1000 - 0.001)
    assert isolate.told("start") == []
    await host.later(0.001)

    assert len(isolate.told("start")) == 1


async def test_i4_what_came_due_while_no_host_ran_is_seen_to_at_start_up_the_longest_overdue_first(
    hosts: Hosts,
) -> None:
    before = hosts()
    isolate = before.serve()
    await asleep(before, isolate, "late", "3 hours")
    await asleep(before, isolate, "early", "1 hour")
    await asleep(before, isolate, "far", "1 day")
    store = await crash(before)
    await before.later(4 * 3600)

    host = hosts(store)
    isolate = host.serve()
    recovered = await host.recover()

    assert (recovered.resumed, recovered.waiting) == (0, 3)
    assert [start["instance"] for start in isolate.told("start")] == ["early", "late"]


async def test_a_wait_that_times_out_wakes_its_instance(host: Host) -> None:
    isolate = host.serve()
    await host.recover()
    code = await host.code(isolate)
    code.wait("go", timeout="1 minute")
    code.parked()

    await host.later(60)

    (entry,) = [entry for entry in isolate.codes("a")[-1].start["journal"] if entry[0] == "e"]
    assert entry[4]["message"] == "WorkflowTimeoutError: Execution timed out after 60000ms"


async def test_a_retry_wakes_its_instance(host: Host) -> None:
    isolate = host.serve()
    await host.recover()
    code = await host.code(isolate)
    call = code.do("a", {"retries": {"limit": 1, "delay": "1 minute"}})
    code.raises(call)
    code.parked()

    await host.later(60)

    replay = isolate.codes("a")[-1]
    call = replay.do("a", {"retries": {"limit": 1, "delay": "1 minute"}})
    assert replay.execs == [(call, 2)]


async def test_the_soonest_sleeper_sets_the_one_alarm(host: Host) -> None:
    isolate = host.serve()
    await host.recover()
    for id, duration in (("a", "3 hours"), ("b", "1 hour"), ("c", "2 hours")):
        await asleep(host, isolate, id, duration)

    (alarm,) = host.clock.alarms  # type: ignore[attr-defined]

    assert alarm.at == host.clock.now() - 10_000 + 3_600_000


async def test_many_who_come_due_at_once_are_opened_a_few_at_a_time(
    hosts: Hosts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "WOKEN_AT_ONCE", 3)
    host = hosts()
    isolate = host.serve()
    for i in range(10):
        await asleep(host, isolate, str(i))
    asked: list[int] = []
    due = host.store.catalog.due

    async def watched(now: int, limit: int) -> list:  # type: ignore[type-arg]
        asked.append(len(host.instances._opening))
        rows = await due(now, limit)
        assert len(rows) <= 3
        return rows

    monkeypatch.setattr(host.store.catalog, "due", watched)
    await host.recover()
    await host.later(3600)

    assert len(isolate.told("start")) == 20
    assert set(asked) == {0}, "one group is awake before the next is called"


async def test_an_instance_that_was_deleted_meanwhile_wakes_nobody(host: Host) -> None:
    isolate = host.serve()
    await host.recover()
    await asleep(host, isolate)

    await host.instances.delete(A)
    await host.later(7200)

    assert len(isolate.told("start")) == 1


async def test_a_sleeper_that_cannot_be_opened_is_named_and_the_others_wake(host: Host) -> None:
    assert isinstance(host.store, MemoryStore)
    isolate = host.serve()
    await host.recover()
    await asleep(host, isolate, "a")
    await asleep(host, isolate, "b")
    del host.store.journals.committed[A]

    await host.later(3600)

    assert "wf/a is stopped" in host.err.getvalue()
    assert len(isolate.codes("b")) == 2


async def test_on_a_full_disk_sleepers_are_tried_again_and_not_without_a_pause(host: Host) -> None:
    store = host.store
    assert isinstance(store, MemoryStore)
    isolate = host.serve()
    await host.recover()
    await asleep(host, isolate)
    tries = 0

    def full(point: str, key: Key | None) -> None:
        nonlocal tries
        tries += 1
        raise StoreFull("catalog.db")

    hook, store.catalog._hook = store.catalog._hook, full
    await host.later(3600 - 5)
    assert tries == 1
    await host.later(10)
    assert tries == 3
    store.catalog._hook = hook
    await host.later(5)

    assert len(isolate.codes("a")) == 2
    assert host.err.getvalue().count("error:") == 1


async def test_when_the_catalog_cannot_be_read_it_is_asked_again(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    isolate = host.serve()
    await asleep(host, isolate)

    async def broken(now: int, limit: int) -> None:
        raise StoreUnusable("catalog.db", "I/O error")

    with monkeypatch.context() as patch:
        patch.setattr(host.store.catalog, "due", broken)
        await host.recover()
        await host.later(3600)
    assert len(isolate.codes("a")) == 1
    await host.later(5)

    assert len(isolate.codes("a")) == 2
    assert host.err.getvalue() == "error: StoreUnusable: catalog.db cannot be used: I/O error.\n"


async def test_the_users_offset_moves_all_times(host: Host) -> None:
    isolate = host.serve()
    await host.recover()
    await asleep(host, isolate)

    host.clock.offset_ms = 3_600_000
    await host.later(0)

    assert len(isolate.codes("a")) == 2


async def test_it_can_be_closed_before_it_was_started(host: Host) -> None:
    await host.wakeups.close()
    await host.instances.create("wf", [NewInstance("a", "[1]")])
    await asyncio.gather(rest())
