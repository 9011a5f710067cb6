"""How code reaches the Workflows that the configuration names."""

from __future__ import annotations

from collections.abc import Iterator

from wrangler_compat.code import Module, nodes
from wrangler_compat.lints.lint import Example, Hit, Lint, Subject, hit
from wrangler_compat.lints.lunora import uses_lunora
from wrangler_compat.lints.services import CREATES, binding_of, export_of
from wrangler_compat.projection.entry import ENTRY

EXPORTS_SINCE = "2025-11-17"  # the compatibility date from which ctx.exports is there by itself
_ENABLED, _DISABLED = "enable_ctx_exports", "disable_ctx_exports"


def _unknown_target(subject: Subject) -> Iterator[Hit]:
    behind_entry = subject.project.main.name == ENTRY  # which finds every class: the output of a deploy for celld
    exported = {each.class_name for each in subject.project.workflows if each.exported or behind_entry}
    names = {declared.name for declared in subject.project.workflows}
    for module in subject.code.modules:
        lunora = uses_lunora(module)
        for node in module.root.walk():
            if not isinstance(node, nodes.Call) or not isinstance(node.callee, nodes.Attribute):
                continue
            if node.callee.name in CREATES:
                yield from _started(subject, module, node.callee.value, exported)
            elif lunora and node.callee.name == "get":
                yield from _named(module, node, names)


def _started(subject: Subject, module: Module, handle: nodes.Node, exported: set[str]) -> Iterator[Hit]:
    bound, export = binding_of(module, handle), export_of(module, handle)
    if bound is not None and len(bound) == 1 and bound[0] not in subject.bindings:
        known = [name for name, kind in subject.bindings.items() if kind == "Workflow"]
        yield hit(module, handle, f"No Workflow is bound as env.{bound[0]}{_known(known)}.")
    if export is not None and len(export) == 1 and export[0] not in exported:
        yield hit(module, handle, f"The configuration exports no Workflow {export[0]}{_known(sorted(exported))}.")


def _named(module: Module, call: nodes.Call, names: set[str]) -> Iterator[Hit]:
    """Lunora's own handle finds Workflows by name; on a binding ``get`` takes the id of an instance."""
    match call:
        case nodes.Call(callee=nodes.Attribute(value=handle), args=(nodes.Literal(value=str() as name), *_)):
            chain = module.names.chain(handle)
            if chain is not None and chain[-1] == "workflows" and name not in names:
                yield hit(module, call, f'There is no Workflow "{name}"{_known(sorted(names))}.')


def _known(names: list[str]) -> str:
    return f" (there is {', '.join(names)})" if names else ""


def _unused(subject: Subject) -> Iterator[Hit]:
    if not subject.code.complete:
        return
    for declared in subject.project.workflows:
        used = declared.binding is not None and subject.code.mentions(declared.binding)
        own = subject.code.get(declared.class_name)
        scheduled = declared.schedules or (own is not None and "schedules" in own.settings)
        if used or scheduled or (declared.exported and _uses_export(subject, declared.class_name)):
            continue
        text = f'Nothing in the code starts the Workflow "{declared.name}", and it has no schedules.'
        yield Hit(text, subject.place(declared.path))


def _uses_export(subject: Subject, class_name: str) -> bool:
    """Whether code takes the class from ``ctx.exports``; a computed name may be it."""
    for module in subject.code.modules:
        if not module.readable:
            return True
        for node in module.root.walk():
            match node:
                case nodes.Attribute(name="exports") if _is_computed(node):
                    return True
                case nodes.Attribute() | nodes.Item():
                    found = export_of(module, node)
                    if found is not None and found[0] == class_name:
                        return True
    return False


def _is_computed(exports: nodes.Attribute) -> bool:
    """Whether the exports are passed on or indexed by something that is made at run time."""
    match exports.parent:
        case nodes.Attribute():
            return False
        case nodes.Item(index=nodes.Literal()):
            return False
        case _:
            return True


def _no_exports(subject: Subject) -> Iterator[Hit]:
    project = subject.project
    flags = project.compatibility_flags
    if _ENABLED in flags or (project.compatibility_date >= EXPORTS_SINCE and _DISABLED not in flags):
        return
    why = f"{_DISABLED} is set" if _DISABLED in flags else f"the compatibility date is {project.compatibility_date}"
    for module in subject.code.modules:
        for node in module.root.walk():
            if isinstance(node, nodes.Attribute) and node.name == "exports" and _is_of_context(module, node):
                yield hit(module, node, f"ctx.exports is not there, because {why}.")


def _is_of_context(module: Module, node: nodes.Attribute) -> bool:
    return module.names.chain(node) in (("this", "ctx", "exports"), ("param:ctx", "exports"))


_DEFAULT = """
from workers import WorkerEntrypoint, WorkflowEntrypoint


class Order(WorkflowEntrypoint):
    async def run(self, event, step):
        return 1


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        await self.%s.create()%s
"""
_WITHOUT_START = """
from workers import WorkflowEntrypoint


class Order(WorkflowEntrypoint):
    async def run(self, event, step):
        return 1
"""
_DEFAULT_JS = """
import { WorkflowEntrypoint } from "cloudflare:workers";

export class Order extends WorkflowEntrypoint {
  async run(event, step) {
    return 1;
  }
}

export default {
  async fetch(request, env, ctx) {
    await %s.create();%s
    return new Response("ok");
  },
};
"""
_EXPORTED = {"workflows": [], "exports": {"Order": {"type": "workflow", "name": "order"}}}

LINTS = (
    Lint(
        "workflow_unknown_target",
        "error",
        "Code that starts a Workflow which the configuration does not name fails when it gets there.",
        "Add the binding to workflows, or correct the name.",
        _unknown_target,
        (
            Example(
                "python",
                bad=_DEFAULT % ("env.ORDERS", "  # <-"),
                good=_DEFAULT % ("env.ORDER", ""),
            ),
            Example(
                "javascript",
                bad=_DEFAULT_JS % ("ctx.exports.Orders", " // <-"),
                good=_DEFAULT_JS % ("ctx.exports.Order", ""),
                config=_EXPORTED,
            ),
        ),
    ),
    Lint(
        "workflow_unused",
        "note",
        "A Workflow that nothing here starts is perhaps a leftover, unless another Worker or the API starts it.",
        "Remove it from the configuration if that is so.",
        _unused,
        (
            Example(
                "jsonc",
                bad="""
{
  "name": "shop",
  "main": "main.py",
  "compatibility_date": "2026-11-01",
  "compatibility_flags": ["python_workers"],
  "workflows": [
    { "name": "order", "binding": "ORDER", "class_name": "Order" } // <-
  ]
}
""",
                good="""
{
  "name": "shop",
  "main": "main.py",
  "compatibility_date": "2026-11-01",
  "compatibility_flags": ["python_workers"],
  "workflows": [
    { "name": "order", "binding": "ORDER", "class_name": "Order", "schedules": ["0 3 * * *"] }
  ]
}
""",
                code=_WITHOUT_START,
            ),
        ),
    ),
    Lint(
        "ctx_exports_unavailable",
        "warning",
        f"ctx.exports is there from the compatibility date {EXPORTS_SINCE} on; no deploy warns of an older one.",
        f'Raise compatibility_date, or add "{_ENABLED}" to compatibility_flags.',
        _no_exports,
        (
            Example(
                "python",
                bad=_DEFAULT % ("ctx.exports.Order", "  # <-"),
                good=_DEFAULT % ("env.ORDER", ""),
                config={
                    "compatibility_date": "2025-10-01",
                    "exports": {"Order": {"type": "workflow", "name": "order"}},
                },
            ),
            Example(
                "javascript",
                bad=_DEFAULT_JS % ("ctx.exports.Order", " // <-"),
                good=_DEFAULT_JS % ("env.ORDER", ""),
                config={
                    "compatibility_date": "2025-10-01",
                    "exports": {"Order": {"type": "workflow", "name": "order"}},
                },
            ),
        ),
    ),
)
