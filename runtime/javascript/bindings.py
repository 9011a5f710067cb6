"""What a project's code finds on ``env``, in the terms of workerd's configuration."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from datetime import UTC, datetime

from wrangler_compat.reading import entries, table, text

from . import assets, durable_objects, references, workflows
from .capnp import Struct
from .json_text import json_text
from .plan import Plan, Worker


def bindings(worker: Worker, plan: Plan) -> list[Struct]:
    """Everything on ``env``."""
    return [
        *_variables(worker),
        *workflows.bindings(worker, plan),
        *workflows.hidden_bindings(worker),
        *durable_objects.bindings(worker, plan),
        *references.bindings(worker, plan),
        *assets.binding(worker),
        *_version(worker),
        *_loaders(worker),
    ]


def _variables(worker: Worker) -> Iterator[Struct]:
    """``vars`` and secrets: a string is a string, anything else what JSON makes of it."""
    for name, value in worker.project.vars.items():
        yield {"name": name, "text": value} if isinstance(value, str) else {"name": name, "json": json_text(value)}


def _version(worker: Worker) -> Iterator[Struct]:
    """``version_metadata``: an id that changes with the code, and the time at which that was built."""
    binding = text(table(worker.project.resolved, "version_metadata"), "binding")
    if binding is not None:
        version = uuid.uuid5(uuid.NAMESPACE_OID, worker.bundle.digest)
        built = datetime.fromtimestamp(worker.bundle.modules[0].path.stat().st_mtime, UTC)
        timestamp = built.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        yield {"name": binding, "json": json_text({"id": str(version), "tag": "", "timestamp": timestamp})}


def _loaders(worker: Worker) -> Iterator[Struct]:
    """``worker_loaders``: workerd itself runs code that comes at run time."""
    for entry in entries(worker.project.resolved, "worker_loaders"):
        if (binding := text(entry, "binding")) is not None:
            yield {"name": binding, "workerLoader": {}}
