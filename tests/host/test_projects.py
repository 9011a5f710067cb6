"""Which projects can be started, alone and together."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from runtime.host.errors import LanguageError, ProjectError
from runtime.host.options import Options
from runtime.host.projects import open_project, open_projects, python_project


def write(folder: Path, main: str, **config: Any) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / main).touch()
    flags = ["python_workers"] if main.endswith(".py") else []
    settings = {"name": folder.name, "main": main, "compatibility_date": "2026-01-01", "compatibility_flags": flags}
    (folder / "wrangler.jsonc").write_text(json.dumps({**settings, **config}))
    return folder


def orders(name: str) -> dict[str, Any]:
    return {"workflows": [{"name": name, "binding": "ORDERS", "class_name": "Orders"}]}


def test_a_javascript_project_is_opened(tmp_path: Path) -> None:
    assert open_project(Options(write(tmp_path / "w", "index.ts")), {}).language == "javascript"


def test_the_options_reach_the_configuration(tmp_path: Path) -> None:
    folder = write(tmp_path / "w", "entry.py", env={"x": {}})

    project = open_project(Options(folder, env="x", vars={"A": "1"}), {})

    assert (project.name, project.vars) == ("w-x", {"A": "1"})


def test_a_test_in_its_own_process_runs_python_only(tmp_path: Path) -> None:
    with pytest.raises(LanguageError) as caught:
        python_project(Options(write(tmp_path / "w", "index.ts")))

    assert caught.value.message == ("index.ts is JavaScript or TypeScript, which does not run in a test's own process.")
    assert caught.value.hint


def test_projects_are_opened_together_and_variables_of_the_command_line_are_the_firsts(tmp_path: Path) -> None:
    first, second = write(tmp_path / "a", "a.ts", **orders("one")), write(tmp_path / "b", "b.js", **orders("two"))

    projects = open_projects(Options(first, others=(second,), vars={"A": "1"}), {})

    assert [(project.name, dict(project.vars)) for project in projects] == [("a", {"A": "1"}), ("b", {})]


def test_a_python_project_is_not_started_with_others(tmp_path: Path) -> None:
    first, second = write(tmp_path / "a", "a.ts"), write(tmp_path / "b", "b.py")

    with pytest.raises(LanguageError) as caught:
        open_projects(Options(first, others=(second,)), {})

    assert caught.value.message == "b is a Python project, which cannot be started together with others."
    assert caught.value.detail == str(second / "wrangler.jsonc")


@pytest.mark.parametrize(
    ("second", "text"),
    [
        ({"name": "a", **orders("two")}, 'Two projects are called "a".'),
        (orders("one"), 'Two Workflows are called "one".'),
    ],
)
def test_what_is_started_together_has_names_of_its_own(tmp_path: Path, second: dict[str, Any], text: str) -> None:
    first = write(tmp_path / "a", "a.ts", **orders("one"))
    other = write(tmp_path / "b", "b.ts", **second)

    with pytest.raises(ProjectError) as caught:
        open_projects(Options(first, others=(other,)), {})

    assert (caught.value.code, caught.value.message) == ("same_name", text)
    assert caught.value.detail == f"{first / 'wrangler.jsonc'}\n{other / 'wrangler.jsonc'}"
