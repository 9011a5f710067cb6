"""What an isolate is there for: ``front`` takes requests, ``work`` runs workflows."""

from __future__ import annotations

from typing import Literal

Role = Literal["front", "work"]
ROLES: tuple[Role, ...] = ("front", "work")
