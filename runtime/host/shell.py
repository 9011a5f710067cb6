"""Everything between the isolates and the store, joined: what each host consists of, whatever is around it."""

from __future__ import annotations

from runtime.cli.terminal import Terminal
from runtime.store.types import CatalogStore, JournalStore

from .binding import Bindings
from .clock import Clock
from .dispatch import Dispatch
from .instances import Instances
from .reports import Reports
from .run_messages import RunMessages
from .streams import Streams
from .subscriptions import Subscriptions
from .sweeper import Sweeper
from .wakeups import Wakeups


class Shell:
    """The parts that keep and move instances. `Dispatch` still needs its ``isolates`` and its ``ingress``."""

    def __init__(
        self,
        clock: Clock,
        catalog: CatalogStore,
        journals: JournalStore,
        terminal: Terminal,
        *,
        grace_ms: int,
        watched: bool = True,
    ) -> None:
        self.clock, self.terminal = clock, terminal
        self.reports = Reports(terminal, watched=watched)
        self.instances = Instances(
            clock,
            catalog,
            journals,
            grace_ms=grace_ms,
            publish=lambda key, first, events: self.subscriptions.published(key, first, events),
            report=self.reports.instance,
        )
        self.runs = self.instances.runs
        self.runs.on_outside_await = self.reports.outside_await
        self.runs.on_broken = self.reports.run_broke
        self.streams = Streams(self.instances, journals)
        self.subscriptions = Subscriptions(self.instances.lines)
        self.instances.on_deleted = self.subscriptions.deleted
        self.wakeups = Wakeups(clock, catalog, self.instances, self.reports.wake_up)
        self.sweeper = Sweeper(clock, catalog, self.instances, self.reports.sweep)
        self.bindings = Bindings(self.instances, self.subscriptions, self.reports.advice)
        self.dispatch = Dispatch(
            self.instances.turns,
            self.runs,
            RunMessages(self.runs, clock.now, self.reports.advice),
            self.bindings,
            terminal,
        )
