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
