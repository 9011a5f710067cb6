from __future__ import annotations

import json
from pathlib import Path

from wrangler_compat import load_project


def test_what_a_workflow_may_set_is_served_without_a_word(tmp_path: Path) -> None:
    (tmp_path / "entry.py").touch()
    settings = {"concurrency": {"limit": 2}, "limits": {"steps": 500}}
    workflow = {"name": "orders", "binding": "ORDERS", "class_name": "Orders", **settings}
    config = {
        "name": "shop",
        "main": "entry.py",
        "compatibility_date": "2026-11-01",
        "compatibility_flags": ["python_workers"],
        "workflows": [workflow],
    }
    (tmp_path / "wrangler.json").write_text(json.dumps(config))

    project = load_project(tmp_path, environ={})

    assert project.warnings == ()
    assert (project.workflows[0].concurrency_limit, project.workflows[0].steps_limit) == (2, 500)


def test_what_workerd_serves_to_javascript_is_not_named(tmp_path: Path) -> None:
    (tmp_path / "index.ts").touch()
    (tmp_path / "public").mkdir()
    config = {
        "name": "shop",
        "main": "index.ts",
        "compatibility_date": "2026-11-01",
        "durable_objects": {"bindings": [{"name": "COUNTER", "class_name": "Counter"}]},
        "migrations": [{"tag": "v1", "new_sqlite_classes": ["Counter"]}],
        "services": [{"binding": "BILLING", "service": "billing"}],
        "assets": {"directory": "public"},
        "version_metadata": {"binding": "VERSION"},
        "worker_loaders": [{"binding": "LOADER"}],
        "triggers": {"crons": ["0 3 * * *", "0 3 * * *"]},
        "define": {"DEBUG": "false"},
        "limits": {"cpu_ms": 100},
        "placement": {"mode": "smart"},
        "observability": {"enabled": True},
    }
    (tmp_path / "wrangler.json").write_text(json.dumps(config))

    project = load_project(tmp_path, environ={})

    assert project.warnings == ()
    assert project.crons == ("0 3 * * *",)
    assert project.resolved["version_metadata"] == {"binding": "VERSION"}


def test_what_is_not_served_to_javascript_is_named_with_its_consequence(tmp_path: Path) -> None:
    (tmp_path / "index.ts").touch()
    config = {
        "name": "shop",
        "main": "index.ts",
        "compatibility_date": "2026-11-01",
        "kv_namespaces": [{"binding": "KV", "id": "1"}],
        "ai": {"binding": "AI"},
        "send_email": [{"name": "MAIL"}],
        "exports": {"Api": {"type": "worker"}},
    }
    (tmp_path / "wrangler.json").write_text(json.dumps(config))

    project = load_project(tmp_path, environ={})

    assert [warning.text for warning in project.warnings] == [
        "Not served here: ai (env.AI will be missing); kv_namespaces (env.KV will be missing); "
        "send_email (env.MAIL will be missing); exports.Api (the settings of the entrypoint Api are not applied)"
    ]
