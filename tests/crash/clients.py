"""The load: clients that order instances, send them events, delete some, and never take silence for an answer."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import httpx

from tests.crash.orders import Order, Orders, Token, wrong_tokens
from tests.crash.project import expected
from tests.dev import PATIENCE, Dev

WIDTH = 6  # clients side by side
EVENTS = 2  # that an instance waits for
LOOK_AGAIN = 0.1  # seconds between two looks at a status
REFUSED_WHEN_OVER = "Cannot send event"


class Refused(Exception):
    """The Worker answered with an error."""


class Clients:
    """A few threads that order one thing after another until they are told to stop."""

    def __init__(self, server: Dev, orders: Orders, effects: Path, seed: int) -> None:
        self.up = threading.Event()  # the server takes requests
        self._server = server
        self._orders = orders
        self._effects = effects
        self._closing = threading.Event()
        self._threads = [
            threading.Thread(target=self._work, args=(Random(f"{seed}/{n}"),), daemon=True) for n in range(WIDTH)
        ]

    def start(self) -> None:
        """Begin to order."""
        for thread in self._threads:
            thread.start()

    def finish(self, timeout: float) -> bool:
        """Order nothing more; whether everything under way came to its end in time."""
        self._closing.set()
        end = time.monotonic() + timeout
        for thread in self._threads:
            thread.join(max(0, end - time.monotonic()))
        return not any(thread.is_alive() for thread in self._threads)

    # ------------------------------------------------------------------------------------------------------ requests

    def ask(self, path: str, **asked: str | int) -> Any:
        """Ask the Worker once; None when no answer came, `Refused` when it was an error."""
        self.up.wait()
        try:
            response = self._server.http.get(path, params=asked)
        except httpx.TimeoutException:
            raise Refused(f"{path} was not answered in {PATIENCE:g} s") from None
        except httpx.TransportError:
            time.sleep(LOOK_AGAIN)
            return None
        if response.status_code != httpx.codes.OK:  # the front isolate is gone: nobody knows what has been done
            time.sleep(LOOK_AGAIN)
            return None
        body = response.json()
        if "error" in body:
            raise Refused(body["error"])
        return body["answer"]

    def insist(self, path: str, **asked: str | int) -> Any:
        """Ask the Worker until it answers."""
        while (answer := self.ask(path, **asked)) is None:
            pass
        return answer

    # -------------------------------------------------------------------------------------------------------- orders

    def _work(self, random: Random) -> None:
        while not self._closing.is_set():
            kind = random.random()
            if kind < 0.1:
                self._walk_away(self._orders.new())
                continue
            batch = [self._orders.new() for _ in range(3 if kind < 0.25 else 1)]
            self._guarded(batch, lambda orders: self._create(orders, random))
            for order in batch:
                self._guarded([order], lambda orders: self._live(orders[0], random))

    def _guarded(self, orders: list[Order], work: Callable[[list[Order]], None]) -> None:
        try:
            work(orders)
        except Exception as error:  # whatever it is, it is a finding and not the end of the load
            self._orders.problem(orders[0], f"{type(error).__name__}: {error}")

    def _walk_away(self, order: Order) -> None:
        """Create, and never ask again."""
        order.left = True
        self._guarded([order], self._create_once)

    def _create_once(self, orders: list[Order]) -> None:
        order = orders[0]
        order.created = self.ask("/create", id=order.id, number=order.number) is not None

    def _create(self, orders: list[Order], random: Random) -> None:
        if len(orders) > 1:
            for order in orders:
                order.number = orders[0].number
            self.insist("/batch", ids=",".join(order.id for order in orders), number=orders[0].number)
        else:
            self._create_single(orders[0])
        for order in orders:
            order.created = True
        if random.random() < 0.3:
            self._must_exist(orders[-1])

    def _create_single(self, order: Order) -> None:
        asked_before = False
        while True:
            try:
                if self.ask("/create", id=order.id, number=order.number) is not None:
                    return
            except Refused as refused:
                if asked_before and "already exists" in str(refused):
                    return
                raise
            asked_before = True

    def _must_exist(self, order: Order) -> None:
        """An id that is acknowledged cannot be created again, before or after a crash."""
        try:
            if self.ask("/create", id=order.id, number=-1) is not None:
                self._orders.problem(order, "it could be created twice")
        except Refused as refused:
            if "already exists" not in str(refused):
                raise

    def _live(self, order: Order, random: Random) -> None:
        self._closing.wait(random.uniform(0, 0.6))
        if random.random() < 0.15:
            self.delete(order)
            return
        self.complete(order, lambda: self._closing.wait(random.uniform(0, 0.5)))
        if random.random() < 0.4:
            self.delete(order)

    def complete(self, order: Order, between: Callable[[], object] = lambda: None) -> None:
        """Send an order's events, wait for its end and look at its output."""
        while order.acknowledged < EVENTS and self._send(order):
            between()
        while (seen := self.insist("/status", id=order.id))["status"] not in ("complete", "errored", "terminated"):
            time.sleep(LOOK_AGAIN)
        order.complete = True
        self.check(order, seen)

    def check(self, order: Order, seen: dict[str, Any]) -> None:
        """Compare a status with what the order's client knows."""
        output = seen["output"] or {}
        if seen["status"] != "complete" or output != expected(order.number, output.get("tokens", [])):
            self._orders.problem(order, f"it ended as {seen}")
            return
        wrong = wrong_tokens(order.tokens, output["tokens"])
        if wrong is not None or len(output["tokens"]) != EVENTS:
            self._orders.problem(order, wrong or f"it took {output['tokens']}")

    def _send(self, order: Order) -> bool:
        token = Token(f"{order.id}/{len(order.tokens) + 1}")
        order.tokens.append(token)
        try:
            token.acknowledged = self.ask("/sign", id=order.id, token=token.text) is not None
        except Refused as refused:
            # Events whose answers were lost may have completed it.
            if REFUSED_WHEN_OVER not in str(refused) or len(order.tokens) <= EVENTS:
                raise
            return False
        return True

    def delete(self, order: Order) -> None:
        """Delete an order's instance until that is acknowledged."""
        order.deleting = True
        while True:
            try:
                if self.ask("/delete", id=order.id) is not None:
                    break
            except Refused as refused:
                if "not_found" not in str(refused):
                    raise
                break
        order.deleted_at = self._effects.stat().st_size if self._effects.exists() else 0
