"""When instances take their turns: as soon as all that arrived together has been handed over.

What one read from an isolate brings is decided, committed and answered in the same iteration of the event loop; an
iteration costs as much as a commit (a call of epoll and of every idle handle), and a step would otherwise take four.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

Turn = Callable[[], None]


class Turns:
    """The turns that are due, in the order in which they were asked for."""

    def __init__(self) -> None:
        self._due: list[Turn] = []
        self._arriving = False
        self._scheduled = False

    def ask(self, turn: Turn) -> None:
        """Let ``turn`` be called once, soon."""
        self._due.append(turn)
        if not self._arriving and not self._scheduled:
            self._scheduled = True
            asyncio.get_running_loop().call_soon(self._later)

    def hold(self) -> None:
        """More of what arrived together follows: `take` will be called when it is all there."""
        self._arriving = True

    def take(self) -> None:
        """Take all turns that are due."""
        self._arriving = False
        due, self._due = self._due, []
        for turn in due:
            try:
                turn()
            except Exception as error:
                # The others' turns are not to be lost over it; this is a bug of ours, and is shown as one.
                context = {"message": "an instance's turn failed", "exception": error}
                asyncio.get_running_loop().call_exception_handler(context)

    def _later(self) -> None:
        self._scheduled = False
        if self._due and not self._arriving:
            self.take()
