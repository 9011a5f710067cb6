"""What an isolate is there for: ``front`` takes requests, ``work`` runs workflows."""

from __future__ import annotations

from typing import Literal

Role = Literal["front", "work"]
ROLES: tuple[Role, ...] = ("front", "work")

Kind = Literal["front", "work", "both"]  # of an isolate: the role that it has, or that it has both


def has(kind: str, role: Role) -> bool:
    """Whether an isolate of this kind has the role."""
    return kind in (role, "both")


def roles_of(kind: Kind) -> tuple[Role, ...]:
    """The roles that an isolate of this kind has."""
    return ROLES if kind == "both" else (kind,)
