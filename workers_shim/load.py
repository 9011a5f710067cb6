"""Import the user's main module and see what it offers."""

from __future__ import annotations

import importlib.util
import os
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.machinery import SourceFileLoader
from types import ModuleType
from typing import Any

from workers_shim.place import is_user_file

# seconds; compiled code is known to be of a source by its size and the whole second in which it was written
SAME_SECOND = 2.0
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


def keep_no_compiled_code_of_new_files() -> None:
    """Write no ``.pyc`` of a source that was just written; the next start does.

    Edited again in the same second, to the same length, the source would be taken for the compiled one.
    """
    write = SourceFileLoader.set_data

    def set_data(self: SourceFileLoader, path: str, data: Any, **options: Any) -> None:
        if time.time() - self.path_stats(self.path)["mtime"] >= SAME_SECOND:
            write(self, path, data, **options)

    SourceFileLoader.set_data = set_data  # type: ignore[method-assign]


def load(main: str, on_env: Mapping[str, str] | None = None) -> Program:
    """Import the main module under its own name.

    ``on_env`` is given for a target without workflow exports: how `env` calls the Workflow of each exported class.
    """
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
    if on_env is not None:
        from workers_shim.exports_fallback import adopt  # it imports `workers`, so not before the paths are set

        adopt(vars(module), on_env)
    return _survey(module)


def digest(*folders: str) -> str:
    """A digest of the sources under these folders that are imported at this moment, by name and content.

    What the code imports later, in the middle of a run, is not in it.
    """
    inside = tuple(os.path.join(folder, "") for folder in folders)
    files = {file for module in list(sys.modules.values()) if (file := _file(module)).startswith(inside)}
    parts: list[bytes] = []
    for file in sorted(filter(is_user_file, files)):
        name, content = os.path.relpath(file, folders[0]), _content(file)
        parts += [f"{name}\0{len(content)}\0".encode("utf-8", "surrogateescape"), content]
    # Not hashlib, whose import takes longer than everything else here. This one is keyed by the version of Python, so
    # that the same sources on another one count as changed, which they are: their code runs differently there.
    return importlib.util.source_hash(b"".join(parts)).hex()


def _file(module: object) -> str:
    """Where a module came from. What stands in `sys.modules` is not asked itself: a lazy module would be imported."""
    if not isinstance(module, ModuleType):
        return ""
    file = object.__getattribute__(module, "__dict__").get("__file__")
    return file if isinstance(file, str) else ""


def _content(file: str) -> bytes:
    try:
        with open(file, "rb") as source:
            return source.read()
    except OSError:  # it was there when it was imported; that it is gone is a change like any other
        return b""


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
