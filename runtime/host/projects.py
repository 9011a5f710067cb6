"""Opens the project that the command line names."""

from __future__ import annotations

import os
from collections.abc import Mapping

from runtime.host.errors import LanguageError
from runtime.host.options import Options
from runtime.host.target_check import fit
from wrangler_compat import Project, load_project


def open_project(options: Options, environ: Mapping[str, str] = os.environ) -> Project:
    """The project, checked; raise `ConfigError`, `LanguageError` or `TargetError` when it cannot run here."""
    project = load_project(options.project, options.env, environ, options.vars)
    if project.language == "javascript":
        raise LanguageError(
            f"{project.main.name} is JavaScript or TypeScript, which celld-py does not run yet.",
            detail=str(project.main),
            hint='Name a Python Worker in "main", or run this project with wrangler dev.',
        )
    return fit(project, options.target)
