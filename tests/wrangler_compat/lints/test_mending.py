from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.wrangler_compat.lints.example_project import write_example
from wrangler_compat import load_project
from wrangler_compat.code import read_code
from wrangler_compat.lints import check, mends
from wrangler_compat.lints.lint import Example
from wrangler_compat.lints.mending import apply
from wrangler_compat.reconcile import FileChanged

PYTHON = """
import asyncio

@step.do("charge")
async def charge():
    return 1

charge()  # comes first
paid = await step.wait_for_event(
    "payment",
    "paid",
)
"""
JAVASCRIPT = """
step.do("charge", async () => 1);
const paid = await step.waitForEvent("payment", { type: "paid" });
"""


def fixed(example: Example, folder: Path) -> str:
    file = write_example(example, example.bad, folder)
    project = load_project(folder, environ={})
    assert apply(mends(project, read_code(project.main, project.root))) == {file: 2}
    left = check(project, read_code(project.main, project.root))
    assert {each.code for each in left} & {"unawaited_step", "wait_without_timeout"} == set()
    return file.read_text()


def test_await_and_the_default_timeout_are_written_into_python(tmp_path: Path) -> None:
    text = fixed(Example("python", bad=PYTHON, good=""), tmp_path)

    assert "        await charge()  # comes first\n" in text
    assert '            "paid", timeout="24 hours",\n        )\n' in text


def test_await_and_the_default_timeout_are_written_into_javascript(tmp_path: Path) -> None:
    text = fixed(Example("javascript", bad=JAVASCRIPT, good=""), tmp_path)

    assert '    await step.do("charge", async () => 1);\n' in text
    assert '{ type: "paid", timeout: "24 hours" }' in text


def test_what_stands_around_a_mend_keeps_its_bytes(tmp_path: Path) -> None:
    file = write_example(Example("python", bad=PYTHON, good=""), PYTHON, tmp_path)
    before = b"\xef\xbb\xbf# \xc3\xa4\r\n" + file.read_bytes().replace(b"\n", b"\r\n")
    file.write_bytes(before)
    file.chmod(0o640)
    project = load_project(tmp_path, environ={})

    apply(mends(project, read_code(project.main, project.root)))

    expected = before.replace(b"        charge()", b"        await charge()").replace(
        b'"paid"', b'"paid", timeout="24 hours"'
    )
    assert file.read_bytes() == expected
    assert file.stat().st_mode & 0o777 == 0o640


def test_a_step_in_a_plain_function_is_not_mended_because_await_would_be_no_syntax(tmp_path: Path) -> None:
    text = """
[1, 2].map(() => {
  step.do("charge", async () => 1);
});
"""
    write_example(Example("javascript", bad=text, good=""), text, tmp_path)
    project = load_project(tmp_path, environ={})

    assert mends(project, read_code(project.main, project.root)) == []


def test_a_file_in_another_encoding_is_mended_at_the_same_place(tmp_path: Path) -> None:
    file = write_example(Example("python", bad=PYTHON, good=""), PYTHON, tmp_path)
    before = b"# coding: latin-1\n# \xe4\xf6\xfc\n" + file.read_bytes()
    file.write_bytes(before)
    project = load_project(tmp_path, environ={})

    apply(mends(project, read_code(project.main, project.root)))

    expected = before.replace(b"        charge()", b"        await charge()").replace(
        b'"paid"', b'"paid", timeout="24 hours"'
    )
    assert file.read_bytes() == expected


def test_a_mend_that_cannot_be_written_leaves_the_file_and_nothing_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write_example(Example("python", bad=PYTHON, good=""), PYTHON, tmp_path)
    before, names = file.read_bytes(), sorted(os.listdir(file.parent))
    project = load_project(tmp_path, environ={})

    monkeypatch.setattr(os, "access", lambda *_: False)  # a read-only file; root may write it all the same
    with pytest.raises(PermissionError):
        apply(mends(project, read_code(project.main, project.root)))

    assert (file.read_bytes(), sorted(os.listdir(file.parent))) == (before, names)


def test_a_file_that_was_edited_since_it_was_read_is_left_alone(tmp_path: Path) -> None:
    file = write_example(Example("python", bad=PYTHON, good=""), PYTHON, tmp_path)
    project = load_project(tmp_path, environ={})
    found = mends(project, read_code(project.main, project.root))
    file.write_text("# somebody was quicker\n" + file.read_text())
    edited = file.read_bytes()

    with pytest.raises(FileChanged, match="Run the command again"):
        apply(found)

    assert file.read_bytes() == edited
