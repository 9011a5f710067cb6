"""Reads what wrangler reads: the configuration, environments and local variables of a Worker project."""

from __future__ import annotations

from wrangler_compat.diagnostics import ConfigError, Notice
from wrangler_compat.findings import Finding, diagnose
from wrangler_compat.project import Language, Project, load_project
from wrangler_compat.workflows import WorkflowDeclaration

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
