from __future__ import annotations

from pathlib import Path

from tests.wrangler_compat.lints.example_project import write_example
from wrangler_compat import load_project
from wrangler_compat.code import read_code
from wrangler_compat.lints import check, mends
from wrangler_compat.lints.lint import Example
from wrangler_compat.lints.mending import apply

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
