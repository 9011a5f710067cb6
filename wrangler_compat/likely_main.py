"""Which file of a folder is the Worker, where no configuration says so: for hints, and for nothing else."""

from __future__ import annotations

import os
from pathlib import Path

_NAMES = {
    ".ts": ("index", "worker", "main"),
    ".js": ("index", "worker", "main"),
    ".py": ("entry", "main", "worker"),
}
_OF_PYTHON = "pyproject.toml"
_OF_JAVASCRIPT = ("package.json", "tsconfig.json")


def found_main(folder: Path) -> str | None:
    """The file that is the Worker by its name, relative to the folder."""
    suffixes = sorted(_NAMES, key=lambda suffix: suffix == ".py", reverse=_has(folder, _OF_PYTHON))
    names = (f"{place}{name}{suffix}" for suffix in suffixes for place in ("src/", "") for name in _NAMES[suffix])
    return next((name for name in names if _has(folder, name)), None)


def example_main(folder: Path) -> str:
    """The file that is the Worker, or what it is mostly called in such a project."""
    javascript = not _has(folder, _OF_PYTHON) and any(_has(folder, name) for name in _OF_JAVASCRIPT)
    return found_main(folder) or ("src/index.ts" if javascript else "src/entry.py")


def _has(folder: Path, name: str) -> bool:
    return os.path.isfile(folder / name)  # which is also no for a folder that may not be entered
