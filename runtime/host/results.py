"""In which order a run is given its results: that in which they stand in the journal (I5).

A sleep may end, or an event arrive, after a run has begun and before its code has come back to the call: then the
result is in nobody's hands when it settles, and another one, settled later, must not overtake it. Code that raced the
two would take one branch now, and the other one on the next replay, which gets both from the journal.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection


class Results:
    """Results of calls made by ``run()`` that have settled since the run began, and cannot go out yet."""

    def __init__(self) -> None:
        # Steps, in the order in which they settled; no list, for ten thousand sleeps may end before the code is back.
        self._waiting: OrderedDict[int, None] = OrderedDict()

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def settled(self, step: int, made: Collection[int]) -> list[int]:
        """A step settles, or the code has come back to it: the steps whose results go out now. ``made`` are the steps
        that the code has come back to."""
        self._waiting.setdefault(step)
        return self._next(made)

    def pass_over(self, made: Collection[int]) -> list[int]:
        """The code has come to rest without making the call whose result is the next one. It is not the code that the
        journal was written by; it gets what comes after that."""
        while self._waiting and next(iter(self._waiting)) not in made:
            self._waiting.popitem(last=False)
        return self._next(made)

    def _next(self, made: Collection[int]) -> list[int]:
        going: list[int] = []
        while self._waiting and next(iter(self._waiting)) in made:
            going.append(self._waiting.popitem(last=False)[0])
        return going
