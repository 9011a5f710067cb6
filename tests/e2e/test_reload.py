"""Edits while the server runs: the newest code serves, what is in flight ends well, mistakes wait to be mended.

What becomes of instances that sleep meanwhile is in test_field_reports_reload.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tests.dev import Dev, NotSeen, dev, eventually, write_project
from tests.e2e.stages import create, flow, noted, notes, open_gate, output

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

        def noticed() -> bool:
            with probe.open("a") as file:
                file.write("x")
            with suppress(NotSeen):
                return bool(server.printed("Reloading: ", timeout=1))
            return False

        eventually(noticed)
        settled(server)
        yield server


def settled(server: Dev) -> None:
    """Wait until every reload that began has ended."""
    ends = ("Reloaded", "error: The code does not load")
    eventually(lambda: count(server, "Reloading: ") == sum(count(server, end) for end in ends))


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
        assert "restart celld-py dev for it to take effect." in told


def test_code_that_ends_its_process_at_import_is_told_once(tmp_path: Path) -> None:
    with watched(write_project(tmp_path, version(1))) as server:
        edit(server, "import os\nos._exit(7)\n")

        assert count(server, "error: The code does not load") == 1
        assert server.get("/").text == "version 1"
        edit(server, version(2))
        assert server.get("/").text == "version 2"


def test_an_isolate_that_dies_again_and_again_is_started_with_growing_pauses(tmp_path: Path) -> None:
    code = """
    import asyncio, os, time

    with open(os.path.dirname(__file__) + "/../../starts", "a") as starts:
        starts.write(f"{time.monotonic()}\\n")

    asyncio.get_event_loop().call_later(0.05, os._exit, 7)
    """
    with dev(write_project(tmp_path / "project", code), "--no-watch") as server:
        eventually(lambda: count(server, "error: The work isolate ended with status 7") >= 5)

        starts = [float(line) for line in (tmp_path / "starts").read_text().splitlines()]
        assert starts[-1] - starts[0] >= 0.1 + 0.2 + 0.4
        assert server.running


# ------------------------------------------------------------------------------------------------------------ workflows


def change(server: Dev, old: str, new: str) -> None:
    code = main(server).read_text()
    assert old in code
    edit(server, code.replace(old, new))


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


def test_many_instances_survive_an_edit(tmp_path: Path) -> None:
    run = """
    async def run(self, event, step):
        total = 0
        for number in range(10):
            @step.do(f"step {number}")
            async def add():
                note(f"{event['instanceId']} {number}")
                await asyncio.sleep(0.05)
                return number
            total += await add()
        return total
    """
    with watched(flow(tmp_path, run)) as server:
        names = [f"i{number}" for number in range(20)]
        server.json("/batch", params={"ids": ",".join(names)})
        noted(server, "i0 2")

        edit(server, main(server).read_text() + "\n# edited\n")

        outputs: list[Any] = [output(server, name) for name in names]
        assert outputs == [45] * 20
        assert len(notes(server)) == len(set(notes(server))) == 10 * 20
