"""The Workflows of a project, as the host runs them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from runtime.engine import TARGETS, Rules
from wrangler_compat import Project, WorkflowDeclaration

from .retention import with_default_retention

PRESERVE_FLAG = "workflows_preserve_non_retryable_error_message"
PRESERVE_SINCE = "2026-05-14"  # compatibility date from which the flag is on


@dataclass(frozen=True, slots=True)
class Workflow:
    """One Workflow: where its code is, and by which rules it runs."""

    name: str
    class_name: str
    rules: Rules = field(default_factory=Rules)
    concurrency: int | None = None  # how many of its instances may run at once


def workflows_of(project: Project, target: str) -> tuple[Workflow, ...]:
    """The Workflows that live in the project."""
    rules = replace(TARGETS[target], preserve_non_retryable=_preserves(project))
    return tuple(
        Workflow(
            declared.name,
            declared.class_name,
            _rules_of(declared, rules),
            declared.concurrency_limit if rules.concurrency_config else None,
        )
        for declared in project.workflows
    )


def _rules_of(declared: WorkflowDeclaration, rules: Rules) -> Rules:
    if declared.steps_limit is not None:
        rules = replace(rules, step_limit=declared.steps_limit)
    return with_default_retention(rules, declared)


def _preserves(project: Project) -> bool:
    flags = project.compatibility_flags
    if PRESERVE_FLAG in flags:
        return True
    return project.compatibility_date >= PRESERVE_SINCE and f"no_{PRESERVE_FLAG}" not in flags


def load_message(project: Project, role: str) -> dict[str, Any]:
    """The `Load` that tells an isolate what to import and what ``env`` and ``ctx.exports`` hold."""
    return {
        "t": "load",
        "role": role,
        "main": str(project.main),
        "compatibility_date": project.compatibility_date,
        "compatibility_flags": list(project.compatibility_flags),
        "vars": dict(project.vars),
        "env": {
            declared.binding: {"type": "workflow", "workflow": declared.name}
            for declared in project.workflows
            if declared.binding is not None
        },
        "exports": {
            declared.class_name: {"type": "workflow", "workflow": declared.name}
            for declared in project.workflows
            if declared.exported
        },
        "workflows": {declared.name: declared.class_name for declared in project.workflows},
    }
