"""The command from start to end: what it prints, how it fails, how it stops."""

from __future__ import annotations

import json
import os
import signal
import socket
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.dev import Dev, dev, eventually, write_project
from tests.e2e.stages import create, flow, noted, notes, open_gate, output, until

PLAIN = """
from workers import Response, WorkerEntrypoint

class Default(WorkerEntrypoint):
    def fetch(self, request):
        return Response.json({name: getattr(self.env, name) for name in dir(self.env)})
"""


def fails(project: Path, *options: str, env: dict[str, str] | None = None) -> list[str]:
    """Run the command on a project that it cannot serve; what it printed."""
    server = Dev(project, options, env or {})
    try:
        server.launch()
        assert server.exited() == 1
        assert nothing_left(server)
    finally:
        server.close()
    assert not any("Traceback" in line or "runtime/" in line for line in server.lines), server.lines
    return server.lines


def nothing_left(server: Dev) -> bool:
    """Wait until no process of the command's group is left."""
    assert server.process is not None
    group = server.process.pid

    def gone() -> bool:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        return False

    return eventually(gone)


# ---------------------------------------------------------------------------------------------- what cannot be served


def test_a_port_that_is_taken(tmp_path: Path) -> None:
    project = write_project(tmp_path, PLAIN)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

        assert fails(project, "--port", str(port)) == [
            f"error: Port {port} of 127.0.0.1 is taken by another program.",
            f"  Stop it, or choose another port: --port {port + 1} (0 takes any that is free).",
        ]


def test_a_folder_without_a_configuration(tmp_path: Path) -> None:
    told = fails(tmp_path)

    assert told[0].startswith("error: ")
    assert "wrangler.jsonc" in "\n".join(told)


def test_a_configuration_without_main(tmp_path: Path) -> None:
    (tmp_path / "wrangler.jsonc").write_text('{"name": "shop", "compatibility_date": "2026-11-01"}')

    told = fails(tmp_path)

    assert told[0].startswith("error: ")
    assert '"main"' in "\n".join(told)


def test_a_main_module_that_is_not_there(tmp_path: Path) -> None:
    project = write_project(tmp_path, PLAIN, main="src/nowhere.py")
    (project / "src" / "nowhere.py").unlink()
    told = fails(project)

    assert told[0].startswith("error: ")
    assert "src/nowhere.py" in told[0]


@pytest.mark.parametrize("code", ["", "class Report: pass", "async def Report(event, step): pass"])
def test_a_workflow_class_that_is_missing(tmp_path: Path, code: str) -> None:
    told = fails(write_project(tmp_path, PLAIN + code, "Report"))

    start = next(number for number, line in enumerate(told) if line.startswith("error: "))
    assert told[start:] == [
        "error: main.py lacks a WorkflowEntrypoint that wrangler.jsonc names.",
        '  Workflow "report" needs the class Report',
        "  main.py has none",
        "  Define the class (class NAME(WorkflowEntrypoint)) or correct class_name. "
        "Instances of the Workflow are kept, and go on when it is there.",
    ]


@pytest.mark.parametrize(
    ("python", "reason"),
    [("/bin/ls", "/bin/ls is not a working Python"), ("/nowhere/python", "there is no such interpreter")],
)
def test_a_python_that_is_none(tmp_path: Path, python: str, reason: str) -> None:
    told = fails(write_project(tmp_path, PLAIN), "--python", python)

    assert told[0].startswith("error: ")
    assert reason in told[0]
    assert told[-1].startswith("  Name a ")


def test_a_state_folder_that_another_host_has(tmp_path: Path) -> None:
    with dev(write_project(tmp_path, PLAIN), "--no-watch") as server:
        told = fails(server.project)

        assert told[0].startswith("error: ")
        assert server.process is not None
        assert str(server.process.pid) in "\n".join(told)
        assert server.get("/").status_code == 200


def test_a_state_folder_that_cannot_be_made(tmp_path: Path) -> None:
    project = write_project(tmp_path, PLAIN)
    (project / ".celld").write_text("a file, where a folder has to be")

    told = fails(project)

    assert told[0].startswith("error: ")
    assert ".celld" in told[0]


def test_an_environment_that_the_configuration_lacks(tmp_path: Path) -> None:
    told = fails(write_project(tmp_path, PLAIN, env={"staging": {}}), "--env", "stagign")

    assert told[0].startswith("error: ")
    assert "stagign" in told[0]
    assert "staging" in "\n".join(told)


def test_code_that_does_not_load_and_nobody_watches(tmp_path: Path) -> None:
    project = write_project(tmp_path, "import asyncio\n\ndef half(:\n")

    told = fails(project, "--no-watch")

    assert f"error: The code does not load ({project / 'src' / 'main.py'}:3)" in told
    assert "  SyntaxError: invalid syntax" in told


# ------------------------------------------------------------------------------------------------------ what it prints


def test_the_banner_tells_what_was_found(tmp_path: Path) -> None:
    code = PLAIN + "\nfrom workers import WorkflowEntrypoint\nclass ReportFlow(WorkflowEntrypoint): pass\n"
    project = write_project(tmp_path / "shop", code, "ReportFlow", name="shop", vars={"REGION": "eu"})
    (project / ".dev.vars").write_text("API_KEY=hunter2\n")

    with dev(project) as server:
        assert server.lines[0] == "shop (wrangler.jsonc), target cloudflare"
        assert "  Workflow report-flow: class ReportFlow, reached by env.REPORT_FLOW" in server.lines
        assert "  Variables REGION and secrets API_KEY" in server.lines
        assert "  State .celld/state (survives kill -9)" in server.lines
        assert server.lines[-1] == f"Ready on {server.url}"


def test_variables_and_secrets_reach_env_and_secrets_nothing_else(tmp_path: Path) -> None:
    project = write_project(tmp_path, PLAIN, vars={"A": "file", "B": "file"})
    (project / ".dev.vars").write_text("SECRET=hunter2\n")
    given = ["--var", "A:line", "--var", "C:x:y"]

    with dev(project, *given) as server:
        assert server.json("/") == {"A": "line", "B": "file", "C": "x:y", "SECRET": "hunter2"}
        server.stop()
        assert not any("hunter2" in line for line in server.lines)

    with in_json(project, *given) as server:
        assert server.json("/")["SECRET"] == "hunter2"
        server.stop()
        assert not any("hunter2" in line for line in server.lines)


@contextmanager
def in_json(project: Path, *options: str) -> Iterator[Dev]:
    """Like `dev`, with output for programs."""
    server = Dev(project, [*options, "--log-format", "json"], {})
    try:
        server.launch()
        ready = json.loads(server.printed('"kind": "ready"'))
        server.url = ready["url"]
        server.http.base_url = server.url
        yield server
    finally:
        server.close()


def test_json_has_one_object_in_each_line(tmp_path: Path) -> None:
    code = """
    from workers import Response, WorkerEntrypoint

    print("at import")

    class Default(WorkerEntrypoint):
        def fetch(self, request):
            print("two\\nlines")
            if request.method == "POST":
                raise LookupError("nowhere")
            return Response("")
    """
    with in_json(write_project(tmp_path, code)) as server:
        server.get("/")
        server.post("/")
        server.stop()

        told = [json.loads(line) for line in server.lines]

    kinds = [each["kind"] for each in told]
    assert {"line", "started", "ready", "output", "error"} <= set(kinds)
    assert told[kinds.index("ready")] == {"kind": "ready", "url": server.url}
    assert {"kind": "output", "stream": "stdout", "text": "at import"} in told
    error = told[kinds.index("error")]
    assert error["code"] == "request_failed"
    assert error["detail"].endswith("LookupError: nowhere")


def test_output_tells_who_wrote_it(tmp_path: Path) -> None:
    run = """
    async def run(self, event, step):
        print("outside")

        @step.do("charge", config={"retries": {"limit": 1, "delay": 0}})
        async def charge(ctx):
            print("inside\\nin two lines")
            if ctx["attempt"] == 1:
                raise ValueError("once")

        await charge()
    """
    with dev(flow(tmp_path, run)) as server:
        create(server, "ab")
        output(server, "ab")

        told = [line for line in server.lines if line.startswith("[flow/ab")]

    assert told == [
        "[flow/ab] outside",
        "[flow/ab charge-1 #1] inside",
        "[flow/ab charge-1 #1] in two lines",
        "[flow/ab charge-1 #2] inside",
        "[flow/ab charge-1 #2] in two lines",
    ]


def test_output_of_a_replay_is_not_shown_again(tmp_path: Path) -> None:
    run = """
    async def run(self, event, step):
        print("before")

        @step.do("first")
        async def first():
            print("in the step")

        await first()
        print("between")
        await step.wait_for_event("go", "go")
        print("after")
    """
    with dev(flow(tmp_path, run)) as server:
        create(server)
        until(server, "waiting")

        server.kill()
        server.start()
        server.json("/send", params={"id": "one", "type": "go", "payload": "null"})
        output(server)

        told = [line.partition("] ")[2] for line in server.lines if line.startswith("[flow/one")]

    assert told == ["before", "in the step", "between", "after"]


def test_a_start_tells_what_it_took_up_again_and_when_the_next_wakes(tmp_path: Path) -> None:
    run = """
    async def run(self, event, step):
        if event["payload"] == "sleep":
            await step.sleep("long", "1 hour")

        @step.do("held")
        async def held():
            note("held")
            await gate("open")

        await held()
    """
    with dev(flow(tmp_path, run), "--hibernate-after", "0") as server:
        create(server, "sleeper", "sleep")
        until(server, "waiting", "sleeper")
        create(server, "worker", "work")
        noted(server, "held")
        eventually(lambda: _dirty(server) == ["worker"])

        server.kill()
        server.start()

        told = server.printed("taken up again")
        assert told.startswith("  1 instance taken up again, 1 waiting, the next wakes at ")
        open_gate(server, "open")
        output(server, "worker")


def _dirty(server: Dev) -> list[Any]:
    """The instances that the catalog has as active."""
    with closing(sqlite3.connect(f"file:{server.state / 'catalog.db'}?mode=ro", uri=True)) as db:
        return [id for (id,) in db.execute("SELECT id FROM instances WHERE dirty")]


def test_the_state_may_stand_elsewhere(tmp_path: Path) -> None:
    project = write_project(tmp_path / "project", PLAIN)

    with dev(project, "--persist-to", str(tmp_path / "elsewhere")):
        assert (tmp_path / "elsewhere" / "catalog.db").exists()
        assert not (project / ".celld").exists()


# --------------------------------------------------------------------------------------------------------- how it stops

STEP = """
async def run(self, event, step):
    @step.do("held")
    async def held():
        note("began")
        await gate("open")
        note("ended")

    @step.do("next")
    async def next_one():
        note("next")

    await held()
    await next_one()
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_running_step_may_finish(tmp_path: Path, number: signal.Signals) -> None:
    with dev(flow(tmp_path, STEP)) as server:
        create(server)
        noted(server, "began")

        server.signal(number)
        server.printed("Stopping: ")
        open_gate(server, "open")

        assert server.exited() == 0
        assert nothing_left(server)
        assert notes(server)[:2] == ["began", "ended"]
        server.start()
        assert output(server) is None
        assert notes(server) == ["began", "ended", "next"]


def test_a_running_request_may_finish(tmp_path: Path) -> None:
    code = """
    import asyncio, os
    from workers import Response, WorkerEntrypoint

    class Default(WorkerEntrypoint):
        async def fetch(self, request):
            open(self.env.GATE + ".began", "w").close()
            while not os.path.exists(self.env.GATE):
                await asyncio.sleep(0.01)
            return Response("finished")
    """
    gate = tmp_path / "gate"
    with dev(write_project(tmp_path / "project", code, vars={"GATE": str(gate)}), "--no-watch") as server:
        with ThreadPoolExecutor() as elsewhere:
            answer = elsewhere.submit(server.get, "/")
            eventually((tmp_path / "gate.began").exists)
            server.signal(signal.SIGINT)
            server.printed("Stopping: ")
            gate.touch()
            assert answer.result().text == "finished"
        assert server.exited() == 0
        assert nothing_left(server)


def test_a_second_signal_forces(tmp_path: Path) -> None:
    with dev(flow(tmp_path, STEP)) as server:
        create(server)
        noted(server, "began")

        server.signal(signal.SIGINT)
        server.printed("Stopping: ")
        server.signal(signal.SIGINT)

        assert server.exited() == 130
        assert nothing_left(server)
        assert notes(server) == ["began"]


def test_a_killed_host_leaves_no_isolate_behind(tmp_path: Path) -> None:
    with dev(flow(tmp_path, STEP)) as server:
        create(server)
        noted(server, "began")

        server.kill()

        assert nothing_left(server)
