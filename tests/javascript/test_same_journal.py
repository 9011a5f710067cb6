"""The same scenario as a Python and as a JavaScript project leaves the same journal."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from runtime.store.files import file_name
from runtime.store.types import Key
from tests.dev import Dev, dev, fixture, write_project

TWINS = Path(__file__).parent / "twins"
QUICK = ("--no-watch", "--var", "FIRST_NIGHT:200")

# When it was, which code it was, and what an error is called, in which the languages differ.
OWN = ("at", "due", "code", "error")
VALUES = ("params", "output", "payload")  # texts, in which what may be escaped need not be

# That the code came to rest, and went on: in a short sleep it is a matter of time whether that is seen.
RESTS = ("workflow_waiting", "workflow_running")

pytestmark = [pytest.mark.usefixtures("tools"), pytest.mark.timeout(120)]

Line = dict[str, Any]


def journal(server: Dev, workflow: str, id: str) -> list[Line]:
    """The lines of an instance's journal, without what is each run's own."""
    file = server.state / "instances" / file_name(Key(workflow, id))
    with closing(sqlite3.connect(file)) as db:
        lines = [json.loads(data) for (data,) in db.execute("SELECT data FROM journal ORDER BY seq")]
    return [_told(line) for line in lines if line["kind"] not in RESTS]


def _told(line: Line) -> Line:
    told = {name: value for name, value in line.items() if name not in OWN}
    return told | {name: json.loads(told[name]) for name in VALUES if name in told}


def ends(server: Dev, path: str) -> None:
    server.until(path, lambda seen: seen["status"] in ("complete", "errored"))


# ----------------------------------------------------------------------------------------------------------- onboarding


def onboarding(name: str, folder: Path, *, verified: bool) -> list[Line]:
    """The life of a new member, in one of the two languages."""
    within = "1 hour" if verified else "100"
    with dev(fixture(name, folder), *QUICK, "--var", f"VERIFY_WITHIN:{within}") as server:
        server.json("/start", "POST", data={"name": "ada"})
        if verified:
            server.until("/look?name=ada", lambda seen: seen["status"] == "waiting")
            server.json("/verify", "POST", data={"name": "ada"})
        ends(server, "/look?name=ada")
        return journal(server, "onboarding", "ada")


@pytest.mark.parametrize("verified", [True, False])
def test_onboarding(verified: bool, tmp_path: Path) -> None:
    in_python = onboarding("onboarding", tmp_path, verified=verified)
    in_typescript = onboarding("onboarding-ts", tmp_path, verified=verified)

    assert [line["kind"] for line in in_typescript] == [line["kind"] for line in in_python]
    assert in_typescript == in_python


# ---------------------------------------------------------------------------------------------------------------- twins


@contextmanager
def twin(main: str, folder: Path) -> Iterator[Dev]:
    """The Worker of the folder twins in one language."""
    flags = {"compatibility_flags": ["python_workers"] if main.endswith(".py") else []}
    project = write_project(folder / main, "", "Life", "Undone", main=main, **flags)
    (project / main).write_text((TWINS / main).read_text("utf-8"), "utf-8")
    with dev(project, "--no-watch") as server:
        yield server


def life(main: str, folder: Path) -> list[Line]:
    with twin(main, folder) as server:
        server.post("/?workflow=life&id=ada")
        server.until("/?workflow=life&id=ada", lambda seen: seen["status"] == "waiting")
        server.get("/?workflow=life&id=ada&send=1")
        ends(server, "/?workflow=life&id=ada")
        return journal(server, "life", "ada")


def undone(main: str, folder: Path) -> list[Line]:
    with twin(main, folder) as server:
        server.post("/?workflow=undone&id=ada")
        ends(server, "/?workflow=undone&id=ada")
        return journal(server, "undone", "ada")


@pytest.mark.parametrize("scenario", [life, undone])
def test_twins(scenario: Any, tmp_path: Path) -> None:
    in_python, in_javascript = scenario("main.py", tmp_path), scenario("main.js", tmp_path)

    assert [line["kind"] for line in in_javascript] == [line["kind"] for line in in_python]
    assert by_step(in_javascript) == by_step(in_python)


def by_step(lines: list[Line]) -> dict[int, list[Line]]:
    """The lines of each step, and under 0 the instance's own: attempts that run at one moment end in any order."""
    found: dict[int, list[Line]] = {}
    for line in lines:
        found.setdefault(line.get("step", 0), []).append(line)
    return found
