"""What the clients of the crashed server know: what they asked for, and what they were answered."""

from __future__ import annotations

import threading
from collections.abc import Collection
from dataclasses import dataclass, field


@dataclass
class Token:
    """One event that was sent."""

    text: str
    acknowledged: bool = False


@dataclass
class Order:
    """One instance, as its client sees it. Only the client's thread writes to it."""

    id: str
    number: int
    created: bool = False  # the create was answered
    left: bool = False  # its client walked away, and sends it no events
    complete: bool = False  # its completion was seen
    deleting: bool = False  # a delete was sent
    deleted_at: int | None = None  # how long the side-effect file was when it was answered
    tokens: list[Token] = field(default_factory=list)

    @property
    def acknowledged(self) -> int:
        """How many of its events were answered."""
        return sum(token.acknowledged for token in self.tokens)


class Orders:
    """All orders of a campaign, and what went wrong with them."""

    def __init__(self) -> None:
        self.problems: list[str] = []
        self._orders: list[Order] = []
        self._lock = threading.Lock()

    def new(self) -> Order:
        """An order with an id of its own."""
        with self._lock:
            number = len(self._orders) + 1
            order = Order(f"order-{number}", number)
            self._orders.append(order)
            return order

    def all(self) -> list[Order]:
        """The orders so far."""
        with self._lock:
            return list(self._orders)

    def in_flight(self, closed: Collection[str]) -> list[Order]:
        """Orders whose creation was acknowledged and whose instances have not done their last step yet."""
        return [
            order
            for order in self.all()
            if order.created and not (order.left or order.deleting or order.complete) and order.id not in closed
        ]

    def problem(self, order: Order, text: str) -> None:
        """Note a violation."""
        with self._lock:
            self.problems.append(f"{order.id}: {text}")


def wrong_tokens(sent: list[Token], received: list[str]) -> str | None:
    """What is wrong with the events that an instance took, if anything is.

    Every event is delivered at most once and in the order of sending; one that was acknowledged may be missing only
    when all the waits were over before its turn came. One that was not acknowledged may be missing anywhere.
    """
    if len(set(received)) != len(received):
        return f"an event was delivered twice: {received}"
    left = iter(sent)
    for text in received:
        for token in left:
            if token.text == text:
                break
            if token.acknowledged:
                return f"{token.text} was acknowledged and passed over: {received}"
        else:
            return f"{text} was not sent at its place: {received}"
    return None
