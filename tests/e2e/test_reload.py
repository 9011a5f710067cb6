"""Edits while the server runs: the newest code serves, what is in flight ends well, mistakes wait to be mended."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.dev import Dev, dev, eventually, write_project
from tests.e2e.stages import create, flow, noted, notes, open_gate, output, send, until

VERSION = """
from workers import Response, WorkerEntrypoint

class Default(WorkerEntrypoint):
    def fetch(self, request):
        return Response("version {}")
"""


def version(number: int) -> str:
    return VERSION.replace("{}", str(number))


@contextmanager
def watched(project: Path, *options: str) -> Iterator[Dev]:
    """A server whose watch has begun: until then edits are only seen at the next start."""
    with dev(project, *options) as server:
        probe = project / "src" / "probe.txt"

        def seen() -> bool:
            probe.write_text(probe.read_text() + "x" if probe.exists() else "x")
            return any(line == "Reloaded" for line in server.lines)

        eventually(seen, look_again=0.5)
        settled(server)
        yield server


def settled(server: Dev) -> None:
    """Wait until every reload that began has ended."""
    eventually(
        lambda: count(server, "Reloading: ") == count(server, "Reloaded") + count(server, "error: The code does")
    )


def count(server: Dev, text: str) -> int:
    return sum(line.startswith(text) for line in server.lines)


def edit(server: Dev, code: str, file: str = "main.py") -> None:
    """Save a file of the project, and wait until the server has taken it up, well or not."""
    mark = len(server.lines)
    (server.project / "src" / file).write_text(code)
    server.printed(f"Reloading: src/{file}", since=mark)
    settled(server)


def main(server: Dev) -> Path:
    return server.project / "src" / "main.py"


# ------------------------------------------------------------------------------------------------------------- requests


def test_an_edit_serves_the_new_code(tmp_path: Path) -> None:
    with watched(write_project(tmp_path, version(1))) as server:
        assert server.get("/").text == "version 1"

        edit(server, version(2))

        assert server.get("/").text == "version 2"


def test_a_request_in_flight_ends_on_the_old_code(tmp_path: Path) -> None:
    code = """
    import asyncio, os
    from workers import Response, WorkerEntrypoint

    class Default(WorkerEntrypoint):
        async def fetch(self, request):
            if request.method == "POST":
                open(self.env.GATE + ".began", "w").close()
                while not os.path.exists(self.env.GATE):
                    await asyncio.sleep(0.01)
            return Response("version 1")
    """
    gate = tmp_path / "gate"
    project = write_project(tmp_path / "project", code, vars={"GATE": str(gate)})
    with watched(project) as server, ThreadPoolExecutor() as elsewhere:
        answer = elsewhere.submit(server.post, "/")
        eventually((tmp_path / "gate.began").exists)

        edit(server, version(2))
        assert server.get("/").text == "version 2"
        assert not answer.done()
        gate.touch()

        assert answer.result().text == "version 1"


def test_a_syntax_error_leaves_the_last_good_code_serving_until_it_is_mended(tmp_path: Path) -> None:
    with watched(write_project(tmp_path, version(1))) as server:
        edit(server, "import asyncio\n\ndef half(:\n")

        assert f"error: The code does not load ({main(server)}:3)" in server.lines
        assert "  SyntaxError: invalid syntax" in server.lines
        assert server.get("/").text == "version 1"

        edit(server, version(2))

        assert server.get("/").text == "version 2"


def test_a_start_on_broken_code_waits_for_it_to_be_mended(tmp_path: Path) -> None:
    project = write_project(tmp_path, "def half(:\n")
    with dev(project) as server:
        answer = server.get("/", headers={"accept": "application/json"})
        assert answer.status_code == 500
        assert (answer.json()["error"]["file"], answer.json()["error"]["line"]) == (str(main(server)), 1)

        def mended() -> bool:
            main(server).write_text(version(1))
            return bool(server.get("/").text == "version 1")

        eventually(mended, look_again=0.5)


def test_a_burst_of_edits_ends_on_the_newest(tmp_path: Path) -> None:
    with watched(write_project(tmp_path, version(0))) as server:
        before = count(server, "Reloading: ")

        for number in range(1, 51):
            main(server).write_text(version(number))

        eventually(lambda: server.get("/").text == "version 50")
        settled(server)
        assert count(server, "Reloading: ") - before <= 3
        assert server.get("/").text == "version 50"


def test_what_is_not_the_projects_code_is_not_watched(tmp_path: Path) -> None:
    with watched(write_project(tmp_path, version(1))) as server:
        before = count(server, "Reloading: ")
        for folder in (".celld", ".venv/lib", ".venv-workers", "node_modules/x", "src/__pycache__", ".git"):
            (server.project / folder).mkdir(parents=True, exist_ok=True)
            (server.project / folder / "new.py").write_text("x = 1")

        edit(server, version(2))  # what came before has been seen when this is

        assert count(server, "Reloading: ") == before + 1
        assert not any("new.py" in line for line in server.lines)


def test_a_change_of_the_configuration_asks_for_a_restart(tmp_path: Path) -> None:
    with watched(write_project(tmp_path, version(1))) as server:
        config = server.project / "wrangler.jsonc"
        mark = len(server.lines)

        config.write_text(config.read_text() + "\n")

        told = server.printed("wrangler.jsonc changed", since=mark)
        assert told == "note: wrangler.jsonc changed; restart celld-py dev for the configuration to take effect."


def test_code_that_ends_its_process_at_import_is_told_once(tmp_path: Path) -> None:
    with watched(write_project(tmp_path, version(1))) as server:
        edit(server, "import os\nos._exit(7)\n")

        assert count(server, "error: The code does not load") == 1
        assert server.get("/").text == "version 1"
        edit(server, version(2))
        assert server.get("/").text == "version 2"


def test_an_isolate_that_dies_again_and_again_is_started_with_pauses(tmp_path: Path) -> None:
    code = """
    import asyncio, os
    from workers import Response, WorkerEntrypoint

    with open(os.path.dirname(__file__) + "/../../starts", "a") as starts:
        starts.write("x")

    asyncio.get_event_loop().call_later(0.05, os._exit, 7)

    class Default(WorkerEntrypoint):
        def fetch(self, request):
            return Response("version 1")
    """
    with dev(write_project(tmp_path / "project", code), "--no-watch") as server:
        eventually(lambda: count(server, "error: The front isolate ended with status 7") >= 3)
        mark = (tmp_path / "starts").stat().st_size

        server.get("/")
        server.get("/")

        assert (tmp_path / "starts").stat().st_size < mark + 10
        assert server.running


# ------------------------------------------------------------------------------------------------------------ workflows

SLEEPER = """
async def run(self, event, step):
    @step.do("a")
    async def a():
        note("a")

    @step.do("b")
    async def b():
        note("b of version 1")
        return 1

    await a()
    await step.wait_for_event("go", "go")
    return await b()
"""


def change(server: Dev, old: str, new: str) -> None:
    code = main(server).read_text()
    assert old in code
    edit(server, code.replace(old, new))


def test_a13a_a_waiting_instance_goes_on_with_the_new_code(tmp_path: Path) -> None:
    with watched(flow(tmp_path, SLEEPER)) as server:
        create(server)
        until(server, "waiting")

        change(server, 'note("b of version 1")\n        return 1', 'note("b of version 2")\n        return 2')
        send(server, "go", None)

        assert output(server) == 2
        assert notes(server) == ["a", "b of version 2"]


def test_a13a_a_helper_module_counts_too(tmp_path: Path) -> None:
    project = flow(tmp_path, SLEEPER.replace("return 1", "import helper; return helper.VALUE"))
    (project / "src" / "helper.py").write_text("VALUE = 1")
    with watched(project) as server:
        create(server)
        until(server, "waiting")

        edit(server, "VALUE = 2", "helper.py")
        send(server, "go", None)

        assert output(server) == 2
        assert notes(server)[0] == "a"


def test_a13b_a_mistake_on_the_way_does_no_harm(tmp_path: Path) -> None:
    with watched(flow(tmp_path, SLEEPER)) as server:
        create(server)
        until(server, "waiting")
        good = main(server).read_text()

        edit(server, good + "\ndef half(:\n")
        send(server, "go", None)
        edit(server, good)

        assert output(server) == 1
        assert notes(server) == ["a", "b of version 1"]


def test_a13c_a_step_put_before_the_wait_is_named_as_a_difference(tmp_path: Path) -> None:
    with watched(flow(tmp_path, SLEEPER)) as server:
        create(server)
        until(server, "waiting")

        inserted = 'await step.do("new", lambda: note("new"))\n    await step.wait_for_event('
        change(server, "await step.wait_for_event(", inserted)
        send(server, "go", None)

        server.printed("flow/one: the replay does not fit the history")
        assert output(server) == 1
        assert notes(server) == ["a", "new", "b of version 1"]


def test_a13d_an_instance_whose_class_is_gone_is_kept(tmp_path: Path) -> None:
    with watched(flow(tmp_path, SLEEPER), "--hibernate-after", "0") as server:
        create(server)
        until(server, "waiting")

        change(server, "class Flow(", "class Renamed(")
        server.printed("main.py lacks a WorkflowEntrypoint that wrangler.jsonc names.")
        send(server, "go", None)
        server.printed("flow/one is stopped: the code has no WorkflowEntrypoint Flow")
        change(server, "class Renamed(", "class Flow(")

        assert output(server) == 1
        assert notes(server) == ["a", "b of version 1"]


HELD = """
async def run(self, event, step):
    @step.do("held")
    async def held():
        note("began")
        await gate("open")
        return "version 1"

    @step.do("next")
    async def next_one():
        return "version 1"

    return [await held(), await next_one()]
"""


def test_a_running_attempt_ends_on_the_old_code_and_the_next_step_runs_on_the_new(tmp_path: Path) -> None:
    with watched(flow(tmp_path, HELD)) as server:
        create(server)
        noted(server, "began")

        change(server, '"version 1"', '"version 2"')
        open_gate(server, "open")

        assert output(server) == ["version 1", "version 2"]
        assert notes(server) == ["began"]


@pytest.mark.parametrize("instances", [20])
def test_many_instances_survive_an_edit(tmp_path: Path, instances: int) -> None:
    run = """
    async def run(self, event, step):
        total = 0
        for number in range(10):
            @step.do(f"step {number}")
            async def add(number=number):
                note(f"{event['instanceId']} {number}")
                await asyncio.sleep(0.05)
                return number
            total += await add()
        return total
    """
    with watched(flow(tmp_path, run)) as server:
        names = [f"i{number}" for number in range(instances)]
        server.json("/batch", params={"ids": ",".join(names)})
        noted(server, "i0 2")

        edit(server, main(server).read_text() + "\n# edited\n")

        outputs: list[Any] = [output(server, name) for name in names]
        assert outputs == [45] * instances
        assert len(notes(server)) == len(set(notes(server))) == 10 * instances
