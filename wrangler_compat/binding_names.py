"""The names on ``env``: two bindings of one name, and which kinds wrangler looks at for it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from wrangler_compat import fields
from wrangler_compat.diagnostics import Diagnostics, KeyPath
from wrangler_compat.environments import Resolved
from wrangler_compat.rendering import keys, listed

_HINT = (
    "Bindings must have unique names, so that they can all be referenced in the worker.\n"
    "Please change your bindings to have unique names."
)


def refuse_clashes(resolved: Resolved, found: Diagnostics) -> None:
    """Report every name that more than one binding has."""
    users: dict[str, list[tuple[str, KeyPath]]] = {}
    for name, kind, path in compared_names(resolved):
        users.setdefault(name, []).append((kind, path))
    for name in keys(users):
        kinds = [kind for kind, _ in users[name]]
        different = list(dict.fromkeys(kinds))
        path = users[name][-1][1]
        if len(different) > 1:
            found.error("binding_name_repeated", f"{name} assigned to {listed(different)} bindings.", path, _HINT)
        for kind in different:
            if kinds.count(kind) > 1:
                text = f"{name} assigned to multiple {kind} bindings."
                found.error("binding_name_repeated", text, path, _HINT)


def compared_names(resolved: Resolved) -> Iterator[tuple[str, str, KeyPath]]:
    """Every name that wrangler compares, with what wrangler calls its kind and where it is written."""
    for key, kind in fields.KINDS.items():
        value, path = resolved.data.get(key), resolved.path_of(key)
        if key == "queues":
            value, path = value.get("producers") if isinstance(value, dict) else None, (*path, "producers")
        for name, below in _names_in(value):
            yield name, kind, (*path, *below)
    secrets = resolved.data.get("secrets")
    required = secrets.get("required") if isinstance(secrets, dict) else None
    for index, name in enumerate(required if isinstance(required, list) else ()):
        if isinstance(name, str):
            yield name, "Secret", (*resolved.path_of("secrets"), "required", index)


def _names_in(value: Any) -> Iterator[tuple[str, KeyPath]]:
    """The names in one key, whatever its shape, by wrangler's rule: a list counts only when all of it is in order."""
    if isinstance(value, list):
        if all(_named(entry, "binding") for entry in value):
            yield from ((entry["binding"], (index, "binding")) for index, entry in enumerate(value))
    elif isinstance(value, dict):
        entries = value.get("bindings")
        if isinstance(entries, list) and all(_named(entry, "name") for entry in entries):
            yield from ((entry["name"], ("bindings", index, "name")) for index, entry in enumerate(entries))
        elif "binding" in value:
            if isinstance(value["binding"], str):
                yield value["binding"], ("binding",)
        else:
            yield from ((key, (key,)) for key in keys(value))


def _named(entry: Any, key: str) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get(key), str)
