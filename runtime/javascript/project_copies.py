"""Finds workerd and esbuild among a project's own packages, where a project with wrangler has them already."""

from __future__ import annotations

import json
from pathlib import Path

from .pins import TESTED, Pin, Pins
from .tools import Tools, runnable

# Where the package managers put a package that the project does not name itself, below a folder with a node_modules:
# npm and yarn beside all others, or below the package that wants another version; pnpm in a folder of its own.
_SHELVES = (
    ".",
    "node_modules/wrangler",
    "node_modules/miniflare",
    "node_modules/workerd",
    "node_modules/esbuild",
    "node_modules/.pnpm",
)


def project_copies(root: Path, pins: Pins) -> Tools | None:
    """The project's copies, if it has both at versions that are tested."""
    workerd = _copy(root, pins.workerd)
    esbuild = _copy(root, pins.esbuild) if workerd else None
    return Tools(workerd, esbuild) if workerd and esbuild else None


def _copy(root: Path, pin: Pin) -> Path | None:
    """The nearest copy, in the project or in a folder around it, as node resolves packages (workspaces need this)."""
    for folder in (root, *root.parents):
        for shelf in _SHELVES:
            program = folder / shelf / pin.path
            if runnable(program) and version_of(program) in TESTED[pin.program]:
                return program
    return None


def version_of(program: Path) -> str | None:
    """The version of the package that a program lies in ``bin`` of; None when it is not in a package."""
    try:
        manifest = json.loads((program.parent.parent / "package.json").read_text("utf-8"))
    except (OSError, ValueError):
        return None
    version = manifest.get("version") if isinstance(manifest, dict) else None
    return version if isinstance(version, str) else None
