"""A project as the runtime needs it: its configuration, read, checked and flattened for one environment."""

from __future__ import annotations

import datetime
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from wrangler_compat.diagnostics import ConfigError, Diagnostics, Notice, dotted
from wrangler_compat.discover import find_config
from wrangler_compat.environments import Resolved, chosen_environment, resolve
from wrangler_compat.local_vars import load_local
from wrangler_compat.rendering import written
from wrangler_compat.source import read_source
from wrangler_compat.unserved import binding_names, warn_unserved
from wrangler_compat.workflows import WorkflowDeclaration, read_workflows

Language = Literal["python", "javascript"]

DEFAULT_NAME = "worker"
PYTHON_FLAG = "python_workers"
_JAVASCRIPT = {".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx"}
_WORKER_NAME = re.compile(r"[a-z0-9_][a-z0-9_-]*")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


@dataclass(frozen=True, slots=True)
class Project:
    """One Worker project in one environment.

    ``vars`` holds JSON values, those of ``.dev.vars`` included; the names of the latter are in ``secrets``
    and must not be shown with their values. ``workflows`` live in this Worker, ``foreign_workflows`` are
    bound here and live in another one.
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
    config = find_config(path)
    source = read_source(config.path)
    found = Diagnostics(config.path, source.locate, notes=[*config.notes, *source.notes])
    resolved = resolve(source.data, chosen_environment(env, environ), found)
    project = _read(resolved, config.path, environ, extra_vars or {}, today, found)
    found.raise_errors()
    return project


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
    flags = _flags(resolved, found)
    main = _main(resolved, root, found)
    date = _date(resolved, today, found)
    language = _language(main, flags, resolved, found)
    declared = read_workflows(resolved, name, found)
    variables, secrets = _variables(resolved, root, environ, found)
    _refuse_clashes(resolved, declared, found)
    warn_unserved(resolved, declared, found)
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
    )


def _text(resolved: Resolved, key: str, found: Diagnostics) -> str | None:
    value = resolved.data.get(key)
    if value is None:
        return None
    if isinstance(value, str):
        return value
    path = resolved.path_of(key)
    hint = "Put quotes around it." if not isinstance(value, dict | list) else None
    found.error("field_type", f'"{dotted(path)}" should be a string but got {written(value)}.', path, hint)
    return None


def _name(resolved: Resolved, found: Diagnostics) -> str:
    name = _text(resolved, "name", found)
    if not name:
        if resolved.data.get("name") in (None, ""):
            hint = 'Add "name": the deploy commands need it.'
            found.warn(f'There is no "name"; the Worker is called "{DEFAULT_NAME}".', hint=hint)
        return DEFAULT_NAME
    if not _WORKER_NAME.fullmatch(name):
        allowed = "lower-case letters, digits, dashes and underscores"
        text = f'"name" may only hold {allowed} but got {written(name)}.'
        found.error("worker_name", text, resolved.path_of("name"), "Rename the Worker.")
    return name


def _flags(resolved: Resolved, found: Diagnostics) -> tuple[str, ...]:
    flags = resolved.data.get("compatibility_flags")
    if flags is None:
        return ()
    if not isinstance(flags, list) or not all(isinstance(flag, str) for flag in flags):
        path = resolved.path_of("compatibility_flags")
        text = f'"{dotted(path)}" should be an array of strings but got {written(flags)}.'
        found.error("field_type", text, path)
        return ()
    return tuple(flags)


def _date(resolved: Resolved, today: datetime.date | None, found: Diagnostics) -> str:
    fallback = (today or datetime.date.today()).isoformat()
    date = _text(resolved, "compatibility_date", found)
    if date is None:
        if resolved.data.get("compatibility_date") is None:
            text = f"There is no compatibility_date: today's ({fallback}) is used, so behaviour changes with the days."
            found.warn(text, hint=f'Add "compatibility_date": "{fallback}".')
        return fallback
    try:
        valid = bool(_DATE.fullmatch(date)) and datetime.date.fromisoformat(date) is not None
    except ValueError:
        valid = False
    if not valid:
        path = resolved.path_of("compatibility_date")
        text = f'"{dotted(path)}" should be a date like "{fallback}" but got {written(date)}.'
        found.error("compatibility_date", text, path)
    return date


def _main(resolved: Resolved, root: Path, found: Diagnostics) -> Path:
    main = _text(resolved, "main", found)
    if not main:
        if resolved.data.get("main") in (None, ""):
            hint = 'Add "main": "src/entry.py" (the path is relative to the configuration file).'
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
        readable = isinstance(resolved.data.get("compatibility_flags", []), list | None)
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
    if variables is not None and not isinstance(variables, dict):
        path = resolved.path_of("vars")
        text = f'"{dotted(path)}" should be an object but got {written(variables)}.'
        found.error("field_type", text, path)
        variables = None
    variables = variables or {}
    required = _required_secrets(resolved, found)
    secrets = load_local(root, resolved.environment, environ, required is not None, found)
    if required is None:
        return variables, secrets
    for name in required:
        if name not in secrets:
            text = f"secrets.required: env.{name} will be missing"
            found.warn(text, resolved.path_of("secrets"), f"Add {name}=... to .dev.vars.")
    # With declared secrets nothing else gets in, but a local value still overrides a var of its name.
    return variables, {name: value for name, value in secrets.items() if name in required or name in variables}


def _required_secrets(resolved: Resolved, found: Diagnostics) -> list[str] | None:
    """The declared secrets, or nothing when the configuration does not declare any."""
    secrets = resolved.data.get("secrets")
    if secrets is None:
        return None
    required = secrets.get("required", []) if isinstance(secrets, dict) else None
    if not isinstance(required, list) or not all(isinstance(name, str) for name in required):
        path = (*resolved.path_of("secrets"), "required")
        text = f'"{dotted(path)}" should be an array of strings but got {written(required)}.'
        found.error("field_type", text, path)
        return None
    return required


def _refuse_clashes(resolved: Resolved, declared: Iterable[WorkflowDeclaration], found: Diagnostics) -> None:
    """Two bindings of one name: wrangler's check, as far as a workflow takes part."""
    kinds: dict[str, list[str]] = {}
    for name, kind in binding_names(resolved):
        kinds.setdefault(name, []).append(kind)
    hint = (
        "Bindings must have unique names, so that they can all be referenced in the worker.\n"
        "Please change your bindings to have unique names."
    )
    for name, users in kinds.items():
        if len(users) > 1 and "Workflow" in users:
            path = next((item.path for item in declared if item.binding == name), resolved.path_of("workflows"))
            text = f"{name} assigned to {_listed(list(dict.fromkeys(users)))} bindings."
            found.error("binding_name_repeated", text, path, hint)


def _listed(kinds: list[str]) -> str:
    """The kinds as an English list; wrangler says "multiple" when there is only one kind."""
    if len(kinds) == 1:
        return f"multiple {kinds[0]}"
    if len(kinds) == 2:
        return " and ".join(kinds)
    return f"{', '.join(kinds[:-1])}, and {kinds[-1]}"


__all__ = ["ConfigError", "Language", "Notice", "Project", "WorkflowDeclaration", "load_project"]
