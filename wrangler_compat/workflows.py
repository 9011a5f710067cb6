"""Workflow declarations: ``workflows[]`` bindings and ``exports`` entries, checked and merged by workflow
name.

The messages are wrangler's own, so that a developer meets the same sentence here and at deploy.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from wrangler_compat.diagnostics import Diagnostics, KeyPath, dotted
from wrangler_compat.durations import milliseconds
from wrangler_compat.environments import Resolved
from wrangler_compat.rendering import unexpected_fields, written

MAX_STEPS = 25_000  # Cloudflare's production maximum for limits.steps
MAX_RETENTION = 30 * 24 * 60 * 60 * 1000  # ms; Cloudflare's production maximum (paid plans)
MAX_SCHEDULES = 100  # cron expressions; Cloudflare's limit for all workflows of an account
MAX_SCHEDULE_LENGTH = 256  # characters of one expression; Cloudflare's limit
NAME_FORMAT = (
    "Workflow names must be 1-64 characters long, start with a letter, number, or underscore, and may only "
    "contain letters, numbers, underscores, or hyphens."
)
JURISDICTIONS = ("eu", "fedramp", "us")
SETTINGS = ("limits", "concurrency", "schedules", "default_retention", "jurisdiction")

_NAME = re.compile(r"[a-zA-Z0-9_][a-zA-Z0-9_-]{0,63}")
_BINDING_KEYS = {"binding", "name", "class_name", "script_name", *SETTINGS}
_EXPORT_KEYS = {"type", "name", *SETTINGS}


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


CRON_HINT = (
    "Write minute, hour, day of the month, month and weekday, in UTC. Weekdays count from 1 (Sunday) to 7 (Saturday); "
    "names such as MON-FRI are clearer."
)


def is_workflow_name(name: str) -> bool:
    """Whether Cloudflare accepts this as the name of a workflow."""
    return _NAME.fullmatch(name) is not None


def read_workflows(resolved: Resolved, worker: str, found: Diagnostics) -> tuple[WorkflowDeclaration, ...]:
    """All workflows of the configuration, each once; mistakes go to ``found``."""
    bound = _read_bindings(resolved, worker, found)
    exported = _read_exports(resolved, found)
    merged = {declaration.name: declaration for declaration in exported}
    for declaration in bound:
        export = merged.get(declaration.name)
        if export is None:
            merged[declaration.name] = declaration
        elif _fits(declaration, export, resolved, found):
            merged[declaration.name] = replace(export, binding=declaration.binding)
    _count_schedules(merged.values(), found)
    return tuple(merged.values())


def _count_schedules(declared: Iterable[WorkflowDeclaration], found: Diagnostics) -> None:
    with_schedules = [declaration for declaration in declared if declaration.schedules]
    count = sum(len(declaration.schedules) for declaration in with_schedules)
    if count > MAX_SCHEDULES:
        text = f"There are {count} cron expressions in the schedules of all workflows; an account has {MAX_SCHEDULES}."
        found.error("workflow_schedules", text, (*with_schedules[-1].path, "schedules"), "Remove some of them.")


def _read_bindings(resolved: Resolved, worker: str, found: Diagnostics) -> list[WorkflowDeclaration]:
    entries = resolved.data.get("workflows", [])
    path = resolved.path_of("workflows")
    if entries is None:
        return []
    if not isinstance(entries, list):
        text = f'The field "{dotted(path)}" should be an array but got {written(entries)}.'
        found.error("workflows_shape", text, path)
        return []
    read = [_binding(entry, (*path, index), worker, found) for index, entry in enumerate(entries)]
    declarations = [declaration for declaration in read if declaration]
    names = [declaration.name for declaration in declarations]
    repeated = dict.fromkeys(name for name in names if names.count(name) > 1)
    if repeated:
        listed = ", ".join(f'"{name}"' for name in repeated)
        text = f'"{dotted(path)}" bindings must have unique "name" values; duplicate(s) found: {listed}'
        found.error("workflow_name_repeated", text, path)
    return declarations


def _binding(entry: Any, path: KeyPath, worker: str, found: Diagnostics) -> WorkflowDeclaration | None:
    label = dotted(path)
    if not isinstance(entry, dict):
        text = f'"{dotted(path[:-1])}" bindings should be objects, but got {written(entry)}'
        found.error("workflow_shape", text, path)
        return None
    unexpected_fields(entry, _BINDING_KEYS, path, found)
    missing = [key for key in ("binding", "name", "class_name") if not isinstance(entry.get(key), str)]
    for key in missing:
        text = f'"{label}" bindings should have a string "{key}" field but got {written(entry)}.'
        found.error("workflow_field_missing", text, path)
    name = entry.get("name")
    if isinstance(name, str) and not is_workflow_name(name):
        found.error("workflow_name", f'"{label}" binding "name" field is invalid. {NAME_FORMAT}', (*path, "name"))
    script = entry.get("script_name")
    if script is not None and not isinstance(script, str):
        text = f'"{label}" bindings should, optionally, have a string "script_name" field but got {written(entry)}.'
        found.error("workflow_script_name", text, (*path, "script_name"))
    settings = _Settings(entry, path, "bindings", found).read()
    if missing or not isinstance(script, str | None):
        return None
    elsewhere = script if script != worker else None
    if elsewhere:
        _refuse_settings_elsewhere(entry, path, found)
    return WorkflowDeclaration(
        entry["name"], entry["class_name"], entry["binding"], script_name=elsewhere, path=path, **settings
    )


def _refuse_settings_elsewhere(entry: Mapping[str, Any], path: KeyPath, found: Diagnostics) -> None:
    for key in SETTINGS:
        if key in entry:
            text = (
                f'Workflow "{entry["name"]}" has "{key}" configured but references external script '
                f'"{entry["script_name"]}". Configure {key} on the worker that defines the workflow.'
            )
            found.error("workflow_settings_elsewhere", text, (*path, key))


def _read_exports(resolved: Resolved, found: Diagnostics) -> list[WorkflowDeclaration]:
    entries = resolved.data.get("exports")
    path = resolved.path_of("exports")
    if entries is None:
        return []
    if not isinstance(entries, dict):
        text = (
            f'The optional "{dotted(path)}" field should be an object keyed by class name, but got {written(entries)}'
        )
        found.error("exports_shape", text, path)
        return []
    declared: dict[str, WorkflowDeclaration] = {}
    for class_name, entry in entries.items():
        declaration = _export(class_name, entry, (*path, class_name), found)
        if declaration is None:
            continue
        if first := declared.get(declaration.name):
            text = (
                f'"{dotted(first.path)}" and "{dotted(declaration.path)}" both declare the Workflow '
                f'"{declaration.name}". Workflow names must be unique.'
            )
            found.error("workflow_name_repeated", text, declaration.path)
        declared.setdefault(declaration.name, declaration)
    return list(declared.values())


def _export(class_name: str, entry: Any, path: KeyPath, found: Diagnostics) -> WorkflowDeclaration | None:
    label = dotted(path)
    if not isinstance(entry, dict):
        found.error("export_shape", f'"{label}" should be an object but got {written(entry)}.', path)
        return None
    kind = entry.get("type")
    if kind not in ("durable-object", "worker", "workflow"):
        got = written(kind) if "type" in entry else "undefined"
        text = f'"{label}.type" must be "durable-object", "worker", or "workflow", but got {got}.'
        found.error("export_type", text, (*path, "type"))
    if kind != "workflow":
        return None
    unexpected_fields(entry, _EXPORT_KEYS, path, found)
    settings = _Settings(entry, path, "export", found).read()
    name = entry.get("name")
    if not isinstance(name, str):
        found.error("export_name_missing", f'"{label}.name" is a required field.', path)
        return None
    if not is_workflow_name(name):
        found.error("workflow_name", f'"{label}.name" is invalid. {NAME_FORMAT}', (*path, "name"))
    return WorkflowDeclaration(name, class_name, exported=True, path=path, **settings)


def _fits(bound: WorkflowDeclaration, export: WorkflowDeclaration, resolved: Resolved, found: Diagnostics) -> bool:
    """Whether a binding and an export of one workflow name may stand side by side."""
    binding, label = dotted(bound.path), dotted(export.path)
    if bound.script_name:
        text = (
            f'"{binding}" binds the Workflow "{bound.name}" of the Worker "{bound.script_name}", but '
            f'"{label}" declares it in this Worker. Workflow names are unique per account, so remove '
            '"script_name" from the binding or give the export a different name.'
        )
        found.error("workflow_binding_elsewhere", text, bound.path)
        return False
    if bound.class_name != export.class_name:
        text = (
            f'"{binding}" and "{label}" both declare the Workflow "{bound.name}", but with different classes '
            f'("{bound.class_name}" and "{export.class_name}").'
        )
        found.error("workflow_class_differs", text, bound.path)
        return False
    entry = resolved.data["workflows"][bound.path[-1]]
    repeated = [key for key in SETTINGS if key in entry]
    for key in repeated:
        text = (
            f'"{binding}.{key}" configures the Workflow "{bound.name}", which "{label}" declares. '
            f'Set "{key}" on the export instead.'
        )
        found.error("workflow_settings_twice", text, (*bound.path, key))
    return not repeated


@dataclass(frozen=True, slots=True)
class _Settings:
    """Reads the settings that bindings and exports share. ``word`` is what the messages call the entry."""

    entry: Mapping[str, Any]
    path: KeyPath
    word: str
    found: Diagnostics

    def read(self) -> dict[str, Any]:
        limits = self.object("limits", {"steps"})
        concurrency = self.object("concurrency", {"limit"})
        retention = self.object("default_retention", {"success_retention", "error_retention"})
        steps = self.positive(limits, "limits", "steps")
        if steps is not None and steps > MAX_STEPS:
            self.found.warn(
                f'"{dotted(self.path)}" has a step limit of {steps}, which exceeds the production maximum of '
                f"{MAX_STEPS:,}. This configuration may not work when deployed.",
                (*self.path, "limits", "steps"),
            )
        return {
            "steps_limit": steps,
            "concurrency_limit": self.positive(concurrency, "concurrency", "limit"),
            "schedules": self.schedules(),
            "success_retention": self.retention(retention, "success_retention"),
            "error_retention": self.retention(retention, "error_retention"),
            "jurisdiction": self.jurisdiction(),
        }

    def object(self, key: str, known: set[str]) -> Mapping[str, Any]:
        value = self.entry.get(key)
        if value is None:
            return {}
        if not isinstance(value, dict):
            self.optional(key, "an object")
            return {}
        unexpected_fields(value, known, (*self.path, key), self.found)
        return value

    def positive(self, settings: Mapping[str, Any], group: str, key: str) -> int | None:
        value = settings.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            self.field(f"{group}.{key}", f"must be a positive integer but got {written(value)}.")
            return None
        return value

    def schedules(self) -> tuple[str, ...]:
        value = self.entry.get("schedules")
        if value is None:
            return ()
        if isinstance(value, str):
            if not value:
                self.field("schedules", "must not be an empty string.")
            self.cron(value, "schedules")
            return (value,)
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            self.optional("schedules", "a string or array of strings")
            return ()
        if not value:
            self.field("schedules", "must not be an empty array.")
        elif "" in value:
            self.field("schedules", "must not contain empty strings.")
        else:
            for index, text in enumerate(value):
                self.cron(text, "schedules", index)
        return tuple(value)

    def cron(self, text: str, *key: str | int) -> None:
        """wrangler takes any text here, and only the deployment fails."""
        from wrangler_compat import cron  # costs what a project without schedules need not pay

        try:
            if len(text) > MAX_SCHEDULE_LENGTH:
                raise cron.CronError(f"it has {len(text)} characters, and {MAX_SCHEDULE_LENGTH} are allowed")
            if text:
                cron.parse(text)
        except cron.CronError as error:
            shown = f"{text[:MAX_SCHEDULE_LENGTH]}..." if len(text) > MAX_SCHEDULE_LENGTH else text
            sentence = f'"{dotted((*self.path, *key))}" is no cron expression: {written(shown)}: {error}.'
            self.found.error("workflow_schedule", sentence, (*self.path, *key), CRON_HINT)

    def retention(self, settings: Mapping[str, Any], key: str) -> int | str | None:
        value = settings.get(key)
        if value is None:
            return None
        kept = milliseconds(value)
        if kept is None or kept <= 0:
            reason = (
                'must be a positive integer of milliseconds or a duration string such as "3 days", but got '
                f"{written(value)}."
            )
            self.field(f"default_retention.{key}", reason)
            return None
        if kept > MAX_RETENTION:
            self.found.warn(
                f'"{dotted(self.path)}" has a {key.replace("_", " ")} of {written(value)}, which exceeds the '
                "production maximum of 30 days. Instances are kept for 30 days.",
                (*self.path, "default_retention", key),
            )
        read: int | str = value
        return read

    def jurisdiction(self) -> str | None:
        value = self.entry.get("jurisdiction")
        if value is not None and value not in JURISDICTIONS:
            self.field("jurisdiction", f'must be one of "eu", "fedramp", or "us", but got {written(value)}.')
            return None
        return value

    def optional(self, key: str, kind: str) -> None:
        text = (
            f'"{dotted(self.path)}" {self.word} should, optionally, have {kind} "{key}" field but got '
            f"{written(self.entry)}."
        )
        self.found.error("workflow_setting", text, (*self.path, key))

    def field(self, key: str, reason: str) -> None:
        text = f'"{dotted(self.path)}" {self.word} "{key}" field {reason}'
        self.found.error("workflow_setting", text, (*self.path, *key.split(".")))
