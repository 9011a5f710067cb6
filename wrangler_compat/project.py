"""A project as the runtime needs it: its configuration, read, checked and flattened for one environment."""

from __future__ import annotations

import datetime
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from wrangler_compat.assets import check_assets
from wrangler_compat.binding_names import refuse_clashes
from wrangler_compat.checks import check
from wrangler_compat.diagnostics import ConfigError, Diagnostics, Notice
from wrangler_compat.discover import find_config
from wrangler_compat.durable_objects import check_classes
from wrangler_compat.environments import Resolved, chosen_environment, resolve
from wrangler_compat.likely_main import example_main
from wrangler_compat.local_vars import load_local
from wrangler_compat.reading import table, texts
from wrangler_compat.source import read_source
from wrangler_compat.unserved import warn_unserved
from wrangler_compat.workflows import WorkflowDeclaration, read_workflows

Language = Literal["python", "javascript"]

DEFAULT_NAME = "worker"
PYTHON_FLAG = "python_workers"
_JAVASCRIPT = {".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx"}


@dataclass(frozen=True, slots=True)
class Project:
    """One Worker project in one environment.

    ``vars`` holds JSON values, those of ``.dev.vars`` included; the names of the latter are in ``secrets``
    and must not be shown with their values. ``workflows`` live in this Worker, ``foreign_workflows`` are
    bound here and live in another one. ``resolved`` is the whole configuration of the environment, for the parts that
    are read where they are served. ``crons`` start the Worker's `scheduled`, each once.
    """

    config_path: Path
    root: Path
    environment: str | None
    name: str
    main: Path
    language: Language
    compatibility_date: str
    compatibility_flags: tuple[str, ...]
    vars: Mapping[str, Any]
    secrets: frozenset[str]
    workflows: tuple[WorkflowDeclaration, ...]
    foreign_workflows: tuple[WorkflowDeclaration, ...]
    warnings: tuple[Notice, ...]
    notes: tuple[Notice, ...]
    resolved: Mapping[str, Any]
    crons: tuple[str, ...]


def load_project(
    path: Path,
    env: str | None = None,
    environ: Mapping[str, str] = os.environ,
    extra_vars: Mapping[str, str] | None = None,
    today: datetime.date | None = None,
) -> Project:
    """Read the project at ``path`` (a folder or a configuration file); raise `ConfigError` when it cannot
    run.

    ``env`` wins over CLOUDFLARE_ENV, ``extra_vars`` over everything the files say. ``today`` stands in for a
    missing compatibility date.
    """
    project, found = read_project(path, env, environ, extra_vars, today)
    found.allow("deploy")
    found.raise_errors()
    return replace(project, warnings=tuple(found.warnings))


def read_project(
    path: Path,
    env: str | None,
    environ: Mapping[str, str],
    extra_vars: Mapping[str, str] | None = None,
    today: datetime.date | None = None,
) -> tuple[Project, Diagnostics]:
    """The project and all that is to be said about it, whether it can run or not.

    Raise `ConfigError` when there is no file, or none that can be read.
    """
    config = find_config(path)
    source = read_source(config.path)
    found = Diagnostics(config.path, source.locate, warnings=[*source.notes], notes=[*config.notes])
    resolved = resolve(source.data, chosen_environment(env, environ), found)
    check(source.data, resolved, found)
    return _read(resolved, config.path, environ, extra_vars or {}, today, found), found


def _read(
    resolved: Resolved,
    path: Path,
    environ: Mapping[str, str],
    extra_vars: Mapping[str, str],
    today: datetime.date | None,
    found: Diagnostics,
) -> Project:
    root = path.parent
    name = _name(resolved, found)
    flags = _flags(resolved)
    main = _main(resolved, root, found)
    date = _date(resolved, today, found)
    language = _language(main, flags, resolved, found)
    declared = read_workflows(resolved, name, found)
    variables, secrets = _variables(resolved, root, environ, found)
    refuse_clashes(resolved, found)
    warn_unserved(resolved, declared, language, found)
    if language == "javascript":
        check_assets(resolved, root, found)
        check_classes(resolved, found)
    return Project(
        config_path=path,
        root=root,
        environment=resolved.environment,
        name=name,
        main=main,
        language=language,
        compatibility_date=date,
        compatibility_flags=flags,
        vars={**variables, **secrets, **extra_vars},
        secrets=frozenset(secrets) - frozenset(extra_vars),
        workflows=tuple(workflow for workflow in declared if not workflow.script_name),
        foreign_workflows=tuple(workflow for workflow in declared if workflow.script_name),
        warnings=tuple(found.warnings),
        notes=tuple(found.notes),
        resolved=resolved.data,
        crons=tuple(dict.fromkeys(texts(table(resolved.data, "triggers"), "crons"))),
    )


def _text(resolved: Resolved, key: str) -> str | None:
    value = resolved.data.get(key)
    return value if isinstance(value, str) and value else None


def _name(resolved: Resolved, found: Diagnostics) -> str:
    name = _text(resolved, "name")
    if name is None and resolved.data.get("name") in (None, ""):
        hint = 'Add "name": the deploy commands need it.'
        found.warn(f'There is no "name"; the Worker is called "{DEFAULT_NAME}".', hint=hint, code="name_missing")
    return name or DEFAULT_NAME


def _flags(resolved: Resolved) -> tuple[str, ...]:
    flags = resolved.data.get("compatibility_flags")
    return tuple(flag for flag in flags if isinstance(flag, str)) if isinstance(flags, list) else ()


def _date(resolved: Resolved, today: datetime.date | None, found: Diagnostics) -> str:
    date = _text(resolved, "compatibility_date")
    if date is not None:
        return date
    fallback = (today or datetime.date.today()).isoformat()
    if resolved.data.get("compatibility_date") is None:
        text = f"There is no compatibility_date: today's ({fallback}) is used, so behaviour changes with the days."
        found.warn(text, hint=f'Add "compatibility_date": "{fallback}".', code="compatibility_date_missing")
    return fallback


def _main(resolved: Resolved, root: Path, found: Diagnostics) -> Path:
    main = _text(resolved, "main")
    if main is None:
        if resolved.data.get("main") in (None, ""):
            hint = f'Add "main": "{example_main(root)}" (the path is relative to the configuration file).'
            found.error("main_missing", 'There is no "main": nothing says which file is the Worker.', hint=hint)
        return root
    path = Path(os.path.normpath(root / main))
    if not path.is_file():
        problem = "is a folder, not a file" if path.is_dir() else "does not exist"
        hint = "Paths in the configuration are relative to the configuration file."
        found.error("main_not_a_file", f'"main" names {path}, which {problem}.', resolved.path_of("main"), hint)
    return path


def _language(main: Path, flags: Iterable[str], resolved: Resolved, found: Diagnostics) -> Language:
    if main.suffix in _JAVASCRIPT:
        return "javascript"
    if main.suffix == ".py":
        readable = isinstance(resolved.data.get("compatibility_flags") or [], list)
        if readable and PYTHON_FLAG not in flags:
            key = "compatibility_flags" if "compatibility_flags" in resolved.data else "main"
            text = "The `python_workers` compatibility flag is required to use Python."
            hint = 'Add "compatibility_flags": ["python_workers"].'
            found.error("python_flag_missing", text, resolved.path_of(key), hint)
    elif main.is_file():
        text = f'"main" names {main.name}, which is neither Python nor JavaScript.'
        found.error("main_kind", text, resolved.path_of("main"), "Name a .py, .js, .mjs or .ts file.")
    return "python"


def _variables(
    resolved: Resolved, root: Path, environ: Mapping[str, str], found: Diagnostics
) -> tuple[dict[str, Any], dict[str, str]]:
    """What ``vars`` says, and what the local files add as secrets."""
    variables = resolved.data.get("vars")
    variables = variables if isinstance(variables, dict) else {}
    required = _required_secrets(resolved)
    secrets = load_local(root, resolved.environment, environ, required is not None, found)
    if required is None:
        return variables, secrets
    for name in required:
        if name not in secrets:
            text = f"secrets.required: env.{name} will be missing"
            found.warn(text, resolved.path_of("secrets"), f"Add {name}=... to .dev.vars.", "secret_missing")
    # With declared secrets nothing else gets in, but a local value still overrides a var of its name.
    return variables, {name: value for name, value in secrets.items() if name in required or name in variables}


def _required_secrets(resolved: Resolved) -> list[str] | None:
    """The declared secrets, or nothing when the configuration does not declare any."""
    secrets = resolved.data.get("secrets")
    if not isinstance(secrets, dict):
        return None
    required = secrets.get("required", [])
    return [name for name in required if isinstance(name, str)] if isinstance(required, list) else None


__all__ = ["ConfigError", "Language", "Notice", "Project", "WorkflowDeclaration", "load_project"]
