"""The documents say what the code does: options, examples, links and tests that they name exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from runtime.cli.main import main

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
DOCUMENTS = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_the_readme_lists_the_options_of_dev(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["dev", "--help"])
    offered = set(OPTION.findall(capsys.readouterr().out))

    table = "\n".join(line for line in README.splitlines() if line.startswith("| `-"))

    assert set(OPTION.findall(table)) == offered


def test_the_readme_gives_the_defaults_of_dev() -> None:
    from runtime.host.options import DEFAULT_HIBERNATE_AFTER, DEFAULT_IP, DEFAULT_PORT

    assert f"listen on, {DEFAULT_PORT} by default" in README
    assert f"listen on, {DEFAULT_IP} by default" in README
    assert f"leaves memory; {DEFAULT_HIBERNATE_AFTER:g} seconds by default" in README


@pytest.mark.parametrize("fixture", sorted(path.name for path in (ROOT / "fixtures").iterdir() if path.is_dir()))
def test_the_readme_names_every_fixture(fixture: str) -> None:
    assert f"[`fixtures/{fixture}`](fixtures/{fixture})" in README
    assert (ROOT / "fixtures" / fixture / "README.md").exists()


def test_the_readme_names_only_targets_that_make_has() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))

    assert set(re.findall(r"\bmake ([a-z]+)\b(?= |`|$)", README, re.MULTILINE)) <= targets


@pytest.mark.parametrize("document", DOCUMENTS, ids=name)
def test_relative_links_lead_somewhere(document: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)\)", document.read_text())

    assert [link for link in links if "://" not in link and not (document.parent / link).exists()] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=name)
def test_tests_that_are_named_exist(document: Path) -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", document.read_text())

    missing = [f"{file}::{test}" for file, test in named if f"def {test}" not in source(file)]

    assert missing == []


def source(file: str) -> str:
    path = ROOT / file
    return path.read_text() if path.exists() else ""


def test_the_table_of_modules_names_each_that_a_worker_finds_here() -> None:
    table = (ROOT / "docs" / "python-workers.md").read_text().partition("## Modules")[2].partition("\n## ")[0]
    public = [path.stem for path in (ROOT / "workers_shim" / "modules").iterdir() if not path.name.startswith("_")]

    assert [module for module in public if f"`{module}`" not in table and f"`{module}." not in table] == []


def test_the_readme_shows_the_test_file_of_the_first_example() -> None:
    shown = (ROOT / "fixtures/onboarding/tests/test_onboarding.py").read_text("utf-8")
    assert f"```python\n{shown}```" in (ROOT / "README.md").read_text("utf-8")
