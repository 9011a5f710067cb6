"""What was deployed last from this project, in ``.celld/deployed.json``; written only when a deploy has succeeded."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path
from typing import Any

from wrangler_compat.projection.projected import strict_json
from wrangler_compat.rendering import written

RECORD = Path(".celld") / "deployed.json"
_PROJECTIONS = "projections"
_STEPS = "steps"  # read by the lint versioned_step_change


@dataclass(frozen=True, slots=True)
class Deployed:
    """One deploy: where to, from which environment, and as what."""

    target: str
    environment: str | None
    config: Mapping[str, Any]
    steps: Mapping[str, list[str]]


def last_projection(root: Path, target: str, environment: str | None) -> Any:
    """The configuration that was deployed last to the target from the environment; None when there is none."""
    projections = _read(root).get(_PROJECTIONS)
    of_target = projections.get(target) if isinstance(projections, dict) else None
    return of_target.get(environment or "") if isinstance(of_target, dict) else None


def plain(config: Mapping[str, Any]) -> Any:
    """A configuration as it is recorded: JSON, in which TOML's dates are texts."""
    return json.loads(written(config))


def difference(before: Any, after: Any) -> Iterator[str]:
    """The lines of a unified diff between two configurations; none when they say the same."""
    texts = (strict_json(before).splitlines(), strict_json(after).splitlines())
    return unified_diff(*texts, "last deploy", "this deploy", lineterm="")


def remember(root: Path, deployed: Deployed) -> None:
    """Record a deploy that has succeeded; raise `OSError` when it cannot be."""
    record = _read(root)
    projections = record.get(_PROJECTIONS)
    projections = projections if isinstance(projections, dict) else {}
    of_target = projections.get(deployed.target)
    of_target = of_target if isinstance(of_target, dict) else {}
    projections[deployed.target] = {**of_target, deployed.environment or "": deployed.config}
    _write(root / RECORD, strict_json({**record, _PROJECTIONS: projections, _STEPS: dict(deployed.steps)}))


def _read(root: Path) -> dict[str, Any]:
    """The record; empty when nothing was deployed from here, or what is there cannot be read."""
    try:
        record = json.loads((root / RECORD).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
