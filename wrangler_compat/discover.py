"""Finds the configuration of a project, in wrangler's own order.

Wrangler walks up the tree once per file *name*, so a ``wrangler.json`` in a parent folder beats a
``wrangler.jsonc`` in the folder itself. Surprising, but a runner that looked elsewhere would run another
project than the one deployed.
"""

from __future__ import annotations

import datetime
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wrangler_compat.diagnostics import ConfigError, Notice
from wrangler_compat.likely_main import found_main

NAMES = ("wrangler.json", "wrangler.jsonc", "wrangler.toml")
CHOICE = "config_choice"
_SUFFIXES = {".json", ".jsonc", ".toml"}
_REDIRECT = Path(".wrangler") / "deploy" / "config.json"


@dataclass(frozen=True, slots=True)
class Found:
    """The configuration file that counts, and what a person may not expect about the choice."""

    path: Path
    notes: tuple[Notice, ...]


def find_config(project: Path) -> Found:
    """The configuration of ``project``, which is a folder or a configuration file."""
    try:
        return _find(project.absolute())
    except OSError as error:  # a folder that may not be entered, a name that is too long
        message = f"Cannot look for the configuration: {error.strerror or error}."
        raise ConfigError("config_unreadable", message, file=project.absolute()) from None


def _find(project: Path) -> Found:
    if project.is_file():
        return Found(_checked(project), ())
    if not project.is_dir():
        hint = "Name a project folder or a wrangler.jsonc, wrangler.json or wrangler.toml file."
        raise ConfigError("project_missing", f"There is no folder or file {project}.", file=project, hint=hint)
    for name in NAMES:
        for folder in (project, *project.parents):
            if (folder / name).is_file():
                return Found(folder / name, tuple(_surprises(project, folder / name)))
    message = f"There is no wrangler.json, wrangler.jsonc or wrangler.toml in {project} or above it."
    raise ConfigError("config_missing", message, hint=_what_to_do(project))


def _what_to_do(project: Path) -> str:
    main = found_main(project)
    if main is None:
        return "Run celld-py in a Worker project, or name one: celld-py dev path/to/project"
    needed: dict[str, Any] = {
        "name": re.sub(r"[^a-z0-9]+", "-", project.name.lower()).strip("-") or "worker",
        "main": main,
        "compatibility_date": datetime.date.today().isoformat(),
    }
    if main.endswith(".py"):
        needed["compatibility_flags"] = ["python_workers"]
    return f"If {main} is the Worker, put this into {project / 'wrangler.jsonc'}:\n{json.dumps(needed)}"


def _checked(path: Path) -> Path:
    if path.suffix not in _SUFFIXES:
        message = f"{path.name} is not a configuration file: it should end in .jsonc, .json or .toml."
        hint = "Name the project's folder or its wrangler.jsonc, not its code."
        raise ConfigError("config_kind", message, file=path, hint=hint)
    return path


def _surprises(project: Path, chosen: Path) -> list[Notice]:
    notes = []
    if chosen.parent != project:
        text = f"{project.name}/ has no {chosen.name}; the one above it is used: {chosen}"
        notes.append(Notice(text, file=chosen, code=CHOICE))
    ignored = [name for name in NAMES if name != chosen.name and (project / name).is_file()]
    for name in ignored:
        hint = "Wrangler looks for wrangler.json first, then wrangler.jsonc, then wrangler.toml. Keep one."
        text = f"{project / name} is ignored, because {chosen} counts."
        notes.append(Notice(text, hint, file=project / name, code=CHOICE))
    if (chosen.parent / _REDIRECT).is_file():
        text = f"{_REDIRECT} (a generated configuration) is not followed; {chosen.name} counts."
        notes.append(Notice(text, file=chosen.parent / _REDIRECT, code=CHOICE))
    return notes
