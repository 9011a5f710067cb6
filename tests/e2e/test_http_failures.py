"""What a client and the developer see when the Worker fails, and that the server goes on."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import httpx
import pytest

from tests.dev import dev, eventually, write_project
from tests.e2e.conftest import Stage

RAISES = """
class Default(WorkerEntrypoint):
    def fetch(self, request):
        return self.divide(int(request.headers.get("x-by", "0")))

    def divide(self, by):
        return Response(str(1 // by))  # <here>
"""


def line_of(stage: Stage, path: str, text: str) -> tuple[str, int]:
    """File and line of a Worker on the stage where the text stands."""
    file = stage.server.project / "src" / f"{path[1:]}.py"
    lines = file.read_text().splitlines()
    return str(file), next(number for number, line in enumerate(lines, 1) if text in line)


def test_a_browser_gets_a_page_with_the_traceback(stage: Stage) -> None:
    path = stage.worker(RAISES)
    file, line = line_of(stage, path, "<here>")

    answer = stage.server.get(f"{path}?<script>", headers={"accept": "text/html,*/*;q=0.8"})

    assert (answer.status_code, answer.headers["content-type"]) == (500, "text/html; charset=utf-8")
    assert "<h1>ZeroDivisionError: integer division or modulo by zero</h1>" in answer.text
    assert f"{file}:{line}" in answer.text
    assert "return Response(str(1 // by))  # &lt;here&gt;" in answer.text
    assert "<script>" not in answer.text
    assert "workers_shim" not in answer.text


def test_a_program_that_asks_for_json_gets_json(stage: Stage) -> None:
    path = stage.worker(RAISES)
    file, line = line_of(stage, path, "<here>")

    answer = stage.server.get(path, headers={"accept": "application/json"})

    assert (answer.status_code, answer.headers["content-type"]) == (500, "application/json")
    error = answer.json()["error"]
    assert error["name"] == "PythonError"
    assert error["message"] == "ZeroDivisionError: integer division or modulo by zero"
    assert error["traceback"].startswith("Traceback (most recent call last):\n")
    assert (error["file"], error["line"]) == (file, line)


def test_the_developer_is_told_in_the_terminal(stage: Stage) -> None:
    path = stage.worker(RAISES)
    file, line = line_of(stage, path, "<here>")
    mark = len(stage.server.lines)

    stage.server.get(path)

    stage.server.printed(f"GET {path} 500 Internal Server Error", since=mark)
    told = stage.server.lines[mark:]
    assert f"error: A request failed in the Worker ({file}:{line})" in told
    assert "  ZeroDivisionError: integer division or modulo by zero" in told
    assert stage.server.get(path, headers={"x-by": "1"}).text == "1"


@pytest.mark.parametrize(
    "error", ["SystemExit(3)", "KeyboardInterrupt()", "asyncio.CancelledError()", "BaseException()"]
)
def test_no_error_ends_the_server(stage: Stage, error: str) -> None:
    path = stage.worker(f"""
    class Default(WorkerEntrypoint):
        async def fetch(self, request):
            if request.method == "POST":
                raise {error}
            return Response("alive")
    """)

    assert stage.server.post(path).status_code == 500
    assert stage.server.get(path).text == "alive"


def test_an_error_after_the_first_chunk_cuts_the_response(stage: Stage) -> None:
    path = stage.worker("""
    class Default(WorkerEntrypoint):
        def fetch(self, request):
            self.made = 0
            return Response("alive" if request.method == "POST" else js.ReadableStream.new({"pull": self.pull}))

        def pull(self, controller):
            self.made += 1
            if self.made == 2:
                raise LookupError("no second chunk")
            controller.enqueue(b"first")
    """)
    mark = len(stage.server.lines)

    with (
        pytest.raises(httpx.RemoteProtocolError, match="incomplete chunked read"),
        stage.server.http.stream("GET", path) as answer,
    ):
        chunks = answer.iter_raw()
        assert next(chunks) == b"first"
        next(chunks)

    stage.server.printed("LookupError: no second chunk", since=mark)
    assert stage.server.post(path).text == "alive"
    ours = [
        line for line in stage.server.lines[mark:] if "runtime/" in line or "uvicorn" in line or "HTTP server" in line
    ]
    assert ours == []


@pytest.mark.parametrize(
    ("returned", "told"),
    [
        ("None", "The handler returned nothing (None). It must return a Response."),
        ("'text'", "The handler returned a str: 'text'. It must return a Response."),
        (
            "{'a': 1}",
            "The handler returned a dict: {'a': 1}. It must return a Response; Response.json(...) makes one from data.",
        ),
    ],
)
def test_a_handler_has_to_return_a_response(stage: Stage, returned: str, told: str) -> None:
    path = stage.worker(f"""
    class Default(WorkerEntrypoint):
        def fetch(self, request):
            return {returned}
    """)

    answer = stage.server.get(path, headers={"accept": "application/json"})

    assert (answer.status_code, answer.json()["error"]["message"]) == (500, f"TypeError: {told}")


def test_a_stream_of_something_else_than_bytes_is_named(stage: Stage) -> None:
    path = stage.worker("""
    class Default(WorkerEntrypoint):
        def fetch(self, request):
            return Response(js.ReadableStream.new({"pull": lambda controller: controller.enqueue("text")}))
    """)
    mark = len(stage.server.lines)

    with pytest.raises(httpx.RemoteProtocolError):
        stage.server.get(path)

    stage.server.printed("A body's stream must give chunks of bytes", since=mark)


def test_a_worker_without_a_default_entrypoint_says_so(tmp_path: Path) -> None:
    with dev(write_project(tmp_path, "SOMETHING = 1"), "--no-watch") as server:
        answer = server.get("/", headers={"accept": "application/json"})

        assert answer.status_code == 500
        assert "Handler does not export a fetch() function." in answer.json()["error"]["message"]


def test_the_death_of_the_isolate_fails_its_requests_only(tmp_path: Path) -> None:
    code = """
    import asyncio, os, signal
    from workers import Response, WorkerEntrypoint

    class Default(WorkerEntrypoint):
        async def fetch(self, request):
            if request.method == "POST":
                os.kill(os.getpid(), signal.SIGKILL)
            return Response(str(os.getpid()))
    """
    with dev(write_project(tmp_path, code), "--no-watch") as server:
        before = server.get("/").text

        answer = server.post("/", headers={"accept": "application/json"})

        assert answer.status_code == 500
        assert (
            answer.json()["error"]["message"]
            == "Error: The isolate that answered this request ended before it was done."
        )
        assert server.get("/").text != before
        told = server.printed("The front isolate was ended by signal 9")
        assert "Another is being started." in told


def test_the_death_of_the_isolate_cuts_a_stream_but_not_a_response_that_is_whole(tmp_path: Path) -> None:
    code = """
    import os
    import js
    from workers import Response, WorkerEntrypoint

    class Default(WorkerEntrypoint):
        async def fetch(self, request):
            if request.method == "POST":
                return Response(str(os.getpid()))
            if request.method == "PUT":
                return Response(bytes(200_000), headers={"x-whole": "yes"})
            return Response(js.ReadableStream.new({"start": lambda controller: controller.enqueue(b"first")}))
    """
    with dev(write_project(tmp_path, code), "--no-watch") as server:
        victim = int(server.post("/").text)
        with server.http.stream("PUT", "/") as whole, server.http.stream("GET", "/") as stream:
            chunks = stream.iter_raw()
            assert next(chunks) == b"first"
            os.kill(victim, signal.SIGKILL)
            with pytest.raises(httpx.RemoteProtocolError):
                next(chunks)
            assert len(whole.read()) == 200_000
        eventually(lambda: int(server.post("/").text) != victim)
