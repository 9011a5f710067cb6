"""Tests of the shim import what a Worker imports, and stand in for the isolate behind it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Iterator
from pathlib import Path
from typing import Any

import pytest

from workers_shim import current
from workers_shim.compat import flags_for

sys.path.insert(0, str(Path(current.__file__).parent / "modules"))


class StandIn:
    """What the Worker-facing modules need of the isolate; it keeps what it was asked."""

    def __init__(self) -> None:
        self.env: Any = None
        self.compatibility_date = "2026-11-01"
        self.compatibility_flags: list[str] = []
        self.answers: list[Any] = []  # of `bind`, in order
        self.asked: list[tuple[str, str, list[Any]]] = []
        self.told: list[tuple[str, str, list[Any]]] = []
        self.work: list[asyncio.Future[Any]] = []
        self.warnings: list[str] = []

    def flag(self, name: str) -> bool:
        return flags_for(self.compatibility_date, self.compatibility_flags).on(name)

    async def bind(self, workflow: str, op: str, args: list[Any]) -> Any:
        self.asked.append((workflow, op, args))
        return self.answers.pop(0)

    def tell(self, workflow: str, op: str, args: list[Any]) -> None:
        self.told.append((workflow, op, args))

    def wait_until(self, awaitable: Awaitable[Any]) -> None:
        self.work.append(asyncio.ensure_future(awaitable))

    def warn(self, text: str, *, once: str | None = None) -> None:
        self.warnings.append(text)


@pytest.fixture
def host() -> Iterator[StandIn]:
    """The isolate of one test."""
    before = getattr(current, "host", None)
    current.host = stand_in = StandIn()
    yield stand_in
    if before is None:
        del current.host
    else:
        current.host = before
