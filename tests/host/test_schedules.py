"""Schedules fire at their times, once, and what is missed is told instead of made up."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from runtime.engine import Schedule, decode
from runtime.engine.events import Created
from runtime.host.schedules import META, Entry, Missed, Schedules, entries_of
from runtime.host.workflows import Workflow
from runtime.store import Key, MemoryStore, StoreBusy, StoreFull
from tests.host.conftest import Hosts
from tests.host.world import WORKFLOW, Host, crash
from wrangler_compat import WorkflowDeclaration
from wrangler_compat.cron import parse

pytestmark = pytest.mark.asyncio

MS = 0.001
MINUTE = 60
HOUR = 3600
EVERY_MINUTE = Entry("wf", parse("* * * * *"))
HOURLY = Entry("wf", parse("0 * * * *"))
AT_30 = Entry("wf", parse("30 * * * *"))


def ms(text: str) -> int:
    return round(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)


NOON = ms("2023-11-15T12:00")


class Server:
    """The schedules of a host, and what they told."""

    def __init__(self, host: Host, *entries: Entry) -> None:
        self.host = host
        self.missed: list[tuple[str, int, str]] = []
        self.failed: list[str] = []
        self.schedules = Schedules(
            host.clock,
            host.store.catalog,
            host.instances,
            entries,
            missed=self._tell,
            failed=lambda entry, error: self.failed.append(str(error)),
        )

    def _tell(self, missed: Missed, reason: str) -> None:
        self.missed.append((missed.entry.cron.text, missed.count, reason.split()[0]))
        self.last = missed

    async def start(self) -> Server:
        await self.schedules.open()
        self.schedules.start()
        await self.host.rest()
        return self

    async def killed(self) -> MemoryStore:
        """The host is killed; what it does from now on is seen by nobody."""
        store = await crash(self.host)
        await self.schedules.close()
        return store

    async def made(self) -> list[str]:
        """The ids of the instances, oldest first."""
        return [row.id for row in reversed(await self.host.store.catalog.list("wf"))]

    async def note(self) -> Any:
        return json.loads(await self.host.store.catalog.get_meta(META) or "null")


async def at(host: Host, text: str) -> None:
    """Let the time come."""
    await host.later((ms(text) - host.clock.now()) / 1000)


async def started(host: Host, *entries: Entry, when: str = "2023-11-15T11:59:30") -> Server:
    await at(host, when)
    return await Server(host, *entries).start()


# --------------------------------------------------------------------------------------------------------------- firing


async def test_an_entry_creates_an_instance_at_its_time(host: Host) -> None:
    isolate = host.serve()
    server = await started(host, HOURLY)

    await host.later(30 - MS)
    assert await server.made() == []
    await host.later(MS)

    assert await server.made() == [f"0 * * * *-{NOON}"]
    (start,) = isolate.told("start")
    assert start["event"] == {
        "payload": "[{}]",
        "timestamp": NOON,
        "schedule": {"cron": "0 * * * *", "scheduledTime": NOON},
    }
    await server.schedules.close()


async def test_its_journal_names_the_trigger(host: Host) -> None:
    server = await started(host, HOURLY)
    await host.later(MINUTE)

    line = (await host.instances.lines(Key("wf", f"0 * * * *-{NOON}")))[0]

    created = decode(line.data)
    assert isinstance(created, Created)
    assert (created.trigger, created.schedule) == ("cron", Schedule("0 * * * *", NOON))
    await server.schedules.close()


async def test_its_id_works_wherever_an_id_does(host: Host) -> None:
    server = await started(host, HOURLY)
    await host.later(MINUTE)
    id = f"0 * * * *-{NOON}"

    assert await host.bind("get", id) == {"id": id}
    assert await host.bind("deleteBatch", [id]) == {"deleted": [{"id": id}], "errors": []}
    await server.schedules.close()


async def test_it_fires_again_and_again(host: Host) -> None:
    server = await started(host, EVERY_MINUTE, AT_30)

    await host.later(3 * MINUTE)

    assert await server.made() == [f"* * * * *-{NOON + i * 60_000}" for i in range(3)]
    assert server.missed == []
    await server.schedules.close()


async def test_entries_that_fire_together_are_all_made_with_one_alarm(host: Host) -> None:
    host.declare(WORKFLOW, Workflow("other", "Other"))
    server = await started(host, HOURLY, EVERY_MINUTE, Entry("other", HOURLY.cron))
    assert len(host.clock.alarms) == 1  # type: ignore[attr-defined]

    await host.later(30)

    assert sorted(await server.made()) == [f"* * * * *-{NOON}", f"0 * * * *-{NOON}"]
    assert [row.id for row in await host.store.catalog.list("other")] == [f"0 * * * *-{NOON}"]
    await server.schedules.close()
    await host.forget_everything(["wf", "other"])


async def test_the_next_times_are_known_before_anything_fires(host: Host) -> None:
    await at(host, "2023-11-15T11:59:30")
    server = Server(host, HOURLY, AT_30)

    await server.schedules.open()

    assert dict(server.schedules.next) == {HOURLY: NOON, AT_30: NOON + 30 * 60_000}


async def test_a_firing_that_was_made_already_is_not_doubled(host: Host) -> None:
    """The user moved the clock back, say."""
    isolate = host.serve()
    await host.instances.create("wf", [HOURLY.instance(NOON)])
    server = await started(host, HOURLY)

    await host.later(MINUTE)

    assert await server.made() == [f"0 * * * *-{NOON}"]
    assert len(isolate.told("start")) == 1
    assert (server.missed, server.failed) == ([], [])
    await server.schedules.close()


async def test_nothing_fires_after_the_close(host: Host) -> None:
    server = await started(host, EVERY_MINUTE)

    await server.schedules.close()
    await host.later(HOUR)

    assert await server.made() == []


async def test_without_entries_nothing_is_done_or_kept(host: Host) -> None:
    server = await started(host)
    await host.later(HOUR)
    await server.schedules.close()

    assert await server.note() is None


# ------------------------------------------------------------------------------------- missed while the server was down


async def down(hosts: Hosts, seconds: float, *entries: Entry) -> Host:
    """A server with these entries was killed at 11:59:30; the next one, so much later."""
    before = hosts()
    server = await started(before, *entries)
    store = await server.killed()
    await before.later(seconds)
    return hosts(store)


async def test_firings_while_the_server_was_down_are_told_and_not_made_up(hosts: Hosts) -> None:
    host = await down(hosts, 3 * HOUR, HOURLY, AT_30)

    server = await Server(host, HOURLY, AT_30).start()

    assert server.missed == [("0 * * * *", 3, "while"), ("30 * * * *", 3, "while")]
    assert (server.last.first, server.last.last) == (NOON + HOUR * 500, NOON + HOUR * 2500)
    assert await server.made() == []
    await host.later(31)
    assert await server.made() == [f"0 * * * *-{NOON + 3 * HOUR * 1000}"]
    await server.schedules.close()


async def test_they_are_told_once(hosts: Hosts) -> None:
    host = await down(hosts, 3 * HOUR, HOURLY)
    before = Server(host, HOURLY)
    await before.schedules.open()
    assert len(before.missed) == 1

    server = await Server(host, HOURLY).start()

    assert server.missed == []
    await server.schedules.close()


async def test_when_nothing_was_missed_nothing_is_told(hosts: Hosts) -> None:
    host = await down(hosts, 20, HOURLY)

    server = await Server(host, HOURLY).start()

    assert server.missed == []
    await server.schedules.close()


async def test_many_missed_firings_are_not_all_counted(hosts: Hosts) -> None:
    host = await down(hosts, 90 * 24 * HOUR, EVERY_MINUTE)

    server = await Server(host, EVERY_MINUTE).start()

    assert server.missed == [("* * * * *", 100, "while")]
    assert server.last.more
    assert (server.last.first, server.last.last) == (NOON, NOON - 60_000 + 90 * 24 * HOUR * 1000)
    await server.schedules.close()


async def test_an_entry_that_is_new_has_missed_nothing(hosts: Hosts) -> None:
    host = await down(hosts, 3 * HOUR, HOURLY)

    server = await Server(host, AT_30).start()

    assert server.missed == []
    await server.schedules.close()


async def test_what_was_turned_off_meanwhile_has_missed_nothing(hosts: Hosts) -> None:
    host = await down(hosts, 10, HOURLY)
    await started(host, when="2023-11-15T11:59:50")  # --no-schedules
    await host.later(3 * HOUR)

    server = await Server(host, HOURLY).start()  # and now without it

    assert server.missed == []
    await server.schedules.close()


async def test_a_firing_that_was_made_just_before_a_kill_is_not_missed(hosts: Hosts) -> None:
    before = hosts()
    server = await started(before, HOURLY)
    note = await before.store.catalog.get_meta(META)
    await before.later(30)
    assert note is not None
    await before.store.catalog.set_meta(META, note)  # it was killed before it could note the firing
    store = await server.killed()
    await before.later(HOUR)

    host = hosts(store)
    server = await Server(host, HOURLY).start()

    assert server.missed == [("0 * * * *", 1, "while")]
    assert server.last.first == NOON + HOUR * 1000
    await server.schedules.close()


async def test_that_the_server_is_there_is_noted_once_a_minute_at_each_firing_and_at_the_end(host: Host) -> None:
    server = await started(host, HOURLY, when="2023-11-15T11:57:50")
    catalog: Any = host.store.catalog
    set_meta, notes = catalog.set_meta, []

    async def count(name: str, value: str) -> None:
        notes.append(json.loads(value)["alive"] - NOON)
        await set_meta(name, value)

    catalog.set_meta = count
    await host.later(2 * MINUTE + 55)
    await server.schedules.close()

    assert notes == [-70_000, -10_000, 0, 45_000]
    assert (await server.note())["entries"] == [["wf", "0 * * * *"]]


# ----------------------------------------------------------------------------------------- missed while the server runs


async def jump(host: Host, seconds: float) -> None:
    """The machine was suspended: the time is another, and all alarms that are due ring at once."""
    host.clock._now += round(seconds * 1000)  # type: ignore[attr-defined]
    await host.later(0)


async def test_of_the_firings_in_a_suspend_the_latest_is_made_when_it_is_at_most_a_minute_late(host: Host) -> None:
    server = await started(host, EVERY_MINUTE)

    await jump(host, 5 * MINUTE + 50)  # to 12:05:20

    assert await server.made() == [f"* * * * *-{NOON + 5 * 60_000}"]
    assert server.missed == [("* * * * *", 5, "because")]
    assert (server.last.first, server.last.last) == (NOON, NOON + 4 * 60_000)
    await server.schedules.close()


@pytest.mark.parametrize(("late", "made"), [(60, 1), (60 + MS, 0)])
async def test_a_firing_that_is_more_than_a_minute_late_is_missed(host: Host, late: float, made: int) -> None:
    server = await started(host, HOURLY)

    await jump(host, 30 + late)

    assert len(await server.made()) == made
    assert len(server.missed) == 1 - made
    await host.later(HOUR)
    assert len(await server.made()) == made + 1
    await server.schedules.close()


# ------------------------------------------------------------------------------------------------------------- failures


async def failing(host: Host, error: Exception, seconds: float) -> None:
    """No instance can be created for a while."""
    instances: Any = host.instances
    create = instances.create

    async def refuse(workflow: str, wanted: Any) -> Any:
        raise error

    instances.create = refuse
    await host.later(seconds)
    instances.create = create


async def test_a_firing_that_fails_is_tried_again_while_it_is_not_late(host: Host) -> None:
    server = await started(host, HOURLY)

    await failing(host, StoreBusy("catalog.db"), 30 + 12)
    assert len(server.failed) == 3
    await host.later(5)

    assert await server.made() == [f"0 * * * *-{NOON}"]
    assert server.missed == []
    await server.schedules.close()


async def test_one_that_keeps_failing_is_missed(host: Host) -> None:
    server = await started(host, HOURLY)

    await failing(host, StoreBusy("catalog.db"), 30 + 80)

    assert server.missed == [("0 * * * *", 1, "because")]
    assert await server.made() == []
    await server.schedules.close()


async def test_an_entry_that_fails_does_not_hold_up_the_others(host: Host) -> None:
    lost = Entry("gone", parse("0 * * * *"))  # its Workflow is not declared
    server = await started(host, lost, HOURLY)

    await host.later(MINUTE)

    assert await server.made() == [f"0 * * * *-{NOON}"]
    assert server.failed
    await server.schedules.close()


async def test_a_firing_that_is_not_made_yet_when_the_server_ends_is_told_by_the_next(hosts: Hosts) -> None:
    before = hosts()
    server = await started(before, HOURLY)
    await failing(before, StoreBusy("catalog.db"), 35)
    await server.schedules.close()
    store = await crash(before)

    host = hosts(store)
    server = await Server(host, HOURLY).start()

    assert server.missed == [("0 * * * *", 1, "while")]
    await server.schedules.close()


async def test_a_note_that_cannot_be_written_stops_nothing(host: Host) -> None:
    server = await started(host, EVERY_MINUTE)
    catalog: Any = host.store.catalog
    set_meta = catalog.set_meta

    async def refuse(name: str, value: str) -> None:
        raise StoreFull("catalog.db")

    catalog.set_meta = refuse
    await host.later(2 * MINUTE)
    assert set(server.failed) == {str(StoreFull("catalog.db"))}
    await server.schedules.close()
    catalog.set_meta = set_meta

    assert await server.made() == [f"* * * * *-{NOON}", f"* * * * *-{NOON + 60_000}"]


# ----------------------------------------------------------------------------------------------- what it all comes from


async def test_each_expression_of_a_workflow_is_one_entry() -> None:
    project: Any = type("Project", (), {})()
    project.workflows = (
        WorkflowDeclaration("orders", "Orders", schedules=("0 * * * *", "30 * * * *", "0 * * * *")),
        WorkflowDeclaration("mails", "Mails"),
    )

    found = entries_of(project)

    assert [(entry.workflow, entry.cron.text) for entry in found] == [("orders", "0 * * * *"), ("orders", "30 * * * *")]


async def test_people_are_told_what_was_missed_and_when(host: Host) -> None:
    host.reports.missed(Missed(HOURLY, 3, False, NOON, NOON + 2 * HOUR * 1000), "while the server was down")
    host.reports.missed(Missed(HOURLY, 1, False, NOON, NOON), "while the server was down")
    host.reports.missed(Missed(HOURLY, 100, True, NOON, NOON + 999 * HOUR * 1000), "while the server was down")

    hint = "  They are not made up. Create instances by hand where that matters."
    assert host.err.getvalue().splitlines() == [
        'warning: Schedule "0 * * * *" of wf: 3 firings were missed while the server was down '
        "(first Wed 2023-11-15 12:00 UTC, last Wed 2023-11-15 14:00 UTC).",
        hint,
        'warning: Schedule "0 * * * *" of wf: 1 firing was missed while the server was down '
        "(Wed 2023-11-15 12:00 UTC).",
        hint,
        'warning: Schedule "0 * * * *" of wf: more than 100 firings were missed while the server was down '
        "(first Wed 2023-11-15 12:00 UTC, last Wed 2023-12-27 03:00 UTC).",
        hint,
    ]


async def test_people_are_told_once_that_a_schedule_cannot_fire(host: Host) -> None:
    for _ in range(2):
        host.reports.not_fired(HOURLY, StoreFull("catalog.db"))
    host.reports.not_fired(None, StoreFull("catalog.db"))

    titles = [line for line in host.err.getvalue().splitlines() if line.startswith("error:")]
    assert titles == [
        f'error: Schedule "0 * * * *" of wf cannot fire: {StoreFull("catalog.db")}',
        f"error: The schedules cannot fire: {StoreFull('catalog.db')}",
    ]
