"""Builds a JavaScript or TypeScript project for workerd, as wrangler's bundler would.

Blocking, and some tens of milliseconds: to be called in a thread.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from wrangler_compat import Project
from wrangler_compat.javascript import read_javascript

from .bundle import Bundle, Module
from .bundled import bundled
from .failures import BuildError, BuildFailed
from .job import Job
from .rules import sorted_rules
from .source_maps import ORIGINS
from .unbundled import unbundled

if TYPE_CHECKING:
    from .tools import Tools


def build(project: Project, tools: Tools, into: Path) -> Bundle:
    """Build the project into a folder that does not exist yet; raise `BuildFailed` with all that is wrong.

    A folder of its own for each build: a workerd that was started earlier still reads the files of its own.
    """
    into.mkdir(parents=True)
    _keep_origins({}, into)
    settings = read_javascript(project.resolved, project.root, project.main)
    job = Job(project, settings, sorted_rules(settings.rules), tools.esbuild, into)
    built = unbundled(job) if settings.no_bundle else bundled(job)
    _keep_origins(built.origins, into)
    settings_files = {settings.tsconfig} if settings.tsconfig else set()
    return Bundle(
        folder=into,
        modules=built.modules,
        exports=built.exports,
        missing=built.missing,
        inputs=built.inputs | settings_files,
        digest=_digest(built.modules),
        warnings=built.warnings,
    )


def _keep_origins(origins: Mapping[str, Path], folder: Path) -> None:
    """Note for the stacks of later which files were copied; a folder with this file is a build of ours."""
    (folder / ORIGINS).write_text(json.dumps({name: str(path) for name, path in origins.items()}), "utf-8")


def _digest(modules: Iterable[Module]) -> str:
    digest = hashlib.sha256()
    for module in modules:
        content = module.path.read_bytes()
        digest.update(f"{module.name}\0{module.kind}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


__all__ = ["BuildError", "BuildFailed", "build"]
