"""The Workflows of a project, as the host runs them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from runtime.engine import TARGETS, Rules
from wrangler_compat import Project, WorkflowDeclaration

from .retention import with_default_retention

PRESERVE_FLAG = "workflows_preserve_non_retryable_error_message"
EXPORTS_ON_ENV = "celld_exports_on_env"  # our own: tells the isolate that the target has no workflow exports
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


def bindings_of(project: Project, target: str) -> dict[str, WorkflowDeclaration]:
    """The Workflows of the project that ``env`` holds, by their name there."""
    all_on_env = not TARGETS[target].workflow_exports
    names = ((each.binding or (each.class_name if all_on_env else None), each) for each in project.workflows)
    return {name: declared for name, declared in names if name is not None}


def load_message(project: Project, role: str, target: str = "cloudflare") -> dict[str, Any]:
    """The `Load` that tells an isolate what to import and what ``env`` and ``ctx.exports`` hold.

    Where the target has no workflow exports, each is a binding, as a deploy makes it, and the isolate loads the code by
    the entry that a deploy adds.
    """
    exported = {declared.class_name: declared for declared in project.workflows if declared.exported}
    on_env = bool(exported) and not TARGETS[target].workflow_exports
    return {
        "t": "load",
        "role": role,
        "main": str(project.main),
        "compatibility_date": project.compatibility_date,
        "compatibility_flags": [*project.compatibility_flags, *([EXPORTS_ON_ENV] if on_env else [])],
        "vars": dict(project.vars),
        "env": _named(bindings_of(project, target)),
        "exports": _named(exported),
        "workflows": {declared.name: declared.class_name for declared in project.workflows},
    }


def _named(workflows: Mapping[str, WorkflowDeclaration]) -> dict[str, Any]:
    return {name: {"type": "workflow", "workflow": declared.name} for name, declared in workflows.items()}
