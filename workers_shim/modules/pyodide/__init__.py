"""The part of Pyodide that Worker code imports, on plain CPython."""

from __future__ import annotations

from workers_shim.not_served import explain_missing

# The version that Workers run for compatibility dates from 2025-09-29 on; code compares it to choose its way.
__version__ = "0.28.2"

explain_missing(__name__)
