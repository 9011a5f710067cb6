"""Reads what wrangler reads: the configuration, environments and local variables of a Worker project."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wrangler_compat.diagnostics import ConfigError, Notice
from wrangler_compat.project import Language, Project, load_project
from wrangler_compat.workflows import WorkflowDeclaration

if TYPE_CHECKING:
    from wrangler_compat.findings import Finding, diagnose


def __getattr__(name: str) -> Any:
    if name not in ("Finding", "diagnose"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from wrangler_compat import findings  # which `dev` does not need on its way to the first answer

    return getattr(findings, name)


__all__ = [
    "ConfigError",
    "Finding",
    "Language",
    "Notice",
    "Project",
    "WorkflowDeclaration",
    "diagnose",
    "load_project",
]
