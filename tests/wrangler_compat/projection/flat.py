"""A configuration as `project` takes it, from the data of a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from wrangler_compat.diagnostics import Diagnostics
from wrangler_compat.environments import resolve
from wrangler_compat.projection import Projection, project

BASE = {"name": "shop", "main": "src/entry.py", "compatibility_date": "2026-11-01"}


def projected(environment: str | None = None, allow_drop: bool = False, **config: Any) -> Projection:
    """The projection of a configuration that holds this besides the usual."""
    resolved = resolve({**BASE, **config}, environment, Diagnostics(Path("wrangler.jsonc")))
    return project(resolved, allow_drop=allow_drop)


def workflow(name: str, **settings: Any) -> dict[str, Any]:
    """An entry of ``exports``."""
    return {"type": "workflow", "name": name, **settings}


def bound(name: str, binding: str, class_name: str, **settings: Any) -> dict[str, Any]:
    """An entry of ``workflows``."""
    return {"name": name, "binding": binding, "class_name": class_name, **settings}


def said(projection: Projection) -> list[tuple[str, str, str]]:
    """What the projection has to say: rule, level, text."""
    return [(remark.rule, remark.level, remark.text) for remark in projection.all_remarks()]
