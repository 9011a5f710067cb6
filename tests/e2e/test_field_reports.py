"""What breaks elsewhere when a server restarts, by the numbers of the collected field reports (A1, A2, ...)."""

from __future__ import annotations

import os
import signal
import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.dev import Dev, dev
from tests.e2e.stages import (
    ROUTES,
    create,
    flow,
    noted,
    notes,
    open_gate,
    output,
    send,
    times,
    until,
    work_isolate,
)

SECOND = 1000
MINUTE = 60 * SECOND

TWO_STEPS = """
async def run(self, event, step):
    @step.do("A")
    async def a(ctx):
        note(f"A {ctx.attempt}")
        return 1

    @step.do("B")
    async def b(ctx):
        note(f"B {ctx.attempt}")
        return 2

    first = await a()
    await step.sleep("nap", "20 seconds")
    return [first, await b()]
"""


def skip(server: Dev, ms: int) -> None:
    """kill -9, let so much time pass, start again."""
    server.kill()
    server.offset(ms)
    server.start()


# ---------------------------------------------------------------------------------------------------------- A1: events


@pytest.mark.parametrize("restarted", [False, True])
def test_a1_a_timed_out_wait_does_not_swallow_the_next_event(tmp_path: Path, restarted: bool) -> None:
    run = """
    async def run(self, event, step):
        seen = []
        for turn in (1, 2, 3):
            try:
                got = await step.wait_for_event(f"turn {turn}", "go", timeout=event.payload.timeouts[turn - 1])
                seen.append(got.payload.n)
            except Exception as error:
                seen.append(str(error))
            note(f"turn {turn} over")
        return seen
    """
    first = "1 minute" if restarted else "1 second"
    with dev(flow(tmp_path, run), "--no-watch") as server:
        create(server, params={"timeouts": [first, "1 hour", "1 hour"]})
        until(server, "waiting")
        if restarted:
            skip(server, MINUTE)
        noted(server, "turn 1 over")
        send(server, "go", {"n": 2})
        noted(server, "turn 2 over")
        send(server, "go", {"n": 3})
        expired = f"Error: WorkflowTimeoutError: Execution timed out after {60_000 if restarted else 1_000}ms"
        assert output(server) == [expired, 2, 3]


# ------------------------------------------------------------------------------------------------------------- A2: ids


def test_a2_an_id_is_created_once(tmp_path: Path) -> None:
    run = """
    async def run(self, event, step):
        note(event.instanceId)
        return event.payload
    """
    with dev(flow(tmp_path, run), "--no-watch") as server:

        def again(id: str, params: str = "2") -> str:
            answer = server.get("/create", params={"id": id, "params": params})
            assert answer.status_code in (200, 400)
            return str(answer.json().get("error", "created"))

        taken = 'Error: WorkflowError: (instance.already_exists) Workflow instance with id "{}" already exists'
        create(server, "order-1", 1)
        assert again("order-1") == taken.format("order-1")
        assert output(server, "order-1") == 1
        assert again("order-1") == taken.format("order-1")  # finished as well as running

        with ThreadPoolExecutor(20) as crowd:
            answers = list(crowd.map(lambda _: again("crowd"), range(20)))
        assert sorted(answers) == sorted(["created", *[taken.format("crowd")] * 19])

        create(server, "b")
        assert server.json("/batch", params={"ids": "a,a,b"}) == ["a"]
        refused = server.get("/batch", params={"ids": "c,-d,e"})
        assert refused.json()["error"] == "Error: WorkflowError: Workflow instance has invalid id"
        assert "not_found" in server.get("/status", params={"id": "c"}).text

        server.kill()
        server.start()
        assert again("order-1") == taken.format("order-1")
        assert sorted(noted(server, "order-1", "crowd", "a", "b")) == ["a", "b", "crowd", "order-1"]


# -------------------------------------------------------------------------------------------------------- A3: restarts


def test_a3_a_sleeping_instance_wakes_at_its_original_time(tmp_path: Path) -> None:
    with dev(flow(tmp_path, TWO_STEPS), "--no-watch") as server:
        create(server)
        until(server, "waiting")
        skip(server, 5 * SECOND)
        assert server.json("/status?id=one")["status"] == "waiting"
        assert notes(server) == ["A 1"]

        skip(server, 14_500)
        assert noted(server, "B 1") == ["A 1", "B 1"]
        (began,), (ended,) = times(server, "sleep_started"), times(server, "sleep_completed")
        assert ended - began >= 20 * SECOND
        assert output(server) == [1, 2]


def test_a3_an_overdue_instance_goes_on_at_once(tmp_path: Path) -> None:
    with dev(flow(tmp_path, TWO_STEPS), "--no-watch") as server:
        create(server)
        until(server, "waiting")
        skip(server, 5 * SECOND)
        skip(server, 40 * SECOND)
        assert noted(server, "B 1") == ["A 1", "B 1"]
        assert output(server) == [1, 2]


def test_a3_a_step_that_was_cut_off_runs_again_as_attempt_2(tmp_path: Path) -> None:
    run = """
    async def run(self, event, step):
        @step.do("A")
        async def a(ctx):
            note(f"A {ctx.attempt}")
            await gate(f"attempt-{ctx.attempt}")
            note(f"A {ctx.attempt} ended")
            return ctx.attempt

        return await a()
    """
    with dev(flow(tmp_path, run), "--no-watch") as server:
        create(server)
        noted(server, "A 1")
        server.kill()
        open_gate(server, "attempt-2")
        server.start()
        assert noted(server, "A 2 ended") == ["A 1", "A 2", "A 2 ended"]
        assert output(server) == 2


def test_a3_an_instance_that_was_only_just_created_runs_after_a_kill(tmp_path: Path) -> None:
    with dev(flow(tmp_path, TWO_STEPS), "--no-watch") as server:
        os.kill(work_isolate(server), signal.SIGSTOP)  # so that no step begins before the kill
        create(server)
        server.kill()
        assert notes(server) == []
        server.start()
        noted(server, "A 1")


def test_a3_an_event_that_was_acknowledged_before_a_kill_is_delivered_after_it(tmp_path: Path) -> None:
    run = """
    async def run(self, event, step):
        got = await step.wait_for_event("wait", "go")
        return got.payload
    """
    with dev(flow(tmp_path, run), "--no-watch") as server:
        create(server)
        until(server, "waiting")
        os.kill(work_isolate(server), signal.SIGSTOP)  # so that nothing is delivered before the kill
        send(server, "go", "hello")
        server.kill()
        server.start()
        assert output(server) == "hello"


# ----------------------------------------------------------------------------------------------- A6: create and leave

LEAVING = """
from workers import wait_until

class Default(WorkerEntrypoint):
    async def fetch(self, request):
        kind = urlsplit(request.url).path[1:]
        if kind == "wait-until":
            wait_until(env.FLOW.create(id=kind))
            return Response("later")
        await env.FLOW.create(id=kind)
        if kind == "redirect":
            return Response("", status=302, headers={"Location": "/elsewhere"})
        if kind == "raise":
            raise RuntimeError("after create")
        await asyncio.sleep(0.1)
        return Response("nobody hears it")
"""


def test_a6_what_create_resolved_runs_whatever_becomes_of_the_request(tmp_path: Path) -> None:
    run = """
    async def run(self, event, step):
        note(event.instanceId)
    """
    with dev(flow(tmp_path, run, routes=LEAVING), "--no-watch") as server:
        assert server.get("/redirect").status_code == 302
        assert server.get("/raise").status_code == 500
        assert server.get("/wait-until").text == "later"
        address = urlsplit(server.url)
        with socket.create_connection((address.hostname, address.port)) as client:
            client.sendall(b"GET /cut-off HTTP/1.1\r\nhost: here\r\n\r\n")
        assert sorted(noted(server, "redirect", "raise", "wait-until", "cut-off")) == [
            "cut-off",
            "raise",
            "redirect",
            "wait-until",
        ]


# ---------------------------------------------------------------------------------------------------- A9: early events

EARLY = """
async def run(self, event, step):
    @step.do("before")
    async def before():
        note("before")
        await gate("open")

    await before()
    first = await step.wait_for_event("first", "done", timeout="1 hour")
    await step.sleep("nap", 10)
    second = await step.wait_for_event("second", "done", timeout="1 hour")
    return [first.payload, second.payload]
"""


@pytest.mark.parametrize("killed", [False, True])
def test_a9_events_that_come_before_their_wait_are_kept_in_order(tmp_path: Path, killed: bool) -> None:
    with dev(flow(tmp_path, EARLY), "--no-watch") as server:
        create(server)
        noted(server, "before")
        send(server, "other", "unrelated")
        send(server, "done", 1)
        send(server, "done", 2)
        if killed:
            server.kill()
            server.start()
        open_gate(server, "open")
        assert output(server) == [1, 2]


def test_a9_an_event_sent_right_after_create_is_kept(tmp_path: Path) -> None:
    routes = ROUTES.replace(
        'made = await env.FLOW.create_batch([{"id": id} for id in asked["ids"].split(",")])',
        'made = [await env.FLOW.create(id=asked["ids"])]\n'
        '            await made[0].send_event({"type": "done", "payload": 1})\n'
        '            await made[0].send_event({"type": "done", "payload": 2})',
    )
    with dev(flow(tmp_path, EARLY, routes=routes), "--no-watch") as server:
        open_gate(server, "open")
        server.json("/batch", params={"ids": "one"})
        assert output(server) == [1, 2]


# ------------------------------------------------------------------------------------------------- A14: busy databases


def test_a14_readers_and_a_backup_disturb_nobody(tmp_path: Path) -> None:
    run = """
    async def run(self, event, step):
        for n in range(20):
            @step.do(f"step {n}")
            async def quick():
                note(event.instanceId)

            await quick()
        got = await step.wait_for_event("end", "end")
        return got.payload
    """
    ids = [f"i{n}" for n in range(50)]
    with dev(flow(tmp_path, run), "--no-watch") as server, ThreadPoolExecutor(4) as others:
        create(server, ids[0])
        backup = _Reader(server, ids[0])
        server.json("/batch", params={"ids": ",".join(ids[1:])})
        polls = [others.submit(_poll, server, ids, n) for n in range(3)]
        for id in ids:
            assert output(server, id) == "enough"
        assert [poll.result() for poll in polls] == [None] * 3
        backup.close()
        assert sorted(notes(server)) == sorted(ids * 20)
        assert not [line for line in server.lines if "locked" in line or "error:" in line]


def _poll(server: Dev, ids: list[str], first: int) -> None:
    """Look at instances and send them the event they wait for, three such loops side by side."""
    for id in ids[first::3]:
        assert server.json("/status", params={"id": id})["status"] in ("queued", "running", "waiting")
        send(server, "end", "enough", id)


class _Reader:
    """Another program that holds a read transaction on an instance's file and on the catalog."""

    def __init__(self, server: Dev, id: str) -> None:
        import sqlite3

        from runtime.store.files import file_name
        from runtime.store.types import Key

        files = [server.state / "instances" / file_name(Key("flow", id)), server.state / "catalog.db"]
        self._open = [sqlite3.connect(file, isolation_level=None) for file in files]
        for db in self._open:
            db.execute("BEGIN")
            db.execute("SELECT count(*) FROM sqlite_schema").fetchone()

    def close(self) -> None:
        for db in self._open:
            db.close()


# ----------------------------------------------------------------------------------------------------- A15: identities

CHAINS = """
async def run(self, event, step):
    async def chain(index):
        seen = [index]
        for _ in range(2):
            delay = int.from_bytes(os.urandom(1)) / 2000

            @step.do("fetch")
            async def fetch(ctx):
                note(f"{event.instanceId} {ctx.step.count}")
                await asyncio.sleep(delay)
                return index

            seen.append(await fetch())
        return seen

    START
    await step.sleep("nap", "1 hour")
    return results
"""
FORMS = {
    "gather": "results = await asyncio.gather(*(chain(n) for n in range(5)))",
    "wait for a set of tasks": """tasks = [asyncio.create_task(chain(n)) for n in range(5)]
    await asyncio.wait(set(tasks))
    results = [task.result() for task in tasks]""",
    "task group": """async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(chain(n)) for n in range(5)]
    results = [task.result() for task in tasks]""",
    "as_completed": "results = sorted([await each for each in asyncio.as_completed([chain(n) for n in range(5)])])",
}


@pytest.mark.parametrize("form", FORMS)
def test_a15_parallel_chains_keep_their_own_results_on_replay(tmp_path: Path, form: str) -> None:
    ids = [f"i{n}" for n in range(25)]
    with dev(flow(tmp_path, CHAINS.replace("START", FORMS[form])), "--no-watch") as server:
        server.json("/batch", params={"ids": ",".join(ids)})
        for id in ids:
            until(server, "waiting", id)
        assert sorted(notes(server)) == sorted(f"{id} {count}" for id in ids for count in range(1, 11))
        ran = len(notes(server))
        skip(server, 60 * MINUTE)
        for id in ids:
            assert output(server, id) == [[n, n, n] for n in range(5)]
        assert len(notes(server)) == ran


def test_a15_a_set_of_coroutines_has_no_order_and_that_is_said(tmp_path: Path) -> None:
    start = "results = [await each for each in asyncio.as_completed({chain(n) for n in range(5)})]"
    with dev(flow(tmp_path, CHAINS.replace("START", start)), "--no-watch") as server:
        create(server)
        until(server, "waiting")
        line = (server.project / "src" / "main.py").read_text().split(start)[0].count("\n") + 1
        assert f"main.py:{line} in Flow.run" in server.printed("a set of coroutines is started in an order")
