"""What the lists of bindings must hold: those of Workflows are in `workflows`."""

from __future__ import annotations

from wrangler_compat import fields
from wrangler_compat.rendering import unexpected_fields
from wrangler_compat.spots import Spot

# Lists whose entries are looked into: what wrangler calls them, and the strings that an entry needs.
_REQUIRED: dict[str, tuple[str, tuple[str, ...]]] = {
    "kv_namespaces": ("kv_namespaces", ("binding",)),
    "d1_databases": ("d1_databases", ("binding",)),
    "r2_buckets": ("r2_buckets", ("binding",)),
    "services": ("services", ("binding", "service")),
    "queues.producers": ("queue", ("binding",)),
}

# What wrangler calls the other lists whose name differs from their key.
_CALLED = {
    "analytics_engine_datasets": "analytics_engine",
    "pipelines": "pipeline",
    "worker_loaders": "worker_loader",
}
_NAME_ONLY = frozenset({"analytics", "browser", "images", "media", "stream"})  # kinds with nothing to set


def is_list(spot: Spot) -> bool:
    """Whether the value is a list; an error when it is not."""
    if isinstance(spot.value, list):
        return True
    hint = 'Write a list: [{ "binding": "NAME", ... }], in TOML [[tables]].'
    spot.error("field_type", f'The field "{spot.label}" should be an array but got {spot.shown}.', hint)
    return False


def is_object(spot: Spot) -> bool:
    """Whether the value is an object; an error when it is not."""
    if isinstance(spot.value, dict):
        return True
    hint = "Write an object: { ... }, in TOML a [table]."
    spot.error("field_type", f'The field "{spot.label}" should be an object but got {spot.shown}.', hint)
    return False


def bindings(spot: Spot, key: str) -> None:
    """A list of bindings. ``key`` is its name in the tables of `fields`."""
    if not is_list(spot):
        return
    for entry in spot.items():
        _entry(entry, key)


def _entry(entry: Spot, key: str) -> None:
    called, required = _REQUIRED.get(key, (_CALLED.get(key, key), ()))
    if not isinstance(entry.value, dict | list):
        reason = f'"{called}" bindings should be objects, but got {entry.shown}'
        entry.error("binding_shape", reason, 'Write { "binding": "NAME", ... }.')
        return
    for name in required:
        if not entry.has(name, "string"):
            reason = f'"{entry.label}" bindings should have a string "{name}" field but got {entry.shown}.'
            entry.error("binding_field_missing", reason, f'Add "{name}": a string.')
    if key in fields.ENTRY_KEYS:
        entry.only(fields.ENTRY_KEYS[key])


def binding(spot: Spot, _: str) -> None:
    """The only binding of its kind."""
    if not is_object(spot):
        return
    key = str(spot.path[-1])
    if not spot.has("binding", "string"):
        reason = 'binding should have a string "binding" field.'
        spot.error("binding_field_missing", reason, f'Write "{key}": {{ "binding": "NAME" }}.')
    if key in _NAME_ONLY:
        unexpected_fields(spot.value, {"binding", "remote"}, spot.path, spot.found, key)


def durable_objects(spot: Spot, _: str) -> None:
    """The bindings to Durable Object classes."""
    if not is_object(spot):
        return
    spot.only({"bindings", "code_update_strategy"})
    entries = spot["bindings"]
    if not entries.present or not is_list(entries):
        return
    for entry in entries.items():
        if not isinstance(entry.value, dict | list):
            reason = f'Expected "{entry.label}" to be an object but got {entry.shown}'
            entry.error("binding_shape", reason, 'Write { "name": "ROOM", "class_name": "Room" }.')
            continue
        for name in ("name", "class_name"):
            if not entry.has(name, "string"):
                reason = f'binding should have a string "{name}" field.'
                entry.error("binding_field_missing", reason, f'Add "{name}": a string.')
        entry.only(fields.ENTRY_KEYS["durable_objects.bindings"])


def queues(spot: Spot, _: str) -> None:
    """Queues that the Worker sends to and gets from."""
    if not is_object(spot):
        return
    spot.only({"consumers", "producers"})
    if spot["producers"].present:
        bindings(spot["producers"], "queues.producers")
    consumers = spot["consumers"]
    if not consumers.present or not is_list(consumers):
        return
    for entry in consumers.items():
        if not isinstance(entry.value, dict | list):
            reason = f'"{entry.label}" should be a objects, but got {entry.shown}'
            entry.error("binding_shape", reason, 'Write { "queue": "name" }.')
            continue
        entry.only(fields.ENTRY_KEYS["queues.consumers"])
        if not entry.has("queue", "string"):
            reason = f'"{entry.label}" should have a string "queue" field but got {entry.shown}.'
            entry.error("binding_field_missing", reason, 'Add "queue": the name of the queue.')
