"""What a caller wants created: through a binding, the REST API or a schedule."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from runtime.engine import Event, Retention, Schedule
from runtime.engine.events import KEPT_BY_DEFAULT, Created, WorkflowQueued


class NewInstance(NamedTuple):
    """An instance to be; ``params`` is devalue text."""

    id: str
    params: str
    retention: Retention = KEPT_BY_DEFAULT
    trigger: str = "binding"  # as `Created` has it
    schedule: Schedule | None = None

    def first_events(self, workflow: str, now: int) -> Sequence[Event]:
        """What its journal begins with."""
        created = Created(
            at=now,
            workflow=workflow,
            instance=self.id,
            params=self.params,
            retention=self.retention,
            trigger=self.trigger,
            schedule=self.schedule,
        )
        return created, WorkflowQueued(at=now)
