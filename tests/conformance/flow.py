"""A workflow of a few lines, started and at rest: what most cases need."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from textwrap import dedent, indent
from typing import Any

from runtime.testing import Worker
from runtime.testing.handles import Instance

SOURCE = """\
import asyncio
import math
from datetime import datetime

import js
from pyodide.ffi import JsException
from workers import WorkflowEntrypoint
from workers.workflows import NonRetryableError

RAN = []


class Flow(WorkflowEntrypoint):
    async def run(self, event, step):
"""


class Flow:
    """Makes a Worker whose workflow has the given body."""

    worker: Worker

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self._folder = folder
        self._stack = stack

    def __call__(self, body: str, *, params: Any = None, **config: Any) -> Instance:
        """Start the workflow and let it come to rest; gives its instance. ``config`` goes into the configuration."""
        source = SOURCE + indent(dedent(body), " " * 8)
        self.worker = self._stack.enter_context(Worker.inline(self._folder, source, config=config, patience=0.05))
        return self.start(params=params)

    def start(self, *, params: Any = None) -> Instance:
        """Start it once more."""
        instance: Instance = self.worker.env.FLOW.create(params={} if params is None else params)
        return instance

    def output(self, body: str, *, params: Any = None, **config: Any) -> Any:
        """What the workflow returns when it needs neither time nor events."""
        status = self(body, params=params, **config).status()
        assert status["status"] == "complete", status
        return status["output"]

    def attempts(self, instance: Instance) -> dict[str, int]:
        """How often each step's callback was run."""
        return dict(Counter(e["step_name"] for e in instance.journal() if e["kind"] == "attempt_started"))
