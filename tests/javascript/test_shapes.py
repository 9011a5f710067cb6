"""JavaScript projects as people lay them out, run by the real command."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.dev import Dev, dev
from tests.javascript.npm import with_packages

SHAPES = Path(__file__).parent / "shapes"

pytestmark = [pytest.mark.usefixtures("tools"), pytest.mark.timeout(120)]


@contextmanager
def shape(name: str, folder: Path) -> Iterator[Dev]:
    """A copy of one of the projects, with its packages, served."""
    project = Path(shutil.copytree(SHAPES / name, folder / name, ignore=shutil.ignore_patterns(".*", "node_modules")))
    with dev(with_packages(project), "--no-watch") as server:
        yield server


def complete(status: Any) -> bool:
    return bool(status["status"] == "complete")


def test_a_hono_app_with_a_workflow(tmp_path: Path) -> None:
    with shape("hono", tmp_path) as server:
        created = server.post("/letters", json={"to": "Ada"})
        assert created.status_code == 201
        assert created.headers["x-served-by"] == "hono"

        done = server.until(f"/letters/{created.json()['id']}", complete)

        assert done["output"] == {"text": "Hello Ada", "sealed": True}


def test_hono_answers_what_goes_wrong_by_itself(tmp_path: Path) -> None:
    with shape("hono", tmp_path) as server:
        refused = server.post("/letters", json={})
        broken = server.get("/broken")

        assert (refused.status_code, refused.text) == (400, "to whom?")
        assert (broken.status_code, broken.json()) == (500, {"error": "broken on purpose"})
        assert server.get("/nowhere").status_code == 404
        assert server.get("/lines/3").text == "line 0\nline 1\nline 2\n"


def test_a_commonjs_package_and_built_in_modules_of_node(tmp_path: Path) -> None:
    with shape("commonjs", tmp_path) as server:
        id = server.json("/", "POST", json={"name": "a.html", "text": "hi"})["id"]

        done = server.until(f"/?id={id}", complete)

        digest = hashlib.sha256(b"pepperhi").hexdigest()
        assert done["output"] == {"type": "text/html; charset=utf-8", "digest": digest, "said": "done"}
        assert server.json("/salt") == {"env": "pepper", "process": "pepper"}


def test_two_workflows_that_call_each_other(tmp_path: Path) -> None:
    with shape("calling", tmp_path) as server:
        server.json("/?id=ada&dishes=soup,fish", "POST")

        done = server.until("/?id=ada", complete)

        assert done["output"] == ["a plate of soup", "a plate of fish"]


def test_a_durable_object_that_steps_call(tmp_path: Path) -> None:
    with shape("durable", tmp_path) as server:
        ids = [server.json("/", "POST", json={"till": "left", "prices": [1, 2, 3]})["id"] for _ in range(3)]

        for id in ids:
            server.until(f"/?id={id}", complete)

        assert server.json("/total?till=left") == {"total": 18}
        assert server.json("/total?till=right") == {"total": 0}


def test_a_durable_object_keeps_what_steps_gave_it_over_a_kill(tmp_path: Path) -> None:
    with shape("durable", tmp_path) as server:
        id = server.json("/", "POST", json={"till": "left", "prices": [1] * 40})["id"]
        server.until("/total?till=left", lambda till: till["total"] >= 5)

        server.kill()
        server.start()

        assert server.until(f"/?id={id}", complete)["output"] == 40
        assert server.json("/total?till=left") == {"total": 40}
