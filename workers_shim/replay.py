"""The order in which results reach a run's code: the journal's on a replay, the order of arrival after it.

A result is handed over only when its call has been made and every top-level call journalled before it has been made
again; that the code has come to rest in between is the run's part (`run.py`). So code which raced two operations takes
the same branch every time. Calls made inside a step's callback are not part of this: a replay does not run callbacks.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

from workers_shim.call import Call, Outcome, describe
from workers_shim.wire.messages import Entry, Identity, Kind


class Record:
    """What is known of one top-level call: from the journal, or (``live``) from a result that had to queue."""

    __slots__ = ("answered", "call", "identity", "live", "loose", "outcome", "settled", "skipped")

    def __init__(self, identity: Identity, *, call: Call | None = None, outcome: Outcome | None = None) -> None:
        self.identity = identity
        self.call = call
        self.outcome = outcome
        self.live = call is not None
        self.answered = self.live  # whether its outcome came in a `Ret`
        self.settled = outcome is not None  # a value too large to travel is settled without an outcome at hand
        self.skipped = False  # the code was found not to make this call where the journal has it
        self.loose = False  # its result was passed over for that reason


class Item(NamedTuple):
    """A place in the queue: a call to be made, or (``result``) a result to be handed over."""

    record: Record
    result: bool


class Replay:
    """The queue of calls to be made again and results to be handed over, and the numbering of calls."""

    def __init__(self, journal: Iterable[Entry]) -> None:
        self.records: dict[Identity, Record] = {}
        self.queue: deque[Item] = deque()
        self._unmade: deque[Record] = deque()
        self._nested: dict[tuple[Kind, str], set[int]] = {}
        self._last: dict[tuple[Kind, str], int] = {}
        self._used: dict[tuple[Kind, str], set[int]] = {}
        for entry in journal:
            self._read(entry)
        self.left = len(self.queue)  # of the journal

    def _read(self, entry: Entry) -> None:
        identity: Identity = (entry[1], entry[2], entry[3])
        if entry[0] == "c":
            if entry[4]:
                self._nested.setdefault(identity[:2], set()).add(identity[2])
            else:
                record = self.records[identity] = Record(identity)
                self._unmade.append(record)
                self.queue.append(Item(record, result=False))
        elif (found := self.records.get(identity)) is not None:
            found.settled = True
            if entry[0] == "v":
                found.outcome = Outcome(text=entry[4])
            elif entry[0] == "e":
                found.outcome = Outcome(error=entry[4])
            self.queue.append(Item(found, result=True))

    # ---------------------------------------------------------------------------------------------------- numbers

    def number(self, kind: Kind, name: str, *, nested: bool) -> int:
        """The number that the next call of this kind and name takes.

        A top-level call takes the next one that no callback's call owns, so that it gets the same on every replay; a
        callback's call takes one that is free in the journal and in this run, for it is a new call each time.
        """
        key = (kind, name)
        if nested:
            return self._free(key)
        owned, used = self._nested.get(key), self._used.get(key)
        nth = self._last.get(key, 0) + 1
        while (owned and nth in owned) or (used and nth in used):
            nth += 1
        self._last[key] = nth
        return nth

    def _free(self, key: tuple[Kind, str]) -> int:
        used = self._used.setdefault(key, set())
        nth = max(self._last.get(key, 0), max(used, default=0)) + 1
        while nth in self._nested.get(key, ()) or (*key, nth) in self.records:
            nth += 1
        used.add(nth)
        return nth

    def give_back(self, call: Call) -> None:
        """A callback's call was refused: no replay will know that its number was taken."""
        self._used[call.kind, call.name].discard(call.nth)

    # ------------------------------------------------------------------------------------------------------ calls

    @property
    def muted(self) -> bool:
        """Whether the code still repeats what it did before."""
        return self.left > 0

    def expected(self) -> Record | None:
        """The first call of the journal that has not been made again."""
        unmade = self._unmade
        while unmade and (unmade[0].call is not None or unmade[0].skipped):
            unmade.popleft()
        return unmade[0] if unmade else None

    def made(self, call: Call) -> tuple[Record | None, str | None]:
        """Note that a top-level call is made: its record, and what the journal has in its place if it does not fit."""
        expected = self.expected()
        record = self.records.get(call.identity)
        if record is not None:
            record.call = call
            if record.loose:
                self.queue.append(Item(record, result=True))
            self._pass_made()
        if expected is None or expected is record:
            return record, None
        return record, describe(expected.identity)

    def _pass_made(self) -> None:
        queue = self.queue
        while queue and not queue[0].result and (queue[0].record.call is not None or queue[0].record.skipped):
            self._pop()

    # ---------------------------------------------------------------------------------------------------- results

    def arrive(self, call: Call, outcome: Outcome, *, first: bool = False) -> None:
        """Queue a result that came from the host."""
        record = self.records.get(call.identity)
        if record is not None and record.settled and record.outcome is None:
            record.outcome = outcome  # it has its place in the queue since the journal was read
            record.answered = True
            return
        item = Item(Record(call.identity, call=call, outcome=outcome), result=True)
        if first:
            self.queue.appendleft(item)
        else:
            self.queue.append(item)

    def lacks(self, call: Call) -> bool:
        """Whether the journal has the call's result, but it was too large to come along."""
        record = self.records.get(call.identity)
        return record is not None and record.settled and record.outcome is None

    def next(self) -> Record | None:
        """Take the next result that may be handed over, None when there is none yet."""
        while self.queue:
            self._pass_made()
            if not self.queue or not self.queue[0].result:
                return None
            record = self.queue[0].record
            if record.call is None:
                assert record.skipped
                record.loose = True
                self._pop()
            elif record.outcome is None:
                return None
            else:
                self._pop()
                return record
        return None

    def blocked(self) -> Record | None:
        """The call that the queue waits for."""
        if self.queue and not self.queue[0].result:
            return self.queue[0].record
        return None

    def skip(self) -> bool:
        """Stop waiting for calls that the code does not make, up to the first result that can be handed over."""
        end = next((number for number, item in enumerate(self.queue) if _deliverable(item)), None)
        if end is None:
            return False
        for item in islice(self.queue, end):
            item.record.skipped = item.record.skipped or item.record.call is None
        return True

    def _pop(self) -> None:
        if not self.queue.popleft().record.live and self.left:
            self.left -= 1


def _deliverable(item: Item) -> bool:
    return item.result and item.record.call is not None and item.record.outcome is not None
