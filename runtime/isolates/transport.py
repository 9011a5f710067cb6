"""The seam between the host and whatever runs user code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from workers_shim.wire.messages import Pulse

Message = Mapping[str, Any]


class Listener(Protocol):
    """Who hears what an isolate says. All methods are called on the event loop."""

    def on_message(self, isolate: Isolate, message: dict[str, Any]) -> None:
        """A message of `workers_shim.wire.messages` arrived."""

    def on_data(self, isolate: Isolate, stream: int, data: bytes) -> None:
        """A piece of a body arrived."""

    def on_end(self, isolate: Isolate, stream: int) -> None:
        """A body ended."""

    def on_turn(self, isolate: Isolate) -> None:
        """Everything that arrived in one go has been handed over."""

    def on_lost(self, isolate: Isolate) -> None:
        """The isolate is gone; called once, and nothing follows."""


class Isolate(Protocol):
    """A place where user code runs."""

    role: str
    pid: int
    lost: bool  # `Listener.on_lost` was called
    says_began: bool  # when a callback begins; otherwise its time counts from the moment at which it was asked for
    parks_by_ending: bool  # a run that says `parked` is over; so it is asked to rest only when it may be

    def send(self, message: Message, lane: int | None = None) -> None:
        """Send a message; within one lane messages keep their order. Quietly nothing once the isolate is lost."""

    def send_data(self, stream: int, data: bytes) -> None:
        """Send a piece of a body."""

    def send_end(self, stream: int) -> None:
        """End a body."""

    async def pulse(self) -> Pulse | None:
        """Ask the isolate's watch thread what goes on; None when it does not answer within two seconds."""

    def kill(self) -> None:
        """End it with SIGKILL; `Listener.on_lost` follows."""

    def close(self) -> None:
        """Hang up: the isolate exits when it has said what it has to say."""
