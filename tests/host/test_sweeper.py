"""Finished instances expire: in the background, at their time, and never while something happens to them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from runtime.engine import Retention, Rules
from runtime.host.binding_rules import Refused
from runtime.host.instances import NewInstance, NotFound
from runtime.host.workflows import Workflow
from runtime.store import Key, MemoryStore, StoreFull, StoreUnusable
from tests.host.conftest import Hosts
from tests.host.virtual_clock import rest
from tests.host.world import Host, crash, refusal

pytestmark = pytest.mark.asyncio

A = Key("wf", "a")
DAY = 24 * 60 * 60
MS = 0.001


SECOND = Retention(success=1000)


async def ended(host: Host, *ids: str, retention: Retention = SECOND) -> None:
    """Instances of these ids that completed, each kept for a second unless told otherwise."""
    isolate = host.serve()
    await host.instances.create("wf", [NewInstance(id, "[{}]", retention) for id in ids])
    await host.rest()
    for id in ids:
        isolate.codes(id)[-1].done()
    await host.rest()


async def left(host: Host) -> list[str]:
    """The instances that the catalog lists, oldest first."""
    return [row.id for row in reversed(await host.store.catalog.list("wf"))]


def failing(host: Host, *errors: Exception) -> list[Exception]:
    """Files cannot be removed, for these reasons, one after another; gives what is left of them."""
    journals: Any = host.store.journals
    remove, reasons = journals.remove, list(errors)

    async def refuse(key: Key) -> None:
        if reasons:
            raise reasons.pop(0)
        await remove(key)

    journals.remove = refuse
    return reasons


async def test_an_instance_is_deleted_when_its_retention_is_over(host: Host) -> None:
    await host.recover()
    await ended(host, "a")

    await host.later(1 - MS)
    assert await host.status() == "complete"
    await host.later(MS)

    assert await left(host) == []
    assert await refusal(host, "get", "a") == "instance.not_found"
    assert host.store.journals.committed == {}  # type: ignore[attr-defined]


async def test_c020_without_a_retention_it_is_kept_for_30_days(host: Host) -> None:
    await host.recover()
    await ended(host, "a", retention=Retention())

    await host.later(30 * DAY - MS)
    assert await host.status() == "complete"
    await host.later(MS)
    assert await left(host) == []


async def test_the_retention_of_the_workflow_holds_for_those_who_ask_for_none(host: Host) -> None:
    host.declare(Workflow("wf", "Wf", Rules(success_retention=5000)))
    await host.recover()
    await ended(host, "a", retention=Retention())
    await ended(host, "b")

    await host.later(1)
    assert await left(host) == ["a"]
    await host.later(4)
    assert await left(host) == []


@pytest.mark.parametrize("end", ["errored", "terminated"])
async def test_one_that_failed_or_was_terminated_is_kept_for_the_error_retention(host: Host, end: str) -> None:
    isolate = host.serve()
    await host.recover()
    await host.instances.create("wf", [NewInstance("a", "[{}]", Retention(success=1000, error=2000))])
    await host.rest()
    if end == "errored":
        isolate.codes("a")[-1].fails()
    else:
        await host.bind("terminate", "a")
    assert await host.status() == end

    await host.later(2 - MS)
    assert await left(host) == ["a"]
    await host.later(MS)
    assert await left(host) == []


async def test_an_instance_that_has_not_ended_never_expires(host: Host) -> None:
    isolate = host.serve()
    await host.recover()
    await host.instances.create("wf", [NewInstance("a", "[{}]", Retention(1, 1))])
    await host.rest()
    code = isolate.codes("a")[-1]
    code.sleep("60 days")
    code.parked()

    await host.later(59 * DAY)

    assert await host.status() == "waiting"


async def test_many_expire_each_at_its_time_with_one_alarm(host: Host) -> None:
    await host.recover()
    for i in range(20):
        await ended(host, f"i{i}", retention=Retention(success=1000 * (20 - i)))
    assert len(host.clock.alarms) == 1  # type: ignore[attr-defined]

    await host.later(5)
    assert await left(host) == [f"i{i}" for i in range(15)]
    await host.later(15)
    assert await left(host) == []


async def test_a_restarted_instance_is_kept_and_expires_after_its_next_end(host: Host) -> None:
    isolate = host.serve()
    await host.recover()
    await ended(host, "a")
    isolate = host.serve()
    await host.bind("restart", "a")

    await host.later(10)
    assert await host.status() == "running"
    isolate.codes("a")[-1].done()
    await host.later(1 - MS)
    assert await left(host) == ["a"]
    await host.later(MS)
    assert await left(host) == []


async def test_looking_at_a_finished_instance_does_not_keep_it(host: Host) -> None:
    await host.recover()
    await ended(host, "a")
    with pytest.raises(Refused):
        await host.bind("sendEvent", "a", {"type": "go", "payload": "[1]"})  # wakes it, and is refused

    await host.later(1)

    assert await left(host) == []


async def test_those_who_are_told_of_deletions_are_told_of_expiries(host: Host) -> None:
    told: list[Key] = []
    host.instances.on_deleted = told.append
    await host.recover()
    await ended(host, "a")

    await host.later(1)

    assert told == [A]


async def test_an_id_is_free_again_after_expiry(host: Host) -> None:
    await host.recover()
    await ended(host, "a")
    await host.later(1)

    assert await host.create("a") == set()
    assert await host.status() == "running"


async def test_an_id_is_free_though_its_expired_instance_is_not_deleted_yet(host: Host) -> None:
    """The sweeper is not started here: it is late."""
    await ended(host, "a", "b")
    await host.later(1)
    isolate = host.serve()

    assert await refusal(host, "get", "a") == "instance.not_found"
    with pytest.raises(NotFound):
        await host.instances.state(A)
    assert await host.bind("create", {"id": "a"}) == {"id": "a"}

    assert len(isolate.told("start")) == 1
    assert await host.kinds() == ["created", "workflow_queued", "workflow_started", "workflow_running"]
    assert await left(host) == ["b", "a"]


async def test_of_many_who_want_an_expired_id_at_once_one_gets_it(host: Host) -> None:
    await ended(host, "a")
    await host.later(1)
    isolate = host.serve()

    existed = await asyncio.gather(*(host.instances.create("wf", [NewInstance("a", "[1]")]) for _ in range(16)))
    await rest()

    assert sorted(map(len, existed)) == [0] + [1] * 15
    assert len(isolate.told("start")) == 1


async def test_an_id_is_free_though_the_sweeper_is_just_deleting_its_instance(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    await ended(host, "a")
    await host.later(1)
    create = host.store.catalog.create
    sweeps: list[asyncio.Task[None]] = []

    async def create_while_the_sweeper_comes(rows: Any) -> set[Key]:
        existed = await create(rows)
        if not sweeps:
            sweeps.append(asyncio.create_task(host.instances.expire(A)))
            await asyncio.sleep(0)
        return existed

    monkeypatch.setattr(host.store.catalog, "create", create_while_the_sweeper_comes)

    assert await host.create("a") == set()
    await asyncio.gather(*sweeps)
    assert await host.status() == "running"


async def test_a_restart_that_comes_after_the_expiry_finds_no_instance(host: Host) -> None:
    await ended(host, "a")
    await host.later(1)

    assert await refusal(host, "restart", "a") == "instance.not_found"


async def test_what_expired_while_no_host_ran_is_counted_at_start_and_deleted(hosts: Hosts) -> None:
    before = hosts()
    await ended(before, "a", "b")
    await ended(before, "c", retention=Retention(success=3600_000))
    store = await crash(before)
    await before.later(60)

    host = hosts(store)
    recovered = await host.recover()

    assert recovered.expired == 2
    assert await left(host) == ["c"]


async def test_an_instance_whose_end_was_not_noted_before_a_crash_expires_all_the_same(hosts: Hosts) -> None:
    before = hosts()
    await ended(before, "a")
    store = await crash(before)
    await store.catalog.settle(A, status="running", wake_at=None, updated=1, started=1, ended=None)
    await store.catalog.mark_dirty(A)
    host = hosts(store)
    await host.recover()

    await host.later(1)

    assert await left(host) == []


@pytest.mark.parametrize("kept", ["file", "row"])
async def test_a_crash_in_the_middle_of_an_expiry_leaves_nothing_half_done(hosts: Hosts, kept: str) -> None:
    before = hosts()
    await ended(before, "a")
    await before.later(1)
    store: Any = before.store
    assert await store.catalog.begin_expiry(A, before.clock.now())
    if kept == "row":
        await store.journals.remove(A)

    host = hosts(await crash(before))
    await host.recover()

    assert await store_is_empty(host)


async def store_is_empty(host: Host) -> bool:
    assert isinstance(host.store, MemoryStore)
    return not host.store.catalog.rows and not host.store.journals.committed


async def test_what_cannot_be_deleted_is_told_once_and_tried_again_every_minute(host: Host) -> None:
    await host.recover()
    await ended(host, "a", "b")
    reasons = failing(host, *(StoreUnusable("a.db", "no permission") for _ in range(4)))

    await host.later(1)
    assert await left(host) == []  # both are half-deleted, and nobody finds them
    assert "error: wf/a has expired and cannot be deleted: " in host.err.getvalue()
    await host.later(60)
    assert reasons == []
    assert not await store_is_empty(host)
    await host.later(60)

    assert await store_is_empty(host)
    assert host.err.getvalue().count("wf/a has expired") == 1


async def test_one_that_cannot_be_deleted_holds_up_no_other(host: Host) -> None:
    await host.recover()
    await ended(host, *(f"i{i}" for i in range(20)))
    failing(host, StoreUnusable("a.db", "no permission"))

    await host.later(1 + 60)

    assert await store_is_empty(host)


async def test_a_failure_to_tell_who_has_expired_is_told_and_passes(host: Host) -> None:
    await host.recover()
    await ended(host, "a")
    catalog: Any = host.store.catalog
    expired = catalog.expired

    async def fails(now: int, limit: int) -> None:
        catalog.expired = expired
        raise StoreFull("catalog.db")

    catalog.expired = fails
    await host.later(1)
    assert "error: Expired instances cannot be deleted: " in host.err.getvalue()
    assert await left(host) == ["a"]
    await host.later(60)

    assert await left(host) == []


async def test_closing_finishes_what_is_begun_and_begins_no_more(host: Host) -> None:
    await ended(host, *(f"i{i}" for i in range(20)))
    await host.later(1)
    host.sweeper.start()
    await asyncio.sleep(0)

    await host.sweeper.close()

    assert 0 < len(await left(host)) < 20
    assert await host.store.catalog.half_done() == []
