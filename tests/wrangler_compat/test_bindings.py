"""Clashes of names, and what is said of workflows that are only half served."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from wrangler_compat import ConfigError, Project, load_project

ORDER = {"binding": "ORDER", "name": "order", "class_name": "Order"}


def load(root: Path, **settings: object) -> Project:
    base = {"name": "shop", "main": "worker.js", "compatibility_date": "2026-01-01"}
    (root / "wrangler.json").write_text(json.dumps({**base, **settings}))
    (root / "worker.js").touch()
    return load_project(root, None, {})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"workflows": [ORDER, {**ORDER, "name": "other"}]},
            "ORDER assigned to multiple Workflow bindings.",
        ),
        (
            {"workflows": [ORDER], "kv_namespaces": [{"binding": "ORDER"}]},
            "ORDER assigned to KV Namespace and Workflow bindings.",
        ),
        (
            {"workflows": [ORDER], "vars": {"ORDER": "x"}},
            "ORDER assigned to Environment Variable and Workflow bindings.",
        ),
        (
            {"workflows": [ORDER], "vars": {"ORDER": "x"}, "ai": {"binding": "ORDER"}},
            "ORDER assigned to AI, Environment Variable, and Workflow bindings.",
        ),
    ],
)
def test_two_bindings_of_one_name_are_refused(tmp_path: Path, settings: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, **settings)

    assert caught.value.message == message
    assert caught.value.hint == (
        "Bindings must have unique names, so that they can all be referenced in the worker.\n"
        "Please change your bindings to have unique names."
    )


def test_a_workflow_of_another_worker_is_set_apart(tmp_path: Path) -> None:
    project = load(tmp_path, workflows=[{**ORDER, "script_name": "billing"}])

    assert project.workflows == ()
    assert [workflow.name for workflow in project.foreign_workflows] == ["order"]
    assert project.warnings == ()  # whether the other Worker is there is not known yet


def test_a_python_project_has_no_other_worker_beside_it(tmp_path: Path) -> None:
    (tmp_path / "worker.py").touch()
    python = {"main": "worker.py", "compatibility_flags": ["python_workers"]}

    project = load(tmp_path, workflows=[{**ORDER, "script_name": "billing"}], **python)

    assert [warning.text for warning in project.warnings] == [
        "Not served here: workflows[0].script_name (env.ORDER will be missing: the workflow lives in the Worker "
        '"billing")'
    ]


def test_schedules_and_retention_are_served(tmp_path: Path) -> None:
    settings = {"schedules": "0 3 * * *", "default_retention": {"success_retention": "1 day"}}

    project = load(tmp_path, workflows=[{**ORDER, **settings}])

    assert project.warnings == ()
