"""The services of workerd's configuration: the projects' workers, the bridge, the host and the network."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from . import assets, compatibility, durable_objects, references, workflows
from .bindings import bindings
from .capnp import Embed, Struct
from .json_text import json_text
from .plan import Plan, Worker

# At this date errors cross RPC as the golden traces have them: a name of the user's own becomes part of the message.
BRIDGE_DATE = "2026-01-01"
BRIDGE_MAIN = "bridge.js"
BRIDGE_SOCKET = "bridge"
TOKEN_HEADER = "celld-token"  # noqa: S105 - the header's name
CF_HEADER = "celld-cf"


def services(plan: Plan) -> Iterator[Struct]:
    """All services of a plan."""
    for worker in plan.workers:
        yield _worker(worker, plan)
        yield from assets.service(worker)
    yield from references.absent(plan)
    yield from durable_objects.disk(plan)
    yield from workflows.engine_services(plan)
    yield _bridge(plan)
    yield _host("host", plan.host, plan)
    yield _host(workflows.LINES, plan.lines, plan)
    yield _internet()


def bridge_socket() -> Struct:
    """The one socket, on a port that the system chooses; workerd reports it on its control descriptor."""
    return {
        "name": BRIDGE_SOCKET,
        "address": "127.0.0.1:0",
        "http": {"cfBlobHeader": CF_HEADER},
        "service": "bridge",
    }


def _host(name: str, address: str, plan: Plan) -> Struct:
    """The host, at one of its servers."""
    injected = [{"name": TOKEN_HEADER, "value": plan.token}]
    return {"name": name, "external": {"address": address, "http": {"injectRequestHeaders": injected}}}


def _worker(worker: Worker, plan: Plan) -> Struct:
    modules: list[Struct] = [{"name": each.name, each.kind: Embed(each.path)} for each in worker.bundle.modules]
    return {
        "name": worker.service,
        "worker": {
            "modules": modules,
            "compatibilityDate": compatibility.date(worker.project, plan.newest_date),
            "compatibilityFlags": compatibility.flags(worker.project),
            "bindings": bindings(worker, plan),
            **durable_objects.storage(worker),
            **workflows.engine(worker),
        },
    }


def _bridge(plan: Plan) -> Struct:
    return {
        "name": "bridge",
        "worker": {
            "modules": [{"name": name, "esModule": Embed(path)} for name, path in _bridge_modules(plan.bridge)],
            "compatibilityDate": BRIDGE_DATE,
            "bindings": [*_bridge_bindings(plan)],
            **workflows.engine_storage(plan),
        },
    }


def _bridge_modules(folder: Path) -> Iterator[tuple[str, Path]]:
    """The bridge's files, the main one first, as workerd wants it."""
    files = sorted(folder.rglob("*.js"), key=lambda path: (path != folder / BRIDGE_MAIN, path))
    return ((path.relative_to(folder).as_posix(), path) for path in files)


def _bridge_bindings(plan: Plan) -> Iterator[Struct]:
    """How the bridge reaches the code, and the tables that tell it which binding leads where."""
    names: dict[str, dict[str, Any]] = {"WORKERS": {}, "FRONTS": {}, "WORKFLOWS": {}}
    for number, worker in enumerate(plan.workers):
        user = names["WORKERS"][worker.name] = f"USER_{number}"
        yield {"name": user, "service": worker.service}
        if worker.front != worker.service:
            front = names["FRONTS"][worker.name] = f"FRONT_{number}"
            yield {"name": front, "service": worker.front}
        for class_name in dict.fromkeys(declared.class_name for declared in worker.workflows()):
            yield {"name": f"WF_{number}_{class_name}", "service": {"name": worker.service, "entrypoint": class_name}}
        for declared in worker.workflows():
            names["WORKFLOWS"][declared.name] = {"class": f"WF_{number}_{declared.class_name}", "user": user}
    yield {"name": "TOKEN", "text": plan.token}
    yield {"name": "HOST", "service": "host"}
    yield from ({"name": name, "json": json_text(value)} for name, value in names.items())


def _internet() -> Struct:
    """Where ``fetch`` goes: anywhere, also to other servers on this machine, as with ``wrangler dev``."""
    network: Struct = {"allow": ["public", "private"], "tlsOptions": {"trustBrowserCas": True}}
    return {"name": "internet", "network": network}
