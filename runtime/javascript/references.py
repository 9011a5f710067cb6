"""How one worker of a plan names another: service bindings, with their entrypoint and properties."""

from __future__ import annotations

from collections.abc import Iterator

from wrangler_compat.services import ServiceBinding

from .capnp import Struct, Value
from .json_text import json_text
from .plan import Plan, Worker

# What stands in for a worker that is not started: bound code runs, and learns at the call what is missing, in the words
# that it hears from `wrangler dev`. A class that answers for every method, since no list of them is known.
_ABSENT = """\
import { WorkerEntrypoint } from "cloudflare:workers";

export default class extends WorkerEntrypoint {
  constructor(ctx, env) {
    super(ctx, env);
    return new Proxy(this, { get: (self, key) => Reflect.get(self, key) ?? (() => self.refuse()) });
  }
  fetch() {
    return new Response(this.env.MESSAGE, { status: 503 });
  }
  refuse() {
    throw new Error(this.env.MESSAGE);
  }
}
"""
_DATE = "2026-01-01"


def bindings(worker: Worker, plan: Plan) -> Iterator[Struct]:
    """The services on ``env``."""
    for bound in worker.services:
        yield {"name": bound.binding, "service": _designator(bound, plan)}


def absent(plan: Plan) -> Iterator[Struct]:
    """A service for each worker that others are bound to and that is not started with them."""
    for name in dict.fromkeys(name for each in plan.workers for name in absent_names(each, plan)):
        message = f'Worker "{name}" not found. Make sure it is running locally.'
        module: Struct = {"name": "absent.js", "esModule": _ABSENT}
        binding: Struct = {"name": "MESSAGE", "text": message}
        worker: Struct = {"modules": [module], "compatibilityDate": _DATE, "bindings": [binding]}
        yield {"name": _absent_service(name), "worker": worker}


def absent_names(worker: Worker, plan: Plan) -> tuple[str, ...]:
    """The workers that this one is bound to and that are not started with it."""
    return tuple(bound.service for bound in worker.services if plan.worker(bound.service) is None)


def _designator(bound: ServiceBinding, plan: Plan) -> Struct:
    target = plan.worker(bound.service)
    if target is None:
        return {"name": _absent_service(bound.service)}
    # workerd's assets service stands before the default entrypoint only, and does not hand on properties.
    direct = bound.entrypoint is not None or bound.props
    designator: dict[str, Value] = {"name": target.service if direct else target.front}
    if bound.entrypoint is not None:
        designator["entrypoint"] = bound.entrypoint
    if bound.props:
        designator["props"] = {"json": json_text(bound.props)}
    return designator


def _absent_service(name: str) -> str:
    return f"absent:{name}"
