"""What named environments have to do with a change (R10, R21), and how one of them gets exports of its own.

``exports`` is inherited by every ``env.NAME`` that has none of its own, and workflow names are account-wide: the next
deploy of such an environment takes over every workflow that the top level declares.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any

from wrangler_compat.diagnostics import dotted
from wrangler_compat.edits import Export, Field
from wrangler_compat.reconcile.entries import Bound, Entries
from wrangler_compat.reconcile.plan import Plan
from wrangler_compat.reconcile.rules import Rules
from wrangler_compat.reconcile.settings import merged
from wrangler_compat.rendering import written


def blocks(data: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The named environments of a configuration."""
    for name, block in (data.get("env") or {}).items():
        yield name, block if isinstance(block, dict) else {}


def report_environments(data: Mapping[str, Any], chosen: str | None, plan: Plan) -> None:
    """Tell of what stands in environments and is left alone."""
    for name, block in blocks(data):
        if block.get("workflows"):
            text = f'"env.{name}.workflows" is not rewritten.'
            plan.warn("R10", text, ("env", name, "workflows"), "Bindings are not inherited: check it by hand.")
        if block.get("exports") is not None and name != chosen:
            text = f'"env.{name}.exports" is not rewritten here; it replaces the whole "exports" of the top level.'
            plan.warn("R10b", text, ("env", name, "exports"), f"Reconcile it: celld-py reconcile --env {name}")


def refuse_takeover(data: Mapping[str, Any], plan: Plan, force: bool) -> None:
    """Refuse to add top-level workflows that environments would begin to own."""
    names = [written(operation.value["name"]) for operation in plan.operations if isinstance(operation, Export)]
    heirs = [name for name, block in blocks(data) if block.get("exports") is None]
    if not names or not heirs:
        return
    first = heirs[0]
    hint = (
        f"Give each its own exports first (celld-py reconcile --env {first} --write), or take it as it is with --force."
    )
    for name in heirs:
        text = f'"env.{name}" has no exports of its own: its next deploy would take over {", ".join(names)}.'
        if force:
            plan.warn("R21", text, ("env", name))
        else:
            plan.error("R21", text, ("env", name), hint=hint, blocks=True)


def reconcile_environment(rules: Rules, inherited: Mapping[str, Any] | None) -> None:
    """Reconcile an environment whose ``workflows`` are never rewritten.

    ``inherited`` is the map of exports of the top level when it has none of its own; it then gets one, if what it
    inherits is not what it needs.
    """
    for class_name in [each.name for each in rules.code.classes]:
        for bound in rules.entries.own(class_name):
            if bound.settings:
                _refuse_settings(rules.plan, bound, rules.entries)
    if rules.plan.findings and rules.plan.blocked:
        return
    if inherited is None:
        rules.reconcile()
    else:
        _give_exports(rules, inherited)


def _refuse_settings(plan: Plan, bound: Bound, entries: Entries) -> None:
    target = dotted((*entries.path, str(bound.entry.get("class_name"))))
    text = f'"{dotted(bound.path)}" has {", ".join(bound.settings)}, which wrangler does not allow beside an export.'
    hint = f'Move them to "{target}" by hand: the workflows of environments are never rewritten.'
    plan.error("R10", text, bound.path, hint=hint, blocks=True)


def _give_exports(rules: Rules, inherited: Mapping[str, Any]) -> None:
    wanted: dict[str, dict[str, Any]] = {key: deepcopy(entry) for key, entry in inherited.items()}
    for each in rules.code.classes:
        names = [bound.name for bound in rules.entries.own(each.name)]
        current = wanted.get(each.name)
        if current is not None and (not names or current.get("name") == names[0]):
            continue
        name = names[0] if names else rules.declared_name(each)
        kept = {key: value for key, value in (current or {}).items() if key not in ("type", "name")}
        wanted[each.name] = {"type": "workflow", "name": name, **merged(kept, each.settings)}
    if written(wanted) == written(inherited):
        return
    environment = rules.entries.base[-1]
    rules.plan.info("R21", f'"env.{environment}" gets exports of its own.', rules.entries.base)
    for key, entry in wanted.items():
        fields = tuple(Field(part, value) for part, value in entry.items())
        rules.plan.do(Export((*rules.entries.path, key), fields))
