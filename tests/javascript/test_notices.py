"""What is said of a start before it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from runtime.javascript.notices import notices
from tests.javascript.workerd_world import plan, project

CODE = "export default {};"


def workflow(binding: str, name: str, script: str) -> dict[str, Any]:
    return {"binding": binding, "name": name, "class_name": "Flow", "script_name": script}


def test_workflows_that_are_not_there_are_named(tmp_path: Path) -> None:
    elsewhere = [workflow("ABSENT", "a", "elsewhere"), workflow("UNKNOWN", "b", "shop"), workflow("KNOWN", "c", "shop")]
    known = {"binding": "OWN", "name": "c", "class_name": "Flow"}
    app = project(tmp_path / "app", CODE, workflows=elsewhere)
    shop = project(tmp_path / "shop", CODE, ["Flow"], name="shop", workflows=[known])

    said = notices(plan(tmp_path, app, shop))

    assert [notice.text for notice in said] == [
        'env.ABSENT will be missing: the Workflow lives in the Worker "elsewhere", which is not started.',
        'env.UNKNOWN will be missing: the Worker "shop" has no Workflow "b".',
    ]
    assert {notice.file for notice in said} == {app.project.config_path}


def test_a_project_that_stands_alone_has_nothing_said_of_it(tmp_path: Path) -> None:
    assert notices(plan(tmp_path, project(tmp_path, CODE))) == ()
