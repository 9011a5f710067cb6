"""The seam between the modules that Worker code imports and the isolate that runs them.

`isolate.py` sets `host` before the user's main module is imported. The modules under `modules/` reach the outside only
through it, so they can be tested with a small stand-in.
"""

from __future__ import annotations

from collections.abc import Awaitable
from contextvars import ContextVar
from typing import Any, Protocol


class Host(Protocol):
    """What the Worker-facing modules need from the isolate they run in."""

    env: Any  # the one `env` object (`workers_shim.env.Env`)
    compatibility_date: str  # "2026-11-01"

    def flag(self, name: str) -> bool:
        """Whether a compatibility flag is on, by list or by date (`workers_shim.compat`)."""

    def bind(self, workflow: str, op: str, args: list[Any]) -> Awaitable[Any]:
        """Call a Workflow binding's operation (`wire.messages.Bind`); gives the decoded value or raises."""

    def tell(self, workflow: str, op: str, args: list[Any]) -> None:
        """Call a Workflow binding's operation whose answer nobody waits for."""

    def wait_until(self, awaitable: Awaitable[Any]) -> None:
        """Keep the current request's context alive until the awaitable is done; its error is logged."""

    def warn(self, text: str, *, once: str | None = None) -> None:
        """Tell the developer something, at most once for each ``once`` key."""


host: Host  # set by isolate.py

# Whose the current task is, for the log prefix: (run, "name-count" or None, attempt or None).
ORIGIN: ContextVar[tuple[int, str | None, int | None] | None] = ContextVar("ORIGIN", default=None)
