"""Workflows on ``env`` and ``ctx.exports``: the runtime's own binding class, with the bridge behind it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from wrangler_compat import WorkflowDeclaration

from .capnp import Struct
from .json_text import json_text
from .plan import Plan, Worker

BINDING_MODULE = "cloudflare-internal:workflows-api"  # what wraps a service into the class that code sees
BINDING_ENTRYPOINT = "WorkflowBinding"  # of the bridge
HIDDEN = "CELLD:"  # so begin the names of bindings that user code does not see: workers_shim/workerd/hidden.js
HOP_ENTRYPOINT = "Hop"  # of the bridge
LINES = "lines"  # the service that takes the lines of runs
_ENGINE = "workflows-engine"
_ENGINE_CLASS = "Engine"
_ENGINE_CODE = f"""\
import {{ DurableObject }} from "cloudflare:workers";
export class {_ENGINE_CLASS} extends DurableObject {{}}
"""
_ENGINE_DATE = "2026-01-01"


def bindings(worker: Worker, plan: Plan) -> Iterator[Struct]:
    """The Workflows on ``env``, also those of other workers of the plan."""
    foreign = (each for each in worker.project.foreign_workflows if lives_in(plan, each))
    for declared in (*worker.project.workflows, *foreign):
        if declared.binding is not None:
            fetcher: Struct = {"name": "fetcher", "service": _bridge(declared.name)}
            yield {"name": declared.binding, "wrapped": {"moduleName": BINDING_MODULE, "innerBindings": [fetcher]}}


def hidden_bindings(worker: Worker) -> Iterator[Struct]:
    """What runs need: the bridge, for what RPC makes of values, the host, and the entrypoints of their classes."""
    classes = dict.fromkeys(declared.class_name for declared in worker.workflows())
    if classes:
        yield {"name": f"{HIDDEN}hop", "service": {"name": "bridge", "entrypoint": HOP_ENTRYPOINT}}
        yield {"name": f"{HIDDEN}lines", "service": LINES}
    for name in classes:
        yield {"name": f"{HIDDEN}workflow:{name}", "service": {"name": worker.service, "entrypoint": name}}


def lives_in(plan: Plan, declared: WorkflowDeclaration) -> bool:
    """Whether the worker that the declaration names is there, and has the Workflow."""
    owner = plan.worker(declared.script_name or "")
    return owner is not None and any(each.name == declared.name for each in owner.project.workflows)


def engine(worker: Worker) -> Struct:
    """The field that puts exported Workflows on ``ctx.exports``.

    workerd would run them in an actor class of our choice if anything reached it; the bridge, which answers for the
    binding, never lets it. It must only be there, and have a disk.
    """
    exported = [each for each in worker.workflows() if each.exported]
    if not exported:
        return {}
    actor = {"name": _ENGINE, "entrypoint": _ENGINE_CLASS}
    workflows: list[Struct] = [
        {"className": each.class_name, "name": each.name, "bindingService": _bridge(each.name)} for each in exported
    ]
    return {"workflowsEngine": {"actorClass": actor, "workflows": workflows}}


def has_engine(plan: Plan) -> bool:
    """Whether any Workflow is exported."""
    return any(engine(worker) for worker in plan.workers)


def engine_services(plan: Plan) -> Iterator[Struct]:
    """The actor class and its disk."""
    if has_engine(plan):
        module = {"name": "engine.js", "esModule": _ENGINE_CODE}
        yield {"name": _ENGINE, "worker": {"modules": [module], "compatibilityDate": _ENGINE_DATE}}
        yield {"name": f"{_ENGINE}-disk", "disk": {"path": str(engine_folder(plan)), "writable": True}}


def engine_storage(plan: Plan) -> Struct:
    """The field that the bridge needs: the storage is looked for at the service behind the binding."""
    return {"durableObjectStorage": {"localDisk": f"{_ENGINE}-disk"}} if has_engine(plan) else {}


def engine_folder(plan: Plan) -> Path:
    """A folder beside the code, of this process alone: two of them at one folder would contend for its alarms."""
    return plan.workers[0].bundle.folder / "engine"


def _bridge(name: str) -> Struct:
    return {"name": "bridge", "entrypoint": BINDING_ENTRYPOINT, "props": {"json": json_text({"workflow": name})}}
