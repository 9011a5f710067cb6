"""Keeps the ``exports`` of a wrangler configuration in line with the Workflow classes of the code."""

from __future__ import annotations

from wrangler_compat.reconcile.plan import Finding
from wrangler_compat.reconcile.reconciliation import Reconciliation, reconcile
from wrangler_compat.reconcile.write import FileChanged, replace_text

__all__ = ["FileChanged", "Finding", "Reconciliation", "reconcile", "replace_text"]
