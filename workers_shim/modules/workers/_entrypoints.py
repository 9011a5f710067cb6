"""The classes that a Worker's own classes derive from."""

from __future__ import annotations

from typing import Any, Self

from workers_shim.web.errors import not_served


class WorkerEntrypoint:
    """A Worker: its ``fetch`` answers requests. One instance serves one request."""

    ctx: Any
    env: Any

    def __init__(self, ctx: Any, env: Any) -> None:
        self.ctx = ctx
        self.env = env


class WorkflowEntrypoint:
    """A Workflow: ``run(self, event, step)`` is what an instance of it does."""

    ctx: Any
    env: Any

    def __init__(self, ctx: Any, env: Any) -> None:
        self.ctx = ctx
        self.env = env


class DurableObject:
    """The base of Durable Objects. A Worker may define one; it cannot be used here yet."""

    ctx: Any
    env: Any

    def __new__(cls, *args: Any, **options: Any) -> Self:
        raise NotImplementedError(f"{cls.__name__}: {not_served('A Durable Object')}")

    def __init__(self, ctx: Any, env: Any) -> None:
        self.ctx = ctx
        self.env = env
