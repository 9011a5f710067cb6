"""What the terminal shows of a JavaScript project besides its Workflows and variables."""

from __future__ import annotations

import json
from pathlib import Path

from runtime.host.served import served
from wrangler_compat import load_project


def test_each_thing_is_a_line_with_the_names_by_which_it_is_reached(tmp_path: Path) -> None:
    (tmp_path / "index.ts").touch()
    (tmp_path / "public").mkdir()
    settings = {
        "name": "shop",
        "main": "index.ts",
        "compatibility_date": "2026-06-01",
        "assets": {"directory": "public", "binding": "ASSETS"},
        "durable_objects": {
            "bindings": [
                {"name": "CARTS", "class_name": "Cart"},
                {"name": "STOCK", "class_name": "Stock", "script_name": "store"},
            ]
        },
        "migrations": [{"tag": "v1", "new_sqlite_classes": ["Cart"]}],
        "services": [{"binding": "MAIL", "service": "mail", "entrypoint": "Outbox"}],
        "workflows": [{"name": "refunds", "binding": "REFUNDS", "class_name": "Refund", "script_name": "bank"}],
    }
    (tmp_path / "wrangler.json").write_text(json.dumps(settings))

    assert list(served(load_project(tmp_path, environ={}))) == [
        "Durable Object Cart: reached by env.CARTS",
        "Durable Object Stock of the Worker store: reached by env.STOCK",
        "Worker mail, entrypoint Outbox: reached by env.MAIL",
        "Workflow refunds of the Worker bank: reached by env.REFUNDS",
        "Assets of public/: reached by env.ASSETS",
    ]
