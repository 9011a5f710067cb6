"""HTTP through the real isolate: streams, credit, clients that leave, background work."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from tests.workers_shim.process import Isolate, isolate
from workers_shim.wire.messages import STREAM_CREDIT


def worker(folder: Path, source: str) -> Path:
    main = folder / "entry.py"
    main.write_text("from workers import *\n" + dedent(source))
    return main


def ask(running: Isolate, number: int = 1, method: str = "GET", **changes: Any) -> None:
    running.send(
        {
            "t": "request",
            "id": number,
            "method": method,
            "url": "http://a.test/",
            "headers": [],
            "http_version": "1.1",
            **changes,
        }
    )


STREAM = """
import asyncio
from js import ReadableStream
from workers_shim.web.streams import stream_of

class Default(WorkerEntrypoint):
    async def fetch(self, request):
        async def chunks():
            try:
                for number in range(1000):
                    print(f"chunk {number}")
                    yield b"x" * 65536
            finally:
                print("stopped")
        from js import Response
        return Response.new(stream_of(chunks()))
"""


@pytest.mark.parametrize("arity", ["self", "self, request", "self, request, env, ctx"])
def test_fetch_takes_as_many_arguments_as_it_likes(tmp_path: Path, arity: str) -> None:
    main = worker(tmp_path, f"class Default(WorkerEntrypoint):\n    def fetch({arity}): return Response('ok')\n")
    with isolate(main) as running:
        ask(running)
        assert running.next("response", "request_failed")["t"] == "response"
        assert running.body(1) == b"ok"


def test_a_stream_stops_at_its_credit_and_goes_on_with_more(tmp_path: Path) -> None:
    with isolate(worker(tmp_path, STREAM)) as running:
        ask(running)
        assert running.next("response", "request_failed")["t"] == "response"
        while len(running.bodies.get(1, b"")) < STREAM_CREDIT:
            running.receive()
        running.send({"t": "credit", "id": 1, "bytes": 65536})
        while len(running.bodies[1]) < STREAM_CREDIT + 65536:
            running.receive()
        running.send({"t": "disconnect", "id": 1})
        seen = []
        while (line := running.next("log", "request_failed")["text"]) != "stopped":
            seen.append(line)
        assert len(seen) < 10


def test_credit_for_a_request_is_given_as_its_body_is_read(tmp_path: Path) -> None:
    source = """
    class Default(WorkerEntrypoint):
        async def fetch(self, request):
            return Response(str(len(await request.bytes())))
    """
    with isolate(worker(tmp_path, source)) as running:
        ask(running, method="PUT")
        running.send_body(1, b"z" * 100_000)
        got = 0
        while got < 100_000:
            got += running.next("credit", "request_failed")["bytes"]
        running.next("response")
        assert running.body(1) == b"100000"


def test_handler_goes_on_when_the_client_leaves(tmp_path: Path) -> None:
    source = """
    import asyncio
    gate = asyncio.Event()

    class Default(WorkerEntrypoint):
        async def fetch(self, request):
            if request.method == "POST":
                gate.set()
                return Response("opened")
            await gate.wait()
            print("went on")
            return Response("unheard")
    """
    with isolate(worker(tmp_path, source)) as running:
        ask(running, 1)
        running.send({"t": "disconnect", "id": 1})
        ask(running, 2, "POST")
        running.send_body(2, b"")
        assert running.next("log")["text"] == "went on"
        assert running.body(2) == b"opened"
        assert 1 not in running.ended


def test_drained_comes_after_background_work_whose_error_is_told(tmp_path: Path) -> None:
    source = """
    import asyncio

    class Default(WorkerEntrypoint):
        async def fetch(self, request):
            wait_until(later())
            return Response("now")

    async def later():
        await asyncio.sleep(0.05)
        raise LookupError("late")
    """
    with isolate(worker(tmp_path, source)) as running:
        ask(running)
        running.next("response")
        assert running.body(1) == b"now"
        running.send({"t": "drain"})
        told = []
        while (message := running.next("log", "drained"))["t"] == "log":
            told.append(message["text"])
        assert told[-1] == "LookupError: late"


def test_legacy_handler_serves_before_its_date_only(tmp_path: Path) -> None:
    main = worker(tmp_path, "def on_fetch(request, env, ctx): return Response(f'{request.method} {env.NAME}')\n")
    with isolate(main, compatibility_date="2025-08-13", vars={"NAME": "shop"}) as running:
        ask(running)
        running.next("response")
        assert running.body(1) == b"GET shop"
    with isolate(main) as running:
        ask(running)
        failed = running.next("response", "request_failed")
        assert failed["traceback"].endswith("Handler does not export a fetch() function.")


def test_binding_calls_go_to_the_host_and_come_back(tmp_path: Path) -> None:
    source = """
    class Default(WorkerEntrypoint):
        async def fetch(self, request):
            try:
                await self.env.FLOW.get("one")
            except Exception as error:
                return Response(str(error))
    """
    binding = {"FLOW": {"type": "workflow", "workflow": "flow"}}
    with isolate(worker(tmp_path, source), env=binding) as running:
        ask(running)
        bind = running.next("bind", "request_failed")
        assert (bind["workflow"], bind["op"]) == ("flow", "get")
        running.send({"t": "bound", "id": bind["id"], "error": {"name": "Error", "message": "instance.not_found"}})
        running.next("response")
        assert running.body(1) == b"Error: instance.not_found"
