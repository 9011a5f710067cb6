"""Which calls reach something outside the Worker: the network, a binding, another instance."""

from __future__ import annotations

from typing import NamedTuple

from wrangler_compat.code import Module, nodes

_VERBS = ("get", "post", "put", "patch", "delete", "head", "options", "request", "stream")
FETCHES = {
    "fetch",
    "js.fetch",
    "workers.fetch",
    "pyodide.http.pyfetch",
    "urllib.request.urlopen",
    "axios",
    *(f"{package}.{verb}" for package in ("httpx", "requests", "axios", "niquests") for verb in _VERBS),
}
WRITES = {
    "put",
    "delete",
    "send",
    "sendBatch",
    "send_batch",
    "run",
    "exec",
    "batch",
    "create",
    "createBatch",
    "create_batch",
    "fetch",
    "sendEvent",
    "send_event",
    "insert",
    "upsert",
    "writeDataPoint",
    "pause",
    "resume",
    "terminate",
    "restart",
}
READS = {"get", "list", "head", "first", "all", "raw", "query", "getWithMetadata", "status"}
CREATES = {"create", "createBatch", "create_batch"}
_PACKAGES = {"workers", "cloudflare:workers"}


class Reach(NamedTuple):
    """A call that leaves the Worker: through which binding (or "fetch"), and what it does there."""

    service: str
    method: str


def binding_of(module: Module, node: nodes.Node) -> tuple[str, ...] | None:
    """The part of a dotted name after ``env``: ("ORDERS", "create")."""
    chain = module.names.chain(node)
    if chain is None:
        return None
    if chain[0] == "param:env":
        return chain[1:] or None
    if len(chain) > 2 and chain[1] == "env" and (chain[0] == "this" or chain[0] in _PACKAGES):
        return chain[2:]
    return None


def export_of(module: Module, node: nodes.Node) -> tuple[str, ...] | None:
    """The part of a dotted name after ``ctx.exports``: ("Order", "create")."""
    chain = module.names.chain(node)
    if chain is None or "exports" not in chain:
        return None
    index = chain.index("exports")
    before = chain[:index]
    if before in (("this", "ctx"), ("param:ctx",)) or (len(before) == 1 and before[0] in _PACKAGES):
        return chain[index + 1 :] or None
    return None


def reach(module: Module, call: nodes.Call) -> Reach | None:
    """What a call reaches; None for what stays inside, or cannot be told."""
    dotted = module.names.dotted(call.callee)
    if dotted in FETCHES:
        return Reach("fetch", dotted)
    if not isinstance(call.callee, nodes.Attribute):
        return None
    method, inner = call.callee.name, call.callee.value
    while True:
        bound = binding_of(module, inner)
        if bound is not None:
            return Reach(f"env.{bound[0]}", method)
        exported = export_of(module, inner)
        if exported is not None:
            return Reach(f"ctx.exports.{exported[0]}", method)
        match inner:
            case nodes.Call(callee=nodes.Attribute(value=value)):  # env.DB.prepare(...).bind(...).run()
                inner = value
            case nodes.Await(value=value) | nodes.Attribute(value=value):  # (await env.ORDERS.get(id)).sendEvent()
                inner = value
            case nodes.Name(id=name):  # instance = await env.ORDERS.get(id)
                value_of = module.names.value(name, inner)
                if not isinstance(value_of, nodes.Await | nodes.Call):
                    return None
                inner = value_of
            case _:
                return None
