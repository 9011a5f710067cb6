"""Which files of a project make the Worker, and under which names they go into the output."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wrangler_compat.discover import NAMES

_NEVER = {".celld", ".git", ".wrangler", "__pycache__", "node_modules"}
_NO_SOURCES = {"python_modules", "tests", "test", "venv"}
_SECRET_ENDINGS = {".key", ".p12", ".pem", ".pfx"}
_SECRET_NAMES = (".dev.vars", ".env")
_VIRTUAL_ENVIRONMENT = "pyvenv.cfg"  # Python's own mark of one
_BESIDE = ("pyproject.toml", "python_modules")  # name the Worker's packages, and hold them (`pywrangler sync`)


class UnusableFiles(Exception):
    """The configuration names files that cannot go into the output."""


@dataclass(slots=True)
class WorkerFiles:
    """The Worker's files by their path in the output, and the secrets that were found among them and left out."""

    files: dict[str, Path] = field(default_factory=dict)
    secrets: list[str] = field(default_factory=list)


def worker_files(root: Path, main: Path, used: list[Path], config: Mapping[str, Any]) -> WorkerFiles:
    """The main module's folder, what names and holds the Worker's packages, and what the configuration names.

    ``used`` are the modules that the main module reaches: they come along wherever in the project they are, also out of
    a folder of tests. Raise `UnusableFiles` for a named folder that is missing or outside the project.
    """
    found = WorkerFiles()
    _take(main.parent, root, found, sources=True)
    for name in _BESIDE:
        if (root / name).exists():
            _take(root / name, root, found)
    for name in _named(config):
        path = Path(os.path.normpath(root / name))
        if not path.is_relative_to(root) or not path.exists():
            raise UnusableFiles(f"{name} is named in the configuration, but it is not in the project's folder.")
        _take(path, root, found)
    for path in used:
        if path.is_relative_to(root):
            found.files[path.relative_to(root).as_posix()] = path
    return found


def _named(config: Mapping[str, Any]) -> Iterator[str]:
    """The paths in a configuration that the deployed Worker needs."""
    for key, below in (("assets", "directory"), ("site", "bucket")):
        value = config.get(key)
        if isinstance(value, dict) and isinstance(value.get(below), str):
            yield value[below]
    for key in ("text_blobs", "data_blobs", "wasm_modules"):
        value = config.get(key)
        yield from (path for path in (value.values() if isinstance(value, dict) else ()) if isinstance(path, str))
    databases = config.get("d1_databases")
    for database in databases if isinstance(databases, list) else ():
        if isinstance(database, dict) and isinstance(database.get("migrations_dir"), str):
            yield database["migrations_dir"]


def _take(path: Path, root: Path, found: WorkerFiles, above: tuple[Path, ...] = (), *, sources: bool = False) -> None:
    """Add a file, or a folder with all that is below it. ``above`` are the real folders on the way, against circles.

    What a folder of ``sources`` holds is looked at closely; packages and static files may have any names.
    """
    if path.is_file():
        found.files[path.relative_to(root).as_posix()] = path
        return
    real = path.resolve()
    if real in above or not path.is_dir():
        return
    for each in sorted(path.iterdir()):
        if _is_secret(each) or (sources and each.suffix in _SECRET_ENDINGS):
            found.secrets.append(each.relative_to(root).as_posix())
        elif each.name not in _NEVER and not (sources and _is_no_source(each, root)):
            _take(each, root, found, (*above, real), sources=sources)


def _is_secret(path: Path) -> bool:
    return any(path.name == name or path.name.startswith(f"{name}.") for name in _SECRET_NAMES)


def _is_no_source(path: Path, root: Path) -> bool:
    name = path.name
    if name.startswith("."):
        return True
    if path.is_dir():
        return name in _NO_SOURCES or name.endswith(".egg-info") or (path / _VIRTUAL_ENVIRONMENT).is_file()
    is_test = name == "conftest.py" or (name.startswith("test_") and name.endswith(".py")) or name.endswith("_test.py")
    return is_test or name.endswith(".pyc") or (path.parent == root and name in NAMES)
