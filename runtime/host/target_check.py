"""What a project's configuration may set for the target that it is run for.

A deploy that fails, or a schedule that never fires, is found out late; so what the target refuses is refused at
start, and what it would ignore is said.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from wrangler_compat import Notice, Project, WorkflowDeclaration
from wrangler_compat.diagnostics import dotted

from .errors import CelldError

if TYPE_CHECKING:
    from runtime.engine import Rules


class TargetError(CelldError):
    """The configuration holds what the target refuses to deploy."""

    code = "target"
    exit_code = 2


class _Setting(NamedTuple):
    """A key of a workflow's entry, and the field of `Rules` that says whether the target has it."""

    key: str
    rule: str
    advice: str
    refused: bool = True  # else the target does without it, and so do we


SETTINGS = (
    _Setting("schedules", "schedules", "remove it, and create instances from a Cron Trigger (triggers.crons)"),
    _Setting("limits", "limits_config", "remove it; the target has a cap of its own"),
    _Setting("script_name", "script_name", "remove the binding; only workflows of this Worker can be bound"),
    _Setting("default_retention", "retention_config", "instances are kept for 30 days", refused=False),
    _Setting("concurrency", "concurrency_config", "its instances are not held back here either", refused=False),
)


def fit(project: Project, target: str) -> Project:
    """The project as the target takes it, with warnings about what it does without; `TargetError` when it refuses."""
    used, clashes = list(_used(project)), list(_clashes(project))
    if not used and not clashes:
        return project
    from runtime.engine import TARGETS  # costs the start of all who set none of this

    missing = [(where, setting) for where, setting in used if not getattr(TARGETS[target], setting.rule)]
    refused = [f"{where}: {setting.advice}" for where, setting in missing if setting.refused]
    if not TARGETS[target].workflow_exports:
        refused += clashes
    if refused:
        raise TargetError(
            f"The target {target} refuses what {project.config_path.name} sets.",
            detail="\n".join([str(project.config_path), *refused]),
            hint="Or run the project for the other target: --target cloudflare.",
        )
    ignored = (
        Notice(f"{where}: the target {target} does not document it, so {setting.advice}", key=where)
        for where, setting in missing
    )
    return replace(project, warnings=(*project.warnings, *ignored))


def _used(project: Project) -> Iterator[tuple[str, _Setting]]:
    for declared in (*project.workflows, *project.foreign_workflows):
        for setting in SETTINGS:
            if _sets(declared, setting.key):
                yield dotted((*declared.path, setting.key)), setting


def _clashes(project: Project) -> Iterator[str]:
    """Exports that would become bindings of a name that a variable has, where there are no workflow exports."""
    for declared in project.workflows:
        name = declared.class_name
        if declared.exported and declared.binding is None and name in project.vars:
            yield f"{dotted(declared.path)}: it becomes env.{name}, but that is a variable; rename one of them"


def _sets(declared: WorkflowDeclaration, key: str) -> bool:
    values = {
        "schedules": declared.schedules or None,
        "limits": declared.steps_limit,
        "script_name": declared.script_name,
        "default_retention": declared.success_retention or declared.error_retention,
        "concurrency": declared.concurrency_limit,
    }
    return values[key] is not None


def refused_keys(rules: Rules) -> list[str]:
    """The keys of a workflow's entry that a target refuses."""
    return [setting.key for setting in SETTINGS if setting.refused and not getattr(rules, setting.rule)]
