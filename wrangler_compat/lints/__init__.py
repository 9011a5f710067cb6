"""Lints for Workflows: what goes wrong at a replay, or at the deploy, said while the code is written."""

from __future__ import annotations

from wrangler_compat.lints.check import check, mends
from wrangler_compat.lints.every import LINTS
from wrangler_compat.lints.lint import Lint, Target

__all__ = ["LINTS", "Lint", "Target", "check", "mends"]
