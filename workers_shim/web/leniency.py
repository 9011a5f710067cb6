"""What works here and not on Workers is said once."""

from __future__ import annotations

from workers_shim import current


def tolerated(what: str) -> None:
    """Tell the developer, once, that code leans on something that only works here."""
    current.host.warn(f"{what} This works here and fails on Workers.", once=what)
