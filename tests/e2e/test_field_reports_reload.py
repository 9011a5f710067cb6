"""A13: what breaks elsewhere when code is edited under instances that sleep."""

from __future__ import annotations

import os
import time
from pathlib import Path

from tests.dev import Dev, dev
from tests.e2e.stages import create, flow, noted, notes, output, until

HOUR = 60 * 60 * 1000

RUN = """
async def run(self, event, step):
    from words import word

    @step.do("A")
    async def a():
        note("A")
        return "A"

    @step.do("B")
    async def b():
        note("B")
        return "B " + word

    first = await a()
    await step.sleep("nap", "1 hour")
    return [first, await b()]
"""


def project(folder: Path, run: str = RUN) -> Path:
    """The Workflow with a helper module beside it."""
    made = flow(folder, run)
    (made / "src" / "words.py").write_text('word = "old"\n')
    return made


def asleep(server: Dev) -> None:
    """One instance sleeps between A and B."""
    create(server)
    until(server, "waiting")


def edit(server: Dev, old: str, new: str) -> None:
    """Save a change of the Worker, and wait until the server has seen it."""
    main = server.project / "src" / "main.py"
    text = main.read_text()
    assert old in text
    save(server, main, text.replace(old, new))


def save(server: Dev, file: Path, text: str, *, loads: bool = True) -> None:
    mark = len(server.lines)
    file.write_text(text)
    server.printed("Reloaded" if loads else "does not load", since=mark)


def wake(server: Dev) -> None:
    """Let the hour pass."""
    server.kill()
    server.offset(HOUR)
    server.start()


def test_a13_a_sleeping_instance_wakes_in_the_new_code_and_in_its_helpers(tmp_path: Path) -> None:
    with dev(project(tmp_path), "--hibernate-after", "0.1") as server:
        asleep(server)
        edit(server, 'return "B " + word', 'return "new B " + word')
        save(server, server.project / "src" / "words.py", 'word = "new"\n')
        assert server.json("/status?id=one")["status"] == "waiting"
        wake(server)
        assert output(server) == ["A", "new B new"]
        assert notes(server) == ["A", "B"]


def test_a13_an_instance_that_sleeps_in_memory_moves_to_the_new_code(tmp_path: Path) -> None:
    made = project(tmp_path, RUN.replace('await step.sleep("nap", "1 hour")', 'await step.wait_for_event("go", "go")'))
    with dev(made, "--hibernate-after", "1h") as server:
        asleep(server)
        save(server, made / "src" / "words.py", 'word = "new"\n')
        server.json("/send?id=one&type=go&payload=1")
        assert output(server) == ["A", "B new"]
        assert notes(server) == ["A", "B"]


def test_a13_an_edit_of_the_same_length_in_the_same_second_counts(tmp_path: Path) -> None:
    with dev(project(tmp_path), "--no-watch", "--hibernate-after", "0.1") as server:
        words = server.project / "src" / "words.py"
        second = time.time() + 5  # of the first edit and of the second one, however long the starts between them take
        for word in ("one", "two"):
            server.stop()
            words.write_text(f'word = "{word}"\n')
            os.utime(words, (second, second))
            server.start()
            server.json(f"/create?id={word}")
            server.until(f"/status?id={word}", lambda seen: seen["status"] == "waiting")
        wake(server)
        assert server.until("/status?id=two", lambda seen: seen["status"] == "complete")["output"] == ["A", "B two"]


def test_a13_a_syntax_error_is_told_with_its_place_and_the_server_recovers(tmp_path: Path) -> None:
    with dev(project(tmp_path), "--hibernate-after", "0.1") as server:
        asleep(server)
        main = server.project / "src" / "main.py"
        good = main.read_text()
        line = good.splitlines().index("class Flow(WorkflowEntrypoint):") + 1
        save(server, main, good.replace("class Flow(WorkflowEntrypoint):", "class Flow(:"), loads=False)
        assert server.printed(f"main.py:{line}")
        assert server.json("/status?id=one")["status"] == "waiting"

        save(server, main, good.replace('"B "', '"mended B "'))
        wake(server)
        assert output(server) == ["A", "mended B old"]


def test_a13_a_step_that_is_put_in_before_is_told_and_the_instance_goes_on(tmp_path: Path) -> None:
    new_step = """
        @step.do("new")
        async def new():
            note("new")

        await new()
        await step.sleep("nap", "1 hour")
"""
    with dev(project(tmp_path), "--hibernate-after", "0.1") as server:
        asleep(server)
        edit(server, '        await step.sleep("nap", "1 hour")\n', new_step)
        wake(server)
        assert output(server) == ["A", "B old"]
        assert server.printed("the replay does not fit the history")
        assert server.printed('step.do("new") number 1')
        assert notes(server)[0] == "A"
        assert sorted(notes(server)) == ["A", "B", "new"]


def test_a13_an_instance_whose_class_is_gone_is_named_and_kept(tmp_path: Path) -> None:
    with dev(project(tmp_path), "--hibernate-after", "0.1") as server:
        asleep(server)
        edit(server, "class Flow(WorkflowEntrypoint):", "class Renamed(WorkflowEntrypoint):")
        server.printed('Workflow "flow" needs the class Flow')
        assert server.json("/status?id=one")["status"] == "waiting"

        edit(server, "class Renamed(WorkflowEntrypoint):", "class Flow(WorkflowEntrypoint):")
        wake(server)
        assert noted(server, "B") == ["A", "B"]
        assert output(server) == ["A", "B old"]
