"""``owed(state)``: what a freshly folded instance still owes. Recovery uses only this."""

from __future__ import annotations

from .effects import ArmTimer, DeclareLost, Effect, StartRun
from .state import State


def owed(state: State) -> list[Effect]:
    """The effects that bring a just-opened instance back to life; an empty list when it rests or has ended."""
    if state.final or state.status == "paused":
        return []
    undoing = state.rollback is not None and state.rollback.live
    if state.live or state.asking or undoing or state.status == "waitingForPause":
        return [DeclareLost()]
    if state.status in ("queued", "running", "rollingBack"):
        return [StartRun()]
    due = state.next_due()
    assert due is not None, "a waiting instance waits for a time"
    return [ArmTimer(due)]
