"""What an isolate is told to load, for either target."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from runtime.host.workflows import EXPORTS_ON_ENV, load_message
from tests.dev import write_project
from workers_shim import compat
from wrangler_compat import load_project

BOTH: dict[str, Any] = {
    "workflows": [{"name": "pay", "binding": "PAY", "class_name": "Payment"}],
    "exports": {"Payment": {"type": "workflow", "name": "pay"}, "Order": {"type": "workflow", "name": "order"}},
}


def message(folder: Path, target: str, **config: Any) -> dict[str, Any]:
    return load_message(load_project(write_project(folder, "", **config)), "work", target)


def workflow(name: str) -> dict[str, str]:
    return {"type": "workflow", "workflow": name}


def test_cloudflare_has_exports_on_ctx_only(tmp_path: Path) -> None:
    found = message(tmp_path, "cloudflare", **BOTH)

    assert found["env"] == {"PAY": workflow("pay")}
    assert found["exports"] == {"Payment": workflow("pay"), "Order": workflow("order")}
    assert found["compatibility_flags"] == ["python_workers"]


def test_celld_has_each_on_env_under_its_class_name_or_its_bindings_as_a_deploy_makes_it(tmp_path: Path) -> None:
    found = message(tmp_path, "celld", **BOTH)

    assert found["env"] == {"PAY": workflow("pay"), "Order": workflow("order")}
    assert found["compatibility_flags"] == ["python_workers", EXPORTS_ON_ENV]


def test_without_exports_celld_needs_nothing_of_it(tmp_path: Path) -> None:
    found = message(tmp_path, "celld", workflows=BOTH["workflows"])

    assert found["compatibility_flags"] == ["python_workers"]


def test_host_and_isolate_mean_the_same_flag() -> None:
    assert EXPORTS_ON_ENV == compat.EXPORTS_ON_ENV
