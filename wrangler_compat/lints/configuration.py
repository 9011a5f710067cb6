"""What the configuration says against what the code has, and one environment against another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from wrangler_compat.diagnostics import KeyPath, dotted
from wrangler_compat.lints.lint import Example, Hit, Lint, Subject
from wrangler_compat.workflow_settings import SETTINGS

Entry = tuple[KeyPath, dict[str, Any]]


def _class_missing(subject: Subject) -> Iterator[Hit]:
    main = subject.project.main.name
    for declared in subject.project.workflows:
        if not subject.code.lacks(declared.class_name):
            continue
        other = subject.code.is_other(declared.class_name)
        where = f", but it is no WorkflowEntrypoint (line {other.line})" if other is not None else ""
        known = ", ".join(each.name for each in subject.code.classes) or "none"
        text = f"{main} exports no WorkflowEntrypoint {declared.class_name}{where}. It has: {known}."
        yield Hit(text, subject.place((*declared.path, "class_name") if declared.binding else declared.path))


def _not_configured(subject: Subject) -> Iterator[Hit]:
    configured = {declared.class_name for declared in subject.project.workflows}
    for each in subject.code.classes:
        if each.name not in configured and not each.is_base:
            yield Hit(f"No Workflow of the configuration runs the class {each.name}.", each.place)


def _shared_name(subject: Subject) -> Iterator[Hit]:
    data = subject.source.data
    blocks = data.get("env")
    if not isinstance(blocks, dict):
        return
    owners: dict[str, str] = {entry["name"]: "the top level" for _, entry in _owned(data, ()) if _is_named(entry)}
    for name, block in blocks.items():
        if not isinstance(block, dict):
            continue
        path: KeyPath = ("env", name)
        inherited = _exports(data, ()) if block.get("exports") is None else ()
        for where, entry in (*inherited, *_owned(block, path)):
            if not _is_named(entry):
                continue
            first = owners.setdefault(entry["name"], f"env.{name}")
            if first != f"env.{name}":
                place = where if where[:2] == path else path
                text = (
                    f'In env.{name} the Workflow is called "{entry["name"]}" as in {first}; names are shared by the '
                    "account, so whichever is deployed last takes it over."
                )
                yield Hit(text, subject.place(place))


def _exports(block: Mapping[str, Any], path: KeyPath) -> tuple[Entry, ...]:
    exports = block.get("exports")
    if not isinstance(exports, dict):
        return ()
    return tuple(
        ((*path, "exports", key), entry)
        for key, entry in exports.items()
        if isinstance(entry, dict) and entry.get("type") == "workflow"
    )


def _bound(block: Mapping[str, Any], path: KeyPath) -> tuple[Entry, ...]:
    entries = block.get("workflows")
    if not isinstance(entries, list):
        return ()
    return tuple(
        ((*path, "workflows", index), entry)
        for index, entry in enumerate(entries)
        if isinstance(entry, dict) and not entry.get("script_name")
    )


def _owned(block: Mapping[str, Any], path: KeyPath) -> tuple[Entry, ...]:
    return (*_exports(block, path), *_bound(block, path))


def _is_named(entry: Mapping[str, Any]) -> bool:
    return isinstance(entry.get("name"), str)


def _both(subject: Subject) -> Iterator[Hit]:
    """Environments other than the chosen one, which is read, and checked, anyway."""
    data = subject.source.data
    named = data.get("env")
    blocks: dict[str | None, Any] = {None: data, **(named if isinstance(named, dict) else {})}
    for name, block in blocks.items():
        if name == subject.project.environment or not isinstance(block, dict):
            continue
        path: KeyPath = () if name is None else ("env", name)
        own = block.get("exports") is not None
        exports = {
            entry.get("name"): (where, entry) for where, entry in _exports(block if own else data, path if own else ())
        }
        for where, entry in _bound(block, path):
            if entry.get("name") in exports:
                yield from _clash(subject, where, entry, exports[entry["name"]][0])


def _clash(subject: Subject, where: KeyPath, entry: Mapping[str, Any], export: KeyPath) -> Iterator[Hit]:
    for key in SETTINGS:
        if key in entry:
            text = (
                f'"{dotted(where)}.{key}" configures the Workflow "{entry["name"]}", which "{dotted(export)}" '
                f'declares. Set "{key}" on the export instead.'
            )
            yield Hit(text, subject.place((*where, key)))
    if entry.get("class_name") != export[-1]:
        text = (
            f'"{dotted(where)}" and "{dotted(export)}" both declare the Workflow "{entry["name"]}", but with '
            f'different classes ("{entry.get("class_name")}" and "{export[-1]}").'
        )
        yield Hit(text, subject.place((*where, "class_name")))


_CODE = """
from workers import WorkerEntrypoint, WorkflowEntrypoint


class Order(WorkflowEntrypoint):
    async def run(self, event, step):
        return 1


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        await self.env.ORDER.create()
"""
_SECOND = """

class Refund(WorkflowEntrypoint):%s
    async def run(self, event, step):
        return 2
"""


def _config(rest: str) -> str:
    return f"""
{{
  "name": "shop",
  "main": "main.py",
  "compatibility_date": "2026-11-01",
  "compatibility_flags": ["python_workers"],
{rest}
}}
"""


LINTS = (
    Lint(
        "export_class_missing",
        "error",
        "A Workflow needs its class among the exports of the main module; not every deploy notices.",
        "Define or re-export the class in the main module, or correct class_name (the key in exports).",
        _class_missing,
        (
            Example(
                "jsonc",
                bad=_config('  "workflows": [{ "name": "order", "binding": "ORDER", "class_name": "Orders" }] // <-'),
                good=_config('  "workflows": [{ "name": "order", "binding": "ORDER", "class_name": "Order" }]'),
                code=_CODE,
            ),
        ),
    ),
    Lint(
        "class_not_configured",
        "note",
        "A Workflow class that the configuration does not name cannot be started.",
        "celld-py reconcile adds it to the configuration.",
        _not_configured,
        (
            Example(
                "python",
                bad=_CODE + _SECOND % "  # <-",
                good=_CODE + _SECOND % "",
                good_config={
                    "workflows": [
                        {"name": "order", "binding": "ORDER", "class_name": "Order"},
                        {"name": "refund", "binding": "REFUND", "class_name": "Refund", "schedules": "0 3 * * *"},
                    ]
                },
            ),
        ),
    ),
    Lint(
        "env_shared_workflow_name",
        "warning",
        "Workflow names belong to the account: two environments with one name take the Workflow from each other.",
        "Give each environment names of its own; exports are inherited, so it needs its own exports for that.",
        _shared_name,
        (
            Example(
                "jsonc",
                bad=_config(
                    '  "workflows": [{ "name": "order", "binding": "ORDER", "class_name": "Order" }],\n'
                    '  "env": {\n'
                    '    "staging": {\n'
                    '      "workflows": [{ "name": "order", "binding": "ORDER", "class_name": "Order" }] // <-\n'
                    "    }\n"
                    "  }"
                ),
                good=_config(
                    '  "workflows": [{ "name": "order", "binding": "ORDER", "class_name": "Order" }],\n'
                    '  "env": {\n'
                    '    "staging": {\n'
                    '      "workflows": [{ "name": "order-staging", "binding": "ORDER", "class_name": "Order" }]\n'
                    "    }\n"
                    "  }"
                ),
                code=_CODE,
            ),
        ),
    ),
    Lint(
        "binding_and_export_settings",
        "error",
        "A Workflow that is both bound and exported takes its settings from the export; wrangler refuses others.",
        "Move the settings to the export. (The environment that is checked is read by the same rules.)",
        _both,
        (
            Example(
                "jsonc",
                bad=_config(
                    '  "exports": { "Order": { "type": "workflow", "name": "order" } },\n'
                    '  "workflows": [{ "name": "order", "binding": "ORDER", "class_name": "Order" }],\n'
                    '  "env": {\n'
                    '    "staging": {\n'
                    '      "exports": { "Order": { "type": "workflow", "name": "order-staging" } },\n'
                    '      "workflows": [\n'
                    "        {\n"
                    '          "name": "order-staging", "binding": "ORDER", "class_name": "Order",\n'
                    '          "limits": { "steps": 500 } // <-\n'
                    "        }\n"
                    "      ]\n"
                    "    }\n"
                    "  }"
                ),
                good=_config(
                    '  "exports": { "Order": { "type": "workflow", "name": "order" } },\n'
                    '  "workflows": [{ "name": "order", "binding": "ORDER", "class_name": "Order" }],\n'
                    '  "env": {\n'
                    '    "staging": {\n'
                    '      "exports": {\n'
                    '        "Order": { "type": "workflow", "name": "order-staging", "limits": { "steps": 500 } }\n'
                    "      },\n"
                    '      "workflows": [{ "name": "order-staging", "binding": "ORDER", "class_name": "Order" }]\n'
                    "    }\n"
                    "  }"
                ),
                code=_CODE,
            ),
        ),
    ),
)
