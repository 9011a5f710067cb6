"""Why an edit is not made."""

from __future__ import annotations


class CannotEdit(Exception):
    """The text is written in a form that is not edited, or the edit would not come out as meant."""
