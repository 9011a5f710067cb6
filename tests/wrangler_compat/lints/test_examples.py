"""Every lint finds exactly the marked lines of its bad examples, and nothing in its good ones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.wrangler_compat.lints.example_project import MARK, marked_lines, write_example
from wrangler_compat import load_project
from wrangler_compat.code import read_code
from wrangler_compat.findings import Finding
from wrangler_compat.lints import LINTS, Lint, check
from wrangler_compat.lints.lint import Example

CASES = [
    pytest.param(lint, example, id=f"{lint.code}-{example.language}-{number}")
    for lint in LINTS
    for number, example in enumerate(lint.examples, start=1)
]
WITHOUT_EXAMPLE = {"code_unreadable"}  # it takes a file that cannot be opened


def findings(example: Example, text: str, folder: Path) -> tuple[Path, list[Finding]]:
    file = write_example(example, text, folder)
    project = load_project(folder, environ={})
    return file, check(project, read_code(project.main, project.root), example.target)


@pytest.mark.parametrize(("lint", "example"), CASES)
def test_the_bad_example_is_found_where_it_is_marked(lint: Lint, example: Example, tmp_path: Path) -> None:
    file, found = findings(example, example.bad, tmp_path)

    mine = [each for each in found if each.code == lint.code]
    assert sorted({each.line for each in mine if each.line}) == marked_lines(file) != []
    assert {each.file for each in mine} == {file}
    assert all(each.column for each in mine)


@pytest.mark.parametrize(("lint", "example"), CASES)
def test_the_good_example_is_left_alone(lint: Lint, example: Example, tmp_path: Path) -> None:
    assert MARK not in example.good

    if example.good_config is not None:
        example = replace(example, config=example.good_config)

    _, found = findings(example, example.good, tmp_path)

    assert [each for each in found if each.code == lint.code or each.level == "error"] == []


@pytest.mark.parametrize("lint", LINTS, ids=lambda lint: lint.code)
def test_a_lint_says_why_and_what_to_do(lint: Lint) -> None:
    assert lint.code.isidentifier() and lint.code == lint.code.lower()
    assert lint.reason.endswith(".") and lint.hint.endswith((".", ")")) and "\n" not in lint.reason
    assert lint.examples or lint.code in WITHOUT_EXAMPLE


def test_codes_are_unique() -> None:
    assert len({lint.code for lint in LINTS}) == len(LINTS)
