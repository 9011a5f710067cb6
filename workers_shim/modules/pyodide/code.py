"""Pyodide's helpers for calling code."""

from __future__ import annotations

from workers_shim.arity import relaxed_call

__all__ = ["relaxed_call"]
