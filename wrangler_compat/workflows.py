"""Workflow declarations: ``workflows[]`` bindings and ``exports`` entries, checked and merged by workflow name.

The messages are wrangler's own, so that a developer meets the same sentence here and at deploy.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from wrangler_compat.binding_shapes import is_list
from wrangler_compat.diagnostics import Diagnostics, KeyPath
from wrangler_compat.environments import Resolved
from wrangler_compat.exports import workflow_name
from wrangler_compat.rendering import keys
from wrangler_compat.spots import Spot, is_kind
from wrangler_compat.workflow_clashes import check_clash, check_event_targets, check_settings_elsewhere
from wrangler_compat.workflow_settings import (
    CRON_HINT,
    JURISDICTIONS,
    MAX_RETENTION,
    MAX_SCHEDULE_LENGTH,
    MAX_SCHEDULES,
    MAX_STEPS,
    NAME_FORMAT,
    NAME_HINT,
    SETTINGS,
    check_settings,
    is_positive_integer,
    is_workflow_name,
    optional_string,
    required_string,
)

_KEYS = {"binding", "name", "class_name", "script_name", *SETTINGS}
_REQUIRED = ("binding", "name", "class_name")


@dataclass(frozen=True, slots=True)
class WorkflowDeclaration:
    """One workflow: the class that runs it, and how code reaches it.

    ``binding`` is its name on ``env``; ``exported`` says that it is on ``ctx.exports`` under its class name.
    A ``script_name`` is only kept when the workflow lives in another Worker. Retention is as written:
    milliseconds or a duration text.
    """

    name: str
    class_name: str
    binding: str | None = None
    exported: bool = False
    script_name: str | None = None
    steps_limit: int | None = None
    concurrency_limit: int | None = None
    schedules: tuple[str, ...] = ()
    success_retention: int | str | None = None
    error_retention: int | str | None = None
    jurisdiction: str | None = None
    path: KeyPath = ()  # where the file declares it


def check_workflows(spot: Spot, _: str) -> None:
    """Check ``workflows[]`` as wrangler does when it reads the file."""
    if not is_list(spot):
        return
    for entry in spot.items():
        _check_binding(entry)
    names = [entry["name"].value for entry in spot.items() if entry.has("name", "string")]
    repeated = dict.fromkeys(name for name in names if names.count(name) > 1)
    if repeated:
        shown = ", ".join(f'"{name}"' for name in repeated)
        text = f'"workflows" bindings must have unique "name" values; duplicate(s) found: {shown}'
        spot.error("workflow_name_repeated", text, "Give each binding the name of a Workflow of its own.")


def _check_binding(entry: Spot) -> None:
    if not isinstance(entry.value, dict | list):
        text = f'"workflows" bindings should be objects, but got {entry.shown}'
        entry.error("workflow_shape", text, 'Write { "binding": "ORDER", "name": "order", "class_name": "Order" }.')
        return
    for key in _REQUIRED:
        given = required_string(entry, key)
        name = entry[key]
        if given and key == "name" and not is_workflow_name(name.value):
            name.error("workflow_name", f'"{entry.label}" binding "name" field is invalid. {NAME_FORMAT}', NAME_HINT)
    optional_string(entry, "script_name")
    check_settings(entry, "bindings")
    entry.only(_KEYS)


def read_workflows(resolved: Resolved, worker: str, found: Diagnostics) -> tuple[WorkflowDeclaration, ...]:
    """All workflows of the configuration, each once, as far as they can be read.

    What wrangler says about them together, when it starts or deploys, goes to ``found``.
    """
    merged = {export.name: export for export in _read_exports(resolved)}
    foreign = []
    for bound, entry in _read_bindings(resolved, worker):
        if bound.script_name:
            check_settings_elsewhere(entry, bound.path, found)
        export = merged.get(bound.name)
        if export is not None:
            check_clash(bound, export, entry, found)
        if bound.script_name:
            foreign.append(bound)
        else:
            merged[bound.name] = bound if export is None else _joined(export, bound)
    check_event_targets(resolved, merged, found)
    _count_schedules(merged.values(), found)
    return (*merged.values(), *foreign)


def _joined(export: WorkflowDeclaration, bound: WorkflowDeclaration) -> WorkflowDeclaration:
    """One workflow by two ways. `wrangler dev` lets a binding's limit of steps win, which a deployment refuses."""
    if not export.exported:
        return export  # two bindings of one name: refused elsewhere
    return replace(export, binding=bound.binding, steps_limit=bound.steps_limit or export.steps_limit)


def _read_bindings(resolved: Resolved, worker: str) -> Iterable[tuple[WorkflowDeclaration, Mapping[str, Any]]]:
    entries = resolved.data.get("workflows")
    path = resolved.path_of("workflows")
    for index, entry in enumerate(entries if isinstance(entries, list) else ()):
        if isinstance(entry, dict) and all(isinstance(entry.get(key), str) for key in _REQUIRED):
            script = entry.get("script_name")
            yield (
                WorkflowDeclaration(
                    entry["name"],
                    entry["class_name"],
                    entry["binding"],
                    script_name=script if isinstance(script, str) and script not in ("", worker) else None,
                    path=(*path, index),
                    **_settings(entry),
                ),
                entry,
            )


def _read_exports(resolved: Resolved) -> Iterable[WorkflowDeclaration]:
    entries = resolved.data.get("exports")
    taken: set[str] = set()
    entries = entries if isinstance(entries, dict) else {}
    for class_name in keys(entries):
        name = workflow_name(entries[class_name])
        if name is not None and name not in taken:
            taken.add(name)
            path = (*resolved.path_of("exports"), class_name)
            yield WorkflowDeclaration(name, class_name, exported=True, path=path, **_settings(entries[class_name]))


def _settings(entry: Mapping[str, Any]) -> dict[str, Any]:
    """What an entry sets, without what the checks refuse."""
    schedules = entry.get("schedules")
    listed = [schedules] if isinstance(schedules, str) else schedules if isinstance(schedules, list) else []
    retention = entry.get("default_retention")
    retention = retention if isinstance(retention, dict) else {}
    jurisdiction = entry.get("jurisdiction")
    return {
        "steps_limit": _number(entry, "limits", "steps"),
        "concurrency_limit": _number(entry, "concurrency", "limit"),
        "schedules": tuple(text for text in listed if isinstance(text, str)),
        "success_retention": _retention(retention.get("success_retention")),
        "error_retention": _retention(retention.get("error_retention")),
        "jurisdiction": jurisdiction if jurisdiction in JURISDICTIONS else None,
    }


def _number(entry: Mapping[str, Any], group: str, key: str) -> int | None:
    settings = entry.get(group)
    value = settings.get(key) if isinstance(settings, dict) else None
    return int(value) if value is not None and is_positive_integer(value) else None


def _retention(value: Any) -> int | str | None:
    if is_kind(value, "number"):
        return int(value) if is_positive_integer(value) else None
    return value if isinstance(value, str) else None


def _count_schedules(declared: Iterable[WorkflowDeclaration], found: Diagnostics) -> None:
    with_schedules = [declaration for declaration in declared if declaration.schedules]
    count = sum(len(declaration.schedules) for declaration in with_schedules)
    if count > MAX_SCHEDULES:
        text = f"There are {count} cron expressions in the schedules of all workflows; an account has {MAX_SCHEDULES}."
        path = (*with_schedules[-1].path, "schedules")
        found.error("workflow_schedules", text, path, "Remove some of them.", "server")


__all__ = [
    "CRON_HINT",
    "MAX_RETENTION",
    "MAX_SCHEDULES",
    "MAX_SCHEDULE_LENGTH",
    "MAX_STEPS",
    "NAME_FORMAT",
    "SETTINGS",
    "WorkflowDeclaration",
    "check_workflows",
    "is_workflow_name",
    "read_workflows",
]
