"""Instances that expire and instances that a schedule creates, with the real command and its stored clock."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import pytest

from tests.dev import Dev, dev, eventually
from tests.e2e.stages import ROUTES, flow, notes, output

HOUR = 60 * 60 * 1000
MINUTE = 60 * 1000
LEAD = 6 * 1000  # ms that the server has to start before the minute is full

RETAINED = ROUTES.replace(
    'env.FLOW.create(id=asked["id"], **given)',
    'env.FLOW.create(id=asked["id"], retention={"successRetention": "1 hour"}, **given)',
)

RUN = """
async def run(self, event, step):
    schedule = event.get("schedule")
    if schedule is not None:
        note(f"{event.instanceId}|{schedule.cron}|{schedule.scheduledTime}|{event.payload}")
    return "done"
"""


def entry(folder: Path, **settings: Any) -> Path:
    """A project whose Workflow has these settings."""
    workflow = {"name": "flow", "binding": "FLOW", "class_name": "Flow", **settings}
    return flow(folder, RUN, routes=RETAINED, workflows=[workflow])


def status(server: Dev, id: str) -> Any:
    return server.get("/status", params={"id": id}).json()


def test_a_finished_instance_expires_and_its_id_is_free_again(tmp_path: Path) -> None:
    with dev(entry(tmp_path)) as server:
        server.json("/create", params={"id": "one"})
        assert output(server) == "done"
        server.stop()

        server.offset(HOUR - MINUTE)
        server.start()
        assert status(server, "one")["status"] == "complete"
        server.kill()

        server.offset(2 * MINUTE)
        mark = len(server.lines)
        server.start()
        assert server.printed("Expired", since=mark) == "  Expired while the server was down: 1 instance, deleted now"
        assert status(server, "one") == {"error": "Error: instance.not_found"}

        server.json("/create", params={"id": "one"})
        assert output(server) == "done"


@pytest.mark.timeout(150)  # a start that takes longer than the lead waits for the next minute
def test_a_schedule_fires_in_time_and_what_was_missed_is_told(tmp_path: Path) -> None:
    with dev(entry(tmp_path, schedules="* * * * *")) as server:
        assert re.fullmatch(
            r"  Schedule \* \* \* \* \* of flow: next \w{3} \d{4}-\d\d-\d\d \d\d:\d\d UTC", server.printed("Schedule ")
        )
        server.stop()

        to_the_minute = MINUTE - time.time_ns() // 1_000_000 % MINUTE
        server.offset(3 * HOUR + to_the_minute - LEAD)
        mark = len(server.lines)
        server.start()
        told = server.printed("firings were missed", since=mark)
        assert 'Schedule "* * * * *" of flow: more than 100 firings were missed while the server was down' in told

        server.printed("Ready", since=mark)
        (fired, *_) = eventually(lambda: notes(server), timeout=2 * MINUTE / 1000)
        id, cron, scheduled, payload = fired.split("|")
        assert (id, cron, payload) == (f"* * * * *-{scheduled}", "* * * * *", "{}")
        assert int(scheduled) % MINUTE == 0
        assert output(server, id) == "done"


def test_schedules_can_be_turned_off(tmp_path: Path) -> None:
    with dev(entry(tmp_path, schedules="* * * * *"), "--no-schedules") as server:
        assert "Schedules are off (--no-schedules): * * * * * of flow" in server.printed("Schedules")


def test_a_bad_expression_is_refused_at_start_with_file_and_line(tmp_path: Path) -> None:
    server = Dev(entry(tmp_path, schedules=["* * * * 0"]), [], {})
    try:
        server.launch()
        assert server.exited() == 1
    finally:
        server.close()

    assert server.lines[0] == (
        'error: "workflows[0].schedules[0]" is no cron expression: "* * * * 0": weekday "0" is not in 1-7 (1 is SUN).'
    )
    assert re.search(r"wrangler\.jsonc:\d+:\d+$", server.lines[1])
    assert "Weekdays count from 1 (Sunday)" in server.lines[2]
