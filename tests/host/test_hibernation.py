"""An instance that only waits is held by nobody (I9): neither process has a task, an object or a file for it."""

from __future__ import annotations

import gc
import os
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from runtime.host.clock import Alarm
from runtime.host.instance import Instance
from runtime.host.run import Run
from tests.dev import Dev, dev, eventually, write_project
from tests.host.virtual_clock import VirtualClock, rest
from tests.host.world import GRACE_MS, Host

CODE = """
import asyncio
import gc
import os
from urllib.parse import parse_qs, urlsplit

from workers import Response, WorkerEntrypoint, WorkflowEntrypoint, env


class Sleeper(WorkflowEntrypoint):
    async def run(self, event, step):
        async def doze(n):
            await step.sleep(f"doze {n}", "1 day")

        @step.do("work")
        async def work():
            return "done"

        await work()
        await asyncio.gather(doze(1), doze(2), step.wait_for_event("news", "news"))


class Census(WorkflowEntrypoint):
    async def run(self, event, step):
        gc.collect()
        objects = gc.get_objects()
        return {
            "pid": os.getpid(),
            "sleepers": sum(isinstance(each, Sleeper) for each in objects),
            "runs": sum(type(each).__module__ == "workers_shim.run" for each in objects),
            "calls": sum(type(each).__module__ == "workers_shim.call" for each in objects),
            "tasks": len(asyncio.all_tasks()),
        }


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        url = urlsplit(request.url)
        asked = {name: values[0] for name, values in parse_qs(url.query).items()}
        if url.path == "/sleep":
            first, count = int(asked["first"]), int(asked["count"])
            await env.SLEEPER.create_batch([{"id": f"s{n}"} for n in range(first, first + count)])
            return Response("sleeping")
        if url.path == "/census":
            await env.CENSUS.create(id=asked["id"])
        status = await (await env.CENSUS.get(asked["id"])).status()
        return Response.json({"status": status.status, "output": status.output, "front": os.getpid()})
"""


class Watched:
    """A server whose processes are looked into."""

    def __init__(self, server: Dev) -> None:
        self.server = server
        self._counted = 0

    def sleepers(self, count: int) -> None:
        """Create instances, and wait until all of them have gone to sleep and left memory."""
        for first in range(0, count, 100):
            self.server.get(f"/sleep?first={first}&count={min(100, count - first)}").raise_for_status()
        eventually(lambda: self._asleep() == count, timeout=90, look_again=0.2)

    def _asleep(self) -> int:
        # A row is clean only after its instance has left memory and its file is closed.
        with closing(sqlite3.connect(self.server.state / "catalog.db", timeout=30)) as db:
            query = "SELECT count(*) FROM instances WHERE workflow = 'sleeper' AND status = 'waiting' AND dirty = 0"
            (count,) = db.execute(query).fetchone()
        return int(count)

    def census(self) -> dict[str, Any]:
        """What the isolates hold, counted by a Workflow in the one and a route in the other."""
        self._counted += 1
        id = f"c{self._counted}"
        self.server.get(f"/census?id={id}").raise_for_status()
        seen = self.server.until(f"/look?id={id}", lambda seen: seen["status"] == "complete")
        return {**seen["output"], "front": seen["front"]}

    def files(self, census: dict[str, Any]) -> dict[str, int]:
        """How many descriptors each process has, once no instance's file is open."""
        assert self.server.process is not None
        pids = {"host": self.server.process.pid, "work": census["pid"], "front": census["front"]}
        eventually(lambda: not any("/instances/" in name for pid in pids.values() for name in open_files(pid)))
        # What a client keeps open is the client's doing.
        return {role: sum("socket:" not in name for name in open_files(pid)) for role, pid in pids.items()}


def open_files(pid: int) -> Iterator[str]:
    """What the descriptors of a process lead to."""
    for link in Path(f"/proc/{pid}/fd").iterdir():
        try:
            yield os.readlink(link)
        except FileNotFoundError:  # closed meanwhile
            continue


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write_project(tmp_path / "sleepy", CODE, "Sleeper", "Census")


def test_after_hibernation_no_process_holds_a_task_an_object_or_a_file(project: Path) -> None:
    with dev(project, "--no-watch", "--hibernate-after", "0.1") as server:
        watched = Watched(server)
        before = watched.census()
        files = watched.files(before)

        watched.sleepers(20)

        after = watched.census()
        assert after["sleepers"] == 0
        assert after == before
        eventually(lambda: watched.files(after) == files)


def test_what_has_not_hibernated_yet_is_found(project: Path) -> None:
    with dev(project, "--no-watch", "--hibernate-after", "1h") as server:
        watched = Watched(server)
        before = watched.census()
        server.get("/sleep?first=0&count=3").raise_for_status()
        eventually(lambda: watched.census()["sleepers"] == 3)
        after = watched.census()
        assert all(after[kind] > before[kind] for kind in ("runs", "calls", "tasks"))


@pytest.mark.timeout(180)
def test_a_thousand_sleeping_instances_have_no_open_file(project: Path) -> None:
    with dev(project, "--no-watch", "--hibernate-after", "0.1") as server:
        watched = Watched(server)
        before = watched.census()
        files = watched.files(before)

        watched.sleepers(1000)

        after = watched.census()
        assert after == before
        eventually(lambda: watched.files(after) == files)


def held(kind: type) -> int:
    """How many objects of a type there are."""
    gc.collect()
    return sum(isinstance(each, kind) for each in gc.get_objects())


@pytest.mark.asyncio
async def test_the_host_keeps_one_alarm_for_all_that_sleep_and_nothing_else(host: Host) -> None:
    assert isinstance(host.clock, VirtualClock)
    others = Counter({kind: held(kind) for kind in (Instance, Run, Alarm)})  # tests that crash a host leave theirs
    isolate = host.serve()
    await host.recover()
    for n in range(10):
        code = await host.code(isolate, f"s{n}")
        code.sleep("1 day")
        await rest()
        code.parked()
        await rest()
    del code
    assert held(Instance) - others[Instance] == 10

    await host.later(GRACE_MS / 1000 + 1)

    assert await host.in_memory() == 0
    assert len(isolate.told("release")) == 10
    assert [held(kind) - others[kind] for kind in (Instance, Run, Alarm)] == [0, 0, 1]
    assert host.runs.free == host.store.journals.limit
