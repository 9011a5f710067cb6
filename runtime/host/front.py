"""The front door: which isolate takes a request, and what a client hears when none can."""

from __future__ import annotations

import asyncio

from runtime.http.ingress import Unavailable, WorkerFailed
from runtime.isolates.transport import Isolate

from .isolates import Isolates
from .problem import Problem

PATIENCE = 10.0  # seconds that a request waits for an isolate that is being started


class FrontDoor:
    """`http.ingress.Front` over the isolates of the project."""

    def __init__(self, isolates: Isolates) -> None:
        self._isolates = isolates

    async def isolate(self) -> Isolate:
        front = self._isolates.current["front"]
        if front is not None:
            return front.isolate
        if self._isolates.problem is not None:
            raise WorkerFailed(failure(self._isolates.problem))
        try:
            async with asyncio.timeout(PATIENCE), self._isolates.changed:
                await self._isolates.changed.wait_for(lambda: self._isolates.current["front"] is not None)
        except TimeoutError:
            raise Unavailable("The Worker is being started again. Try once more in a moment.") from None
        front = self._isolates.current["front"]
        assert front is not None
        return front.isolate


def failure(problem: Problem) -> dict[str, object]:
    """A problem in the form of `wire.messages.RequestFailed`."""
    shown: dict[str, object] = {
        "error": {"name": problem.name, "message": problem.message},
        "traceback": problem.traceback,
    }
    if problem.in_settings:
        shown["advice"] = problem.advice()
    if problem.file is not None:
        shown |= {"file": problem.file, "line": problem.line}
    return shown
