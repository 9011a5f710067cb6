"""An event loop that waits for nothing outside of itself: no call of the system, and a deadlock is an error."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Mapping
from typing import Any


class NoSelector(selectors.BaseSelector):
    """Knows of no file, and will not wait."""

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return selectors.SelectorKey(fileobj, -1, events, data)

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        return selectors.SelectorKey(fileobj, -1, 0, None)

    def get_key(self, fileobj: Any) -> selectors.SelectorKey:
        raise KeyError(fileobj)

    def get_map(self) -> Mapping[Any, selectors.SelectorKey]:
        return {}

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            raise AssertionError("deadlock: everything waits, and nothing is ready")
        return []


def simulated_loop() -> asyncio.AbstractEventLoop:
    """A new loop of this kind."""
    return asyncio.SelectorEventLoop(NoSelector())
