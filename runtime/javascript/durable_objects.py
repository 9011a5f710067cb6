"""Durable Objects run in workerd itself, on its own SQLite files."""

from __future__ import annotations

from collections.abc import Iterator

from .capnp import Struct
from .plan import Plan, Worker

DISK = "durable-objects"


def storage(worker: Worker) -> Struct:
    """The fields of a worker's service that its Durable Object classes need.

    Ids are derived from a namespace's key, and the key names its folder. It is made of the worker's name and the
    class's, so it stays when the project is moved to another folder, and when the class is renamed by a migration.
    """
    classes = worker.durable_objects.classes
    if not classes:
        return {}
    namespaces: list[Struct] = [
        {"className": each.name, "uniqueKey": f"{worker.name}-{each.key}", "enableSql": each.sqlite} for each in classes
    ]
    return {"durableObjectNamespaces": namespaces, "durableObjectStorage": {"localDisk": DISK}}


def bindings(worker: Worker, plan: Plan) -> Iterator[Struct]:
    """The namespaces on ``env``. One of a worker that is not there, or lacks the class, is left out."""
    for bound in worker.durable_objects.bindings:
        owner = worker if bound.script_name is None else plan.worker(bound.script_name)
        if owner is not None and owner.durable_objects.own(bound.class_name):
            namespace = {"className": bound.class_name, "serviceName": owner.service}
            yield {"name": bound.binding, "durableObjectNamespace": namespace}


def disk(plan: Plan) -> Iterator[Struct]:
    """The folder of all objects."""
    if plan.has_durable_objects:
        yield {"name": DISK, "disk": {"path": str(plan.storage), "writable": True}}
