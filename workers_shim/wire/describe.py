"""How a call of the step API is named to the developer, the same by both sides."""

from __future__ import annotations

from workers_shim.wire.messages import Identity, Kind

_VERBS: dict[Kind, str] = {"do": "do", "sleep": "sleep", "wait": "wait_for_event"}


def describe(identity: Identity) -> str:
    """Name a call in words: ``step.do("charge") number 1``. No two identities have the same."""
    kind, name, nth = identity
    return f'step.{_VERBS[kind]}("{name}") number {nth}'
