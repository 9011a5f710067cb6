"""The deploy settings that a Python class declares."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent, indent

import pytest

from wrangler_compat.code import Code, read_code


def declared(folder: Path, attributes: str) -> Code:
    head = "from workers import WorkflowEntrypoint\n\nclass Nightly(WorkflowEntrypoint):\n"
    (folder / "main.py").write_text(
        head + indent(dedent(attributes).strip("\n"), "    ") + "\n    async def run(self, event, step): ...\n"
    )
    return read_code(folder / "main.py", folder)


def test_settings_are_read_in_the_order_of_a_configuration(tmp_path: Path) -> None:
    code = declared(
        tmp_path,
        """
        schedules = ("0 3 * * *", "0 4 * * MON")
        workflow_name = "nightly-report"
        default_retention: dict = {"success_retention": "3 days", "error_retention": 60_000}
        limits = {"steps": 500}
        concurrency = {"limit": 2}
        other = anything()
        """,
    )

    (nightly,) = code.classes
    assert nightly.workflow_name == "nightly-report"
    assert list(nightly.settings.items()) == [
        ("limits", {"steps": 500}),
        ("concurrency", {"limit": 2}),
        ("schedules", ["0 3 * * *", "0 4 * * MON"]),
        ("default_retention", {"success_retention": "3 days", "error_retention": 60_000}),
    ]
    assert (nightly.places["schedules"].line, nightly.places["schedules"].column) == (4, 17)
    assert code.problems == ()


def test_a_class_without_settings_has_none(tmp_path: Path) -> None:
    (nightly,) = declared(tmp_path, "pass").classes

    assert (nightly.workflow_name, nightly.settings) == (None, {})


def test_settings_are_inherited(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(
        "from workers import WorkflowEntrypoint\n"
        "class _Base(WorkflowEntrypoint):\n    limits = {'steps': 5}\n    concurrency = {'limit': 1}\n"
        "class Mine(_Base):\n    limits = {'steps': 7}\n"
    )

    (mine,) = read_code(tmp_path / "main.py", tmp_path).classes

    assert mine.settings == {"limits": {"steps": 7}, "concurrency": {"limit": 1}}


@pytest.mark.parametrize(
    ("attribute", "code", "column"),
    [
        ("schedules = [NIGHTLY]", "setting_not_literal", 18),
        ('workflow_name = f"{1}"', "setting_not_literal", 21),
        ("limits = dict(steps=5)", "setting_not_literal", 14),
        ("limits = 5", "setting_shape", 14),
        ('limits = {"steps": 25001}', "setting_shape", 14),
        ('limits = {"steps": True}', "setting_shape", 14),
        ("concurrency = {}", "setting_shape", 19),
        ("schedules = []", "setting_shape", 17),
        ("schedules = 3", "setting_shape", 17),
        ('default_retention = {"success": 1}', "setting_shape", 25),
        ('workflow_name = "-x"', "name_format", 21),
        ('workflow_name = "x\\n"', "name_format", 21),
        ('schedules = "every day"', "schedule_syntax", 17),
        ('default_retention = {"error_retention": "banana"}', "retention_syntax", 25),
    ],
)
def test_what_is_wrong_is_named_with_its_place_and_left_out(
    attribute: str, code: str, column: int, tmp_path: Path
) -> None:
    read = declared(tmp_path, attribute)

    (problem,) = read.problems
    assert (problem.code, problem.place.line, problem.place.column) == (code, 4, column)
    assert (read.classes[0].workflow_name, read.classes[0].settings) == (None, {})
