"""Finds the two programs that JavaScript projects need: workerd, which runs them, and esbuild, which bundles them.

In this order: what was installed into the cache before; the project's own copies, at versions that our tests have
passed with; and an installation into the cache. The start of every JavaScript project waits for this, so the usual
case looks at two files and imports nothing more.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from .pins import PINS, Pins
from .system import cache_folder, this_system

Note = Callable[[str], None]


class Tools(NamedTuple):
    """The programs to start."""

    workerd: Path
    esbuild: Path


def find_tools(root: Path | None, note: Note) -> Tools:
    """The programs for the project in ``root``; ``note`` is told when they have to be installed first.

    Raises `tool_errors.ToolsError` when they cannot be had.
    """
    system = this_system()
    pins = PINS.get(system)
    if pins is None:
        from .tool_errors import unsupported

        raise unsupported(system)
    return _in_cache(pins, system) or _of_project(pins, root) or _installed(pins, system, note)


def tools_in(folder: Path, pins: Pins) -> Tools | None:
    """The programs that npm has put below ``folder``, if both can be run."""
    workerd, esbuild = folder / pins.workerd.path, folder / pins.esbuild.path
    return Tools(workerd, esbuild) if runnable(workerd) and runnable(esbuild) else None


def runnable(program: Path) -> bool:
    """Whether there is a program file."""
    return program.is_file() and os.access(program, os.X_OK)


def installation(pins: Pins, system: str) -> Path:
    """The folder of the cache for exactly these versions, complete whenever it exists."""
    return cache_folder() / f"workerd-{pins.workerd.version}-esbuild-{pins.esbuild.version}-{system}"


def _in_cache(pins: Pins, system: str) -> Tools | None:
    return tools_in(installation(pins, system), pins)


def _of_project(pins: Pins, root: Path | None) -> Tools | None:
    if root is None:
        return None
    from .project_copies import project_copies

    return project_copies(root, pins)


def _installed(pins: Pins, system: str, note: Note) -> Tools:
    from .tool_install import install

    return install(installation(pins, system), pins, note)
