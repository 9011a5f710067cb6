"""Hears what the isolate says before the host does, and notes which callbacks begin."""

from __future__ import annotations

from collections import Counter
from typing import Any

from runtime.host.dispatch import Dispatch
from runtime.host.runs import Runs
from runtime.isolates.transport import Isolate

from .kept import Body


class Witness:
    """A `Listener` in front of the host's."""

    def __init__(self, dispatch: Dispatch, runs: Runs, began: Counter[Body]) -> None:
        self._runs = runs
        self._began = began
        self._dispatch = dispatch
        self.on_data, self.on_end = dispatch.on_data, dispatch.on_end
        self.on_turn, self.on_lost = dispatch.on_turn, dispatch.on_lost

    def on_message(self, isolate: Isolate, message: dict[str, Any]) -> None:
        """Note a callback that begins, and pass the message on."""
        if message["t"] == "began":
            instance = self._runs.owner(message["run"])
            if instance is not None and instance.run is not None and message["call"] in instance.run.calls:
                record = instance.state.records[instance.run.calls[message["call"]]]
                self._began[Body(instance.key, record.label)] += 1
        self._dispatch.on_message(isolate, message)
