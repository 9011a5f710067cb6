"""Import the user's main module and see what it offers."""

from __future__ import annotations

import importlib.util
import os
import sys
from dataclasses import dataclass
from types import ModuleType
from typing import Any

MODULES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "modules")


@dataclass(frozen=True)
class Program:
    """The classes and functions that the main module exports, by name."""

    workflows: dict[str, type[Any]]
    entrypoints: dict[str, type[Any]]
    handlers: dict[str, Any]  # the legacy on_* functions


def set_paths(main: str) -> None:
    """Put what Workers import first, then the folder of the main module."""
    sys.path[:0] = [MODULES, os.path.dirname(main)]


def load(main: str) -> Program:
    """Import the main module under its own name."""
    name = os.path.splitext(os.path.basename(main))[0]
    spec = importlib.util.spec_from_file_location(name, main)
    if spec is None or spec.loader is None:
        raise ImportError(f"{main} is not a Python file")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except ModuleNotFoundError as error:
        _hint(error, main)
        raise
    return _survey(module)


def _hint(error: ModuleNotFoundError, main: str) -> None:
    folder = os.path.basename(os.path.dirname(main))
    if (error.name or "").partition(".")[0] == folder:
        error.add_note(f"Imports start in {folder}/, the main module's folder: `import x`, not `import {folder}.x`.")


def _survey(module: ModuleType) -> Program:
    import workers  # the one under modules/

    public = getattr(module, "__all__", None) or [name for name in vars(module) if not name.startswith("_")]
    exported = [getattr(module, name) for name in public]
    return Program(
        workflows=_subclasses(exported, workers.WorkflowEntrypoint),
        entrypoints=_subclasses(exported, workers.WorkerEntrypoint),
        handlers={name: getattr(module, name) for name in public if name.startswith("on_")},
    )


def _subclasses(exported: list[Any], base: type[Any]) -> dict[str, type[Any]]:
    return {
        entry.__name__: entry
        for entry in exported
        if isinstance(entry, type) and issubclass(entry, base) and entry is not base
    }
