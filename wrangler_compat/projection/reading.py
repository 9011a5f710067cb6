"""A project as a deploy needs it: its configuration in full, its code, and everything that is wrong with either."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from wrangler_compat.code import Code, Problem, read_code
from wrangler_compat.diagnostics import ConfigError, Diagnostics, KeyPath, Notice
from wrangler_compat.environments import Resolved, chosen_environment, resolve
from wrangler_compat.project import Project, read_project
from wrangler_compat.source import Source, read_source

# Said of a run on this machine, and nothing to a deploy.
_LOCAL = {"unserved", "secret_missing"}
_UNREAD = {"code_syntax", "code_unreadable"}


@dataclass(frozen=True)
class Deployable:
    """What there is to deploy. With ``errors`` it must not be."""

    project: Project
    resolved: Resolved
    source: Source
    errors: tuple[ConfigError, ...]
    warnings: tuple[Notice, ...]

    @property
    def root(self) -> Path:
        """The project's folder, without the dots that a command line may have in it, as ``project.main`` is."""
        return Path(os.path.normpath(self.project.root))

    @cached_property
    def code(self) -> Code:
        """The Worker's text; to be asked for when there are no errors."""
        return read_code(self.project.main, self.root)

    @property
    def unread(self) -> tuple[Problem, ...]:
        """Which sources could not be read, so that nothing is known of them."""
        return tuple(problem for problem in self.code.problems if problem.code in _UNREAD)

    def where(self, path: KeyPath) -> str:
        """The place of a key in the configuration, as editors and terminals link it."""
        place = self.source.locate(path)
        return f"{self.source.path}:{place.line}:{place.column}" if place else str(self.source.path)


def read_deployable(path: Path, env: str | None, environ: Mapping[str, str] = os.environ) -> Deployable:
    """Read and check the project at ``path``; raise `ConfigError` when its configuration cannot be read."""
    project, found = read_project(path, env, environ)
    source = read_source(project.config_path)
    resolved = resolve(source.data, chosen_environment(env, environ), Diagnostics(source.path))
    warnings = tuple(notice for notice in (*found.warnings, *found.notes) if notice.code not in _LOCAL)
    return Deployable(project, resolved, source, tuple(found.errors), warnings)
