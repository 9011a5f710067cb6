"""The ``exports`` map: what the Worker's classes are, checked in wrangler's words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from wrangler_compat.diagnostics import Diagnostics, KeyPath
from wrangler_compat.rendering import keys, listed
from wrangler_compat.spots import Spot
from wrangler_compat.workflow_settings import NAME_FORMAT, NAME_HINT, SETTINGS, check_settings, is_workflow_name

_STORAGES = ("sqlite", "legacy-kv")
_IDENTIFIER = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
_TYPE_HINT = 'Write "type": "workflow" for a WorkflowEntrypoint class.'

# The keys that an entry for a Durable Object class has beside its type, by its state; those with a star it needs.
_STATES: dict[str, tuple[str, ...]] = {
    "created": ("state", "storage*", "container"),
    "deleted": ("state",),
    "renamed": ("state", "renamed_to*"),
    "transferred": ("state", "transferred_to*"),
    "expecting-transfer": ("state", "storage*", "transfer_from*", "container"),
}


def check_exports(spot: Spot, _: str) -> None:
    """Check the whole map; null is none, as in wrangler."""
    if spot.value is None:
        return
    if not isinstance(spot.value, dict):
        text = f'The optional "exports" field should be an object keyed by class name, but got {spot.shown}'
        spot.error("exports_shape", text, 'Write "exports": { "ClassName": { "type": "workflow", "name": "..." } }.')
        return
    for _class, entry in spot.entries():
        _check_entry(entry)


def check_repeated_names(entries: Any, path: KeyPath, found: Diagnostics) -> None:
    """Two exports of one workflow name."""
    first: dict[str, str] = {}
    for class_name in keys(entries) if isinstance(entries, dict) else ():
        name = workflow_name(entries[class_name])
        if name is None:
            continue
        if (before := first.setdefault(name, class_name)) != class_name:
            text = (
                f'"exports.{before}" and "exports.{class_name}" both declare the Workflow "{name}". Workflow names '
                "must be unique."
            )
            hint = f"Give the Workflow of {class_name} another name."
            found.error("workflow_name_repeated", text, (*path, class_name), hint)


def check_migrations(data: Mapping[str, Any], path: KeyPath, found: Diagnostics) -> None:
    """Durable Objects are declared by ``migrations`` or by ``exports``, not by both."""
    migrations, exports = data.get("migrations"), data.get("exports")
    if isinstance(migrations, list) and migrations and isinstance(exports, dict):
        kinds = [entry.get("type") for entry in exports.values() if isinstance(entry, dict)]
        if "durable-object" in kinds:
            text = (
                "`migrations` and `exports` are mutually exclusive. Choose one or the other to declare your Durable "
                "Object lifecycle, but not both."
            )
            found.error("migrations_and_exports", text, path, "Move the Durable Object entries to one of the two.")


def workflow_name(entry: Any) -> str | None:
    """The workflow that an entry of the map declares, if it does."""
    if not isinstance(entry, dict) or entry.get("type") != "workflow":
        return None
    name = entry.get("name")
    return name if isinstance(name, str) else None


def _check_entry(entry: Spot) -> None:
    if not isinstance(entry.value, dict | list):
        text = f'"{entry.label}" should be an object but got {entry.shown}.'
        entry.error("export_shape", text, 'Write { "type": "workflow", "name": "..." }.')
        return
    kind = entry["type"]
    if kind.value == "workflow":
        _workflow(entry)
    elif kind.value == "worker":
        _worker(entry)
    elif kind.value == "durable-object":
        _durable_object(entry)
    else:
        text = f'"{kind.label}" must be "durable-object", "worker", or "workflow", but got {kind.shown}.'
        kind.error("export_type", text, _TYPE_HINT)


def _workflow(entry: Spot) -> None:
    name = entry["name"]
    name.require("string")
    if isinstance(name.value, str) and not is_workflow_name(name.value):
        name.error("workflow_name", f'"{name.label}" is invalid. {NAME_FORMAT}', NAME_HINT)
    check_settings(entry, "export")
    entry.only({"type", "name", *SETTINGS})


def _worker(entry: Spot) -> None:
    entry.only({"type", "cache"})
    cache = entry["cache"]
    if not cache.present:
        return
    if not isinstance(cache.value, dict):
        text = f'"{cache.label}" should be an object but got {cache.shown}.'
        cache.error("field_type", text, 'Write "cache": { "enabled": true }.')
        return
    cache["enabled"].require("boolean")
    cache.only({"enabled"})


def _durable_object(entry: Spot) -> None:
    state = entry["state"].value if entry["state"].present else "created"
    if not isinstance(state, str) or state not in _STATES:
        allowed = '"created", "deleted", "renamed", "transferred", or "expecting-transfer"'
        text = f'"{entry.label}.state" must be one of {allowed} but got {entry["state"].shown}.'
        entry["state"].error("export_state", text, "Write one of them; without the key it is created.")
        return
    for key in _STATES[state]:
        if key.endswith("*"):
            _needed(entry[key[:-1]], state)
    if "container" in _STATES[state] and entry["container"].present:
        _container(entry)
    _forbidden(entry, state)


def _needed(spot: Spot, state: str) -> None:
    if spot.path[-1] == "storage":
        if spot.value not in _STORAGES:
            text = (
                f'"{spot.label}" is required for state "{state}" and must be one of {listed(_STORAGES)}, but got '
                f"{spot.shown}"
            )
            spot.error("export_storage", text, 'Write "storage": "sqlite".')
        return
    if not isinstance(spot.value, str) or not spot.value:
        text = f'"{spot.label}" is required for state "{state}" and must be a non-empty string.'
        spot.error("field_missing", text, f'Add "{spot.path[-1]}".')
    elif spot.path[-1] == "renamed_to":
        _renamed(spot)


def _renamed(spot: Spot) -> None:
    class_name = str(spot.path[-2])
    if not _IDENTIFIER.fullmatch(spot.value):
        text = f'"{spot.label}" must be a valid JavaScript identifier (got "{spot.value}").'
        spot.error("export_renamed", text, "Write the name of the class.")
    if spot.value == class_name:
        text = f'"{spot.label}" cannot equal the source class name "{class_name}".'
        spot.error("export_renamed", text, "Write the new name of the class.")


def _container(entry: Spot) -> None:
    container = entry["container"]
    if not isinstance(container.value, str) or not container.value:
        text = f'"{container.label}" must be a non-empty string naming a container in the "containers" array, but got '
        container.error("export_container", f"{text}{container.shown}.", "Name one, or leave the key out.")
    elif entry["storage"].value == "legacy-kv":
        text = (
            f'"{container.label}" requires "storage" to be "sqlite". Containers are not supported on Durable Objects '
            'using the "legacy-kv" storage backend.'
        )
        container.error("export_container", text, 'Write "storage": "sqlite".')


def _forbidden(entry: Spot, state: str) -> None:
    allowed = ["type", *(key.rstrip("*") for key in _STATES[state])]
    for key, below in entry.entries():
        if key not in allowed:
            text = f'"{below.label}" is forbidden on state "{state}".'
            below.error("export_key_forbidden", text, f"Allowed properties are: {listed(allowed)}.")
