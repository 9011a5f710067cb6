"""How a call of the step API is named to the developer, the same by both sides."""

from __future__ import annotations

from workers_shim.wire.messages import Identity, Kind

_VERBS: dict[Kind, str] = {"do": "do", "sleep": "sleep", "wait": "wait_for_event"}
_WAIT_IN_JAVASCRIPT = "waitForEvent"


def describe(identity: Identity) -> str:
    """Name a call in words: ``step.do("charge") number 1``. No two identities have the same."""
    kind, name, nth = identity
    return f'step.{_VERBS[kind]}("{name}") number {nth}'


def describes(words: str, identity: Identity) -> bool:
    """Whether these words, of either language, name this call."""
    kind, name, nth = identity
    in_javascript = f'step.{_WAIT_IN_JAVASCRIPT}("{name}") number {nth}'
    return words == describe(identity) or (kind == "wait" and words == in_javascript)
