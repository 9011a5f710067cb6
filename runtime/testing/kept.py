"""What of a Worker under test outlives the lives of its host, besides the store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, NamedTuple

from runtime.store import Key

from .clock import VirtualClock
from .mocks import Mocks

Trace = Callable[[FrameType, str, Any], Any]


class Body(NamedTuple):
    """A step of an instance, whose callback can run."""

    key: Key
    step: str  # "charge-1"


@dataclass
class Kept:
    """Things that a test sets or looks at."""

    clock: VirtualClock
    mocks: Mocks = field(default_factory=Mocks)
    said: list[str] = field(default_factory=list)  # what a terminal would show
    began: Counter[Body] = field(default_factory=Counter)  # how often each step's callback was begun
    trace: Trace | None = None  # of the thread in which the Worker runs
    on_commit: Callable[[str, Key | None], None] = lambda point, key: None  # called after each, in that thread
