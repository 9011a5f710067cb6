"""Slots of the Workflows that have a ``concurrency.limit``, and the lines in which instances wait for one.

An instance holds a slot while it runs, is on its way to run, or undoes its steps; one that waits, is paused or has
ended holds none. Who has begun before (woken, resumed, taken up after a restart of the host) goes before who has not;
among equals the one who came first. Instances of a Workflow without a limit cost one look-up.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from math import inf

from runtime.store.types import Key

Limits = Iterable[tuple[str, int | None]]
"""Workflows with their limits; None is no limit."""


@dataclass(slots=True)
class _Line:
    """One Workflow's slots and who waits for them."""

    limit: float
    holders: set[Key] = field(default_factory=set)
    begun: OrderedDict[Key, None] = field(default_factory=OrderedDict)
    new: OrderedDict[Key, None] = field(default_factory=OrderedDict)

    def stand(self, key: Key, begun: bool) -> None:
        """Wait for a slot, at the place that one has already or at the end."""
        if key in self.holders or key in self.begun:
            return
        if not begun:
            self.new.setdefault(key)
        else:
            self.new.pop(key, None)
            self.begun[key] = None

    def admit(self) -> Iterator[Key]:
        """Give the free slots to those in front."""
        while len(self.holders) < self.limit and (line := self.begun or self.new):
            key, _ = line.popitem(last=False)
            self.holders.add(key)
            yield key

    def leave(self, key: Key) -> None:
        self.holders.discard(key)
        self.begun.pop(key, None)
        self.new.pop(key, None)


class Slots:
    """Who may run. Each method that frees slots gives those who hold one now, first come first."""

    def __init__(self) -> None:
        self._lines: dict[str, _Line] = {}

    def declare(self, limits: Limits) -> list[Key]:
        """Set the limits; who waits for a slot of a Workflow that has no limit any more gets one."""
        known = {workflow: limit for workflow, limit in limits if limit is not None}
        for workflow, line in self._lines.items():
            line.limit = known.pop(workflow, inf)
        self._lines |= {workflow: _Line(limit) for workflow, limit in known.items()}
        return [key for line in self._lines.values() for key in line.admit()]

    def limited(self, key: Key) -> bool:
        """Whether the instance's Workflow has a limit."""
        line = self._lines.get(key.workflow)
        return line is not None and line.limit < inf

    def stand(self, keys: Iterable[Key], begun: Collection[Key]) -> list[Key]:
        """Put instances into their lines, in this order; gives those who have a slot now, or need none."""
        may_run: list[Key] = []
        lines: dict[str, _Line] = {}
        for key in keys:
            line = self._lines.get(key.workflow)
            if line is None or key in line.holders:
                may_run.append(key)
            else:
                line.stand(key, key in begun)
                lines[key.workflow] = line
        # All of them stand before the first is let in: who has begun may come after who has not.
        for line in lines.values():
            may_run += line.admit()
        return may_run

    def take(self, key: Key, *, begun: bool) -> bool:
        """Whether the instance may run now; else it stands in line."""
        line = self._lines.get(key.workflow)
        if line is None or key in line.holders:
            return True
        line.stand(key, begun)
        if len(line.holders) >= line.limit:
            return False
        admitted = list(line.admit())  # nobody else: a line is empty while there are slots
        assert admitted == [key], "a line with free slots was left standing"
        return True

    def leave(self, key: Key) -> Collection[Key]:
        """The instance needs no slot: the next in line gets its."""
        line = self._lines.get(key.workflow)
        if line is None:
            return ()
        line.leave(key)
        return list(line.admit())

    def waits(self, key: Key) -> bool:
        """Whether the instance stands in line for a slot."""
        line = self._lines.get(key.workflow)
        return line is not None and (key in line.begun or key in line.new)
