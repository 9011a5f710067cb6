"""Projects made of a source text."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_WORKFLOW = re.compile(r"^class (\w+)\(.*WorkflowEntrypoint\b.*\):", re.MULTILINE)
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")

DATE = "2026-11-01"


def write_project(folder: Path, source: str, config: Mapping[str, Any]) -> Path:
    """Write a project with this main module; every workflow class in it is bound."""
    source = textwrap.dedent(source)
    (folder / "src").mkdir(parents=True, exist_ok=True)
    (folder / "src" / "entry.py").write_text(source, encoding="utf-8")
    whole = {
        "name": "inline",
        "main": "src/entry.py",
        "compatibility_date": DATE,
        "compatibility_flags": ["python_workers"],
        "workflows": [_declaration(name) for name in _WORKFLOW.findall(source)],
        **config,
    }
    (folder / "wrangler.json").write_text(json.dumps(whole, indent=2), encoding="utf-8")
    return folder


def _declaration(class_name: str) -> dict[str, str]:
    words = _HUMP.split(class_name)
    return {"name": "-".join(words).lower(), "binding": "_".join(words).upper(), "class_name": class_name}
