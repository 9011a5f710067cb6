"""Reads the text of a Worker: which Workflow classes it exports, what they declare, and how their code is made.

Nothing is imported or run. Python and JavaScript become one kind of tree (`nodes`), so that what is asked of it is
written once.
"""

from __future__ import annotations

from wrangler_compat.code.code import Code, WorkflowClass, read_code, step_outline
from wrangler_compat.code.flow import Flow, Step
from wrangler_compat.code.module import Module, Place, Problem

__all__ = ["Code", "Flow", "Module", "Place", "Problem", "Step", "WorkflowClass", "read_code", "step_outline"]
