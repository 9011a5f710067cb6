"""Opens the projects that the command line names."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace

from runtime.host.errors import LanguageError, ProjectError
from runtime.host.options import Options
from runtime.host.target_check import fit
from wrangler_compat import Project, load_project


def open_project(options: Options, environ: Mapping[str, str] = os.environ) -> Project:
    """The project, checked; raise `ConfigError` or `TargetError` when it cannot run here."""
    return fit(load_project(options.project, options.env, environ, options.vars), options.target)


def open_projects(options: Options, environ: Mapping[str, str] = os.environ) -> tuple[Project, ...]:
    """The project and those that are started with it; raise as `open_project`, or `ProjectError` where they do not go
    together. ``--var`` is for the first."""
    others = (replace(options, project=path, vars={}) for path in options.others)
    projects = (open_project(options, environ), *(open_project(each, environ) for each in others))
    if len(projects) > 1:
        _check_company(projects)
    return projects


def python_project(options: Options) -> Project:
    """The project; raise `LanguageError` when it is not Python."""
    project = open_project(options)
    if project.language != "python":
        raise LanguageError(
            f"{project.main.name} is JavaScript or TypeScript, which does not run in a test's own process.",
            detail=str(project.main),
            hint='Name a Python Worker in "main", or test this project over HTTP with celld-py dev.',
        )
    return project


def _check_company(projects: tuple[Project, ...]) -> None:
    python = [project for project in projects if project.language == "python"]
    if python:
        raise LanguageError(
            f"{python[0].name} is a Python project, which cannot be started together with others.",
            detail=str(python[0].config_path),
            hint="Start it by a celld-py dev of its own; only JavaScript and TypeScript projects share one.",
        )
    _refuse_twice("projects", ((project.name, project) for project in projects))
    _refuse_twice("Workflows", ((each.name, project) for project in projects for each in project.workflows))


def _refuse_twice(what: str, named: Iterable[tuple[str, Project]]) -> None:
    """Everything that is started together is known by its name."""
    owners: dict[str, Project] = {}
    for name, project in named:
        owner = owners.setdefault(name, project)
        if owner is not project:
            places = f"{owner.config_path}\n{project.config_path}"
            raise ProjectError(f'Two {what} are called "{name}".', detail=places, hint="Rename one.", code="same_name")
