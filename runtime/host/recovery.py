"""What start-up does with what the last host left behind (I4): nothing waits for a request to be taken up again."""

from __future__ import annotations

from dataclasses import dataclass

from runtime.engine.state import FINAL
from runtime.faults import fault
from runtime.store.types import CatalogStore, JournalStore

from .instances import Instances


@dataclass(frozen=True, slots=True)
class Recovered:
    """What was found: instances that go on now, and those that wait, until when the first of them does."""

    resumed: int
    waiting: int
    next_wake: int | None  # ms since the epoch
    expired: int = 0  # finished instances whose retention ended meanwhile


async def recover(catalog: CatalogStore, journals: JournalStore, instances: Instances) -> Recovered:
    """Finish or drop half-done creations and deletions, and let every instance that was active look after itself."""
    await _finish_half_done(catalog, journals)
    fault("recover.after_half_done")
    unsettled = await catalog.dirty_rows()
    dirty = [row for row in unsettled if row.status not in FINAL]
    begun = {row.key for row in unsettled if row.started is not None}
    instances.runs.queue((row.key for row in unsettled), begun)
    counts = await catalog.counts()
    waiting = sum(by_status.get("waiting", 0) for by_status in counts.values())
    sleeping_dirty = sum(row.status == "waiting" for row in dirty)
    expired = await catalog.count_expired(instances.clock.now())
    return Recovered(len(dirty), waiting - sleeping_dirty, await catalog.next_wake(), expired)


async def _finish_half_done(catalog: CatalogStore, journals: JournalStore) -> None:
    for row in await catalog.half_done():
        if row.state == "deleting":
            await journals.remove(row.key)
            fault("recover.half_deleted")
            await catalog.end_delete([row.key])
        elif await journals.exists(row.key):
            await catalog.confirm([row.key])
            fault("recover.half_created")
        else:
            # Its creation was never acknowledged.
            await catalog.begin_delete([row.key])
            fault("recover.half_dropped")
            await catalog.end_delete([row.key])
