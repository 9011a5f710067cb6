"""Edits configuration files in place: of the text, only the bytes that a change needs are touched."""

from __future__ import annotations

from wrangler_compat.edits.operations import Carry, Drop, Export, Field, Operation, Reshape, outcome
from wrangler_compat.edits.splices import Splice, spliced

__all__ = ["Carry", "Drop", "Export", "Field", "Operation", "Reshape", "Splice", "outcome", "spliced"]
