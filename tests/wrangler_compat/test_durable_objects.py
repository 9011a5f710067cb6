"""The Durable Object classes that a configuration leaves a Worker with, and what keeps their storage."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from wrangler_compat import ConfigError, load_project
from wrangler_compat.durable_objects import DurableObjectBinding, read_durable_objects


def classes(**config: Any) -> list[tuple[str, str, bool]]:
    return [(each.name, each.key, each.sqlite) for each in read_durable_objects(config, "app").classes]


def test_migrations_create_classes_with_and_without_sql() -> None:
    steps = [{"new_classes": ["A"]}, {"new_sqlite_classes": ["B", "C"]}]

    assert classes(migrations=steps) == [("A", "A", False), ("B", "B", True), ("C", "C", True)]


def test_a_renamed_class_keeps_its_key_and_kind() -> None:
    steps = [
        {"new_sqlite_classes": ["A"]},
        {"renamed_classes": [{"from": "A", "to": "B"}]},
        {"renamed_classes": [{"from": "B", "to": "C"}]},
    ]

    assert classes(migrations=steps) == [("C", "A", True)]


def test_a_name_that_is_used_again_has_a_key_of_its_own() -> None:
    steps = [
        {"new_classes": ["A"]},
        {"renamed_classes": [{"from": "A", "to": "B"}], "new_sqlite_classes": ["A"]},
        {"deleted_classes": ["A"]},
        {"new_classes": ["A"]},
    ]

    assert classes(migrations=steps) == [("B", "A", False), ("A", "A.3", False)]


def test_a_class_from_another_worker_is_there() -> None:
    steps = [{"transferred_classes": [{"from": "Theirs", "from_script": "shop", "to": "Ours"}]}]

    assert classes(migrations=steps) == [("Ours", "Ours", True)]


def test_exports_declare_classes_and_their_renames() -> None:
    exports = {
        "Plain": {"type": "durable-object", "storage": "legacy-kv"},
        "New": {"type": "durable-object", "storage": "sqlite", "state": "created"},
        "Middle": {"type": "durable-object", "state": "renamed", "renamed_to": "New"},
        "Old": {"type": "durable-object", "state": "renamed", "renamed_to": "Middle"},
        "Gone": {"type": "durable-object", "state": "deleted"},
        "Flow": {"type": "workflow", "name": "flow"},
    }

    assert classes(exports=exports) == [("Plain", "Plain", False), ("New", "Old", True)]


def test_a_class_that_is_only_bound_has_no_sql_and_says_so() -> None:
    config = {"durable_objects": {"bindings": [{"name": "A", "class_name": "Bound"}]}}

    (only,) = read_durable_objects(config, "app").classes

    assert (only.name, only.key, only.sqlite, only.declared) == ("Bound", "Bound", False, False)


def test_bindings_tell_own_classes_from_those_of_other_workers() -> None:
    bindings = [
        {"name": "OWN", "class_name": "A", "script_name": "app"},
        {"name": "THEIRS", "class_name": "A", "script_name": "shop"},
    ]

    read = read_durable_objects({"durable_objects": {"bindings": bindings}}, "app")

    assert read.bindings == (DurableObjectBinding("OWN", "A"), DurableObjectBinding("THEIRS", "A", "shop"))
    assert read.own("A") is not None
    assert read.own("B") is None


@pytest.mark.parametrize(
    ("second", "problem"),
    [
        ({"deleted_classes": ["B"]}, "Cannot apply deleted_classes migration to non-existent class B"),
        (
            {"renamed_classes": [{"from": "B", "to": "C"}]},
            "Cannot apply renamed_classes migration to non-existent class B",
        ),
        ({"new_classes": ["A"]}, "Cannot apply new_classes migration to existing class A"),
        ({"new_sqlite_classes": ["A"]}, "Cannot apply new_sqlite_classes migration to existing class A"),
    ],
)
def test_migrations_that_cannot_be_applied_are_refused(second: dict[str, Any], problem: str, tmp_path: Path) -> None:
    migrations = [{"tag": "v1", "new_classes": ["A"]}, {"tag": "v2", **second}]
    (tmp_path / "index.js").touch()
    config = {"name": "app", "main": "index.js", "compatibility_date": "2026-01-01", "migrations": migrations}
    (tmp_path / "wrangler.json").write_text(json.dumps(config))

    with pytest.raises(ConfigError) as refused:
        load_project(tmp_path, environ={})

    assert refused.value.message == problem
    assert refused.value.path == ("migrations", 1, *second)
