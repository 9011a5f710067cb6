"""Packages of npm's for projects that tests run: installed once for each lock file, then linked into each copy."""

from __future__ import annotations

import atexit
import os
import shutil
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import NoReturn

import pytest

from runtime.javascript.npm_client import clients, install

REQUIRED = "CELLD_PY_REQUIRE_WORKERD"  # set where everything has to be there, as on CI


def with_packages(project: Path) -> Path:
    """Give a project's copy the packages of its lock file, if it has one; skip the test when they cannot be had."""
    lock = project / "package-lock.json"
    if lock.exists():
        packages = _installed(lock.read_text("utf-8"), (project / "package.json").read_text("utf-8"))
        shutil.copytree(packages, project / "node_modules", copy_function=_link, symlinks=True)
    return project


@cache
def _installed(lock: str, manifest: str) -> Path:
    folder = Path(mkdtemp(prefix="celld-py-packages-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    (folder / "package-lock.json").write_text(lock, "utf-8")
    (folder / "package.json").write_text(manifest, "utf-8")
    client = next(iter(clients()), None)
    if client is None:
        _do_without("there is no npm")
    outcome = install(client, folder, lambda waited: None, ())
    if not outcome.ok:
        _do_without(f"npm could not install the packages: {outcome.words}")
    return folder / "node_modules"


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # another file system
        shutil.copy2(source, target)


def _do_without(reason: str) -> NoReturn:
    if os.environ.get(REQUIRED) == "1":
        raise RuntimeError(reason)
    pytest.skip(reason)
