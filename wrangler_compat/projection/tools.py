"""Finds the tool of Cloudflare's that deploys a project."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from wrangler_compat.project import Language

# pywrangler packs a Python project's packages and then calls wrangler itself, so it goes first there.
_TOOLS: dict[Language, tuple[str, ...]] = {"python": ("pywrangler", "wrangler"), "javascript": ("wrangler",)}


def find_tool(root: Path, language: Language, environ: Mapping[str, str] = os.environ) -> Path | None:
    """The tool that is installed for the project, else the one on PATH; None when there is neither."""
    for name in _TOOLS[language]:
        for folders in (*_of_project(root), environ.get("PATH", "")):
            if found := shutil.which(name, path=folders):
                return Path(found)
    return None


def _of_project(root: Path) -> Iterator[str]:
    """Where npm installs commands, as Node looks for packages; and where a project's own Python has them."""
    yield from (str(folder / "node_modules" / ".bin") for folder in (root, *root.parents))
    yield str(root / ".venv" / "bin")
