"""Which files a reload is for."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from runtime.host.sources import Inputs, Sources
from wrangler_compat import load_project


def sources(folder: Path, main: str, inputs: Inputs = lambda: None, **more: Any) -> Sources:
    path = folder / main
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    config = {"name": "w", "main": main, "compatibility_date": "2026-01-01", **more}
    if main.endswith(".py"):
        config["compatibility_flags"] = ["python_workers"]
    (folder / "wrangler.jsonc").write_text(json.dumps(config))
    return Sources([load_project(folder, environ={})], folder / ".celld" / "state", inputs)


@pytest.mark.parametrize(
    ("path", "included"),
    [
        ("src/entry.py", True),
        ("tests/test_a.py", True),
        ("src/page.html", True),
        ("out/page.html", False),
        ("src/index.ts", False),
        ("wrangler.jsonc", True),
        (".env.local", True),
        ("node_modules/a/a.py", False),
        (".venv/a.py", False),
        (".celld/state/a.py", False),
    ],
)
def test_of_a_python_project_the_code_and_what_lies_beside_the_main_module(
    tmp_path: Path, path: str, included: bool
) -> None:
    assert sources(tmp_path, "src/entry.py").include(tmp_path / path) == included


@pytest.mark.parametrize("path", ["src/index.ts", "lib/a.tsx", "b.mjs", "data.json", "x.wasm", "q.sql", "package.json"])
def test_of_a_javascript_project_whatever_a_build_may_read_as_long_as_none_has_told(tmp_path: Path, path: str) -> None:
    found = sources(tmp_path, "src/index.ts")

    assert found.include(tmp_path / path)
    assert not found.include(tmp_path / "node_modules" / path)
    assert not found.include(tmp_path / "README.md")


def test_what_the_rules_of_a_project_name_may_be_just_what_a_build_lacked(tmp_path: Path) -> None:
    rules = [{"type": "Text", "globs": ["**/*.csv", "prompts/**/*.md"]}]
    found = sources(tmp_path, "src/index.ts", rules=rules)

    assert found.include(tmp_path / "src" / "prices.csv")
    assert found.include(tmp_path / "src" / "index.ts")
    assert not found.include(tmp_path / "notes.rst")


def test_after_a_build_what_it_read_and_its_settings(tmp_path: Path) -> None:
    read = frozenset({tmp_path / "src" / "index.ts", tmp_path / "src" / "prompt.tpl"})
    found = sources(tmp_path, "src/index.ts", lambda: read)

    assert all(map(found.include, read))
    assert found.include(tmp_path / "tsconfig.json")
    assert found.include(tmp_path / "wrangler.jsonc")
    assert not found.include(tmp_path / "src" / "index.test.ts")


@pytest.mark.parametrize("how", [{"find_additional_modules": True}, {"no_bundle": True, "base_dir": "src"}])
def test_a_new_file_that_goes_along_by_a_rule_although_no_build_has_read_it(
    tmp_path: Path, how: dict[str, Any]
) -> None:
    rules = [{"type": "Text", "globs": ["pages/*.md"]}]
    found = sources(tmp_path, "src/index.js", frozenset, rules=rules, **how)

    assert found.include(tmp_path / "src" / "pages" / "new.md")
    assert not found.include(tmp_path / "pages" / "new.md")
    assert not found.include(tmp_path / "src" / "new.md")
    assert not found.include(tmp_path / "src" / "node_modules" / "pages" / "new.md")


def test_rules_alone_do_not_make_a_file_count(tmp_path: Path) -> None:
    found = sources(tmp_path, "src/index.js", frozenset, rules=[{"type": "Text", "globs": ["**/*.md"]}])

    assert not found.include(tmp_path / "src" / "new.md")


def test_what_a_build_read_outside_of_the_project_but_no_package(tmp_path: Path) -> None:
    shared, package = tmp_path / "shared" / "a.ts", tmp_path / "node_modules" / "p" / "index.js"
    for path in (shared, package):
        path.parent.mkdir(parents=True)
        path.touch()
    project = tmp_path / "app"
    written = project / ".celld" / "state" / "build" / "entry.mjs"
    found = sources(project, "index.ts", lambda: frozenset({project / "index.ts", shared, package, written}))

    assert found.include(shared) and not found.include(package) and not found.include(written)
    assert found.folders() == [project, shared.parent]


def test_a_symbolic_link_to_the_project_does_not_hide_what_the_build_read(tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.mkdir()
    (tmp_path / "link").symlink_to(real)
    found = sources(tmp_path / "link", "index.ts", lambda: frozenset({real / "index.ts"}))

    assert found.include(tmp_path / "link" / "index.ts")


def test_what_was_written_after_a_moment(tmp_path: Path) -> None:
    found = sources(tmp_path, "index.ts")
    (tmp_path / "later.ts").touch()
    for name in ("index.ts", "wrangler.jsonc"):
        os.utime(tmp_path / name, (1000, 1000))
    os.utime(tmp_path / "later.ts", (2000, 2000))

    assert found.changed_since(1500) == {tmp_path / "later.ts"}
