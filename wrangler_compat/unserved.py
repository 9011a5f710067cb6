"""Names what the configuration asks for and this runtime does not do, with what that means for the developer.

A runner that ignores a key in silence is found out in production. So: one warning per key, the consequence in
it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from wrangler_compat import fields
from wrangler_compat.diagnostics import Diagnostics, KeyPath, dotted
from wrangler_compat.environments import Resolved
from wrangler_compat.workflows import WorkflowDeclaration

_DEV_OPTIONS = {"port": "--port", "ip": "--ip"}


def warn_unserved(resolved: Resolved, workflows: Iterable[WorkflowDeclaration], found: Diagnostics) -> None:
    """Report every key whose meaning a run here leaves out."""
    for key, value in resolved.data.items():
        if key not in fields.KNOWN:
            _warn_unknown(key, resolved, found)
        elif key in fields.SINGLE_BINDINGS:
            _warn_single(key, value, resolved, found)
    for dotted_key, (name_key, _) in fields.BINDING_LISTS.items():
        if dotted_key != "workflows":
            _warn_list(dotted_key, name_key, resolved, found)
    for dotted_key, consequence in fields.CONSEQUENCES.items():
        path, value = _lookup(dotted_key, resolved)
        if value:
            found.warn(f"{dotted(path)}: {consequence}", path)
    for workflow in workflows:
        _warn_workflow(workflow, found)
    _warn_exports(resolved, found)
    _warn_dev(resolved.data.get("dev"), found)


def binding_names(resolved: Resolved) -> Iterator[tuple[str, str]]:
    """Every name on ``env`` with the kind that wrangler calls it, in the order of the kinds."""
    variables = resolved.data.get("vars")
    if isinstance(variables, dict):
        yield from ((name, "Environment Variable") for name in variables)
    for key, kind in fields.SINGLE_BINDINGS.items():
        entry = resolved.data.get(key)
        if isinstance(entry, dict) and isinstance(entry.get("binding"), str):
            yield entry["binding"], kind
    for dotted_key, (name_key, kind) in fields.BINDING_LISTS.items():
        yield from ((name, kind) for name in _names(_lookup(dotted_key, resolved)[1], name_key))


def _lookup(dotted_key: str, resolved: Resolved) -> tuple[KeyPath, Any]:
    """The path in the file and the value of a key such as ``queues.producers``."""
    first, *rest = dotted_key.split(".")
    value = resolved.data.get(first)
    for part in rest:
        value = value.get(part) if isinstance(value, dict) else None
    return (*resolved.path_of(first), *rest), value


def _names(entries: Any, name_key: str) -> list[str]:
    if not isinstance(entries, list):
        return []
    names = (entry.get(name_key) for entry in entries if isinstance(entry, dict))
    return [name for name in names if isinstance(name, str)]


def _warn_list(dotted_key: str, name_key: str, resolved: Resolved, found: Diagnostics) -> None:
    path, value = _lookup(dotted_key, resolved)
    if names := _names(value, name_key):
        found.warn(f"{dotted(path)}: {_missing(names)}", path)
    elif value:
        found.warn(f"{dotted(path)}: its bindings will be missing from env", path)


def _warn_single(key: str, value: Any, resolved: Resolved, found: Diagnostics) -> None:
    if isinstance(value, dict) and isinstance(value.get("binding"), str):
        found.warn(f"{key}: {_missing([value['binding']])}", resolved.path_of(key))


def _missing(names: list[str]) -> str:
    listed = ", ".join(f"env.{name}" for name in names)
    return f"{listed} will be missing; code that uses {'it' if len(names) == 1 else 'them'} will fail"


def _warn_unknown(key: str, resolved: Resolved, found: Diagnostics) -> None:
    from difflib import get_close_matches  # costs the start-up more than the whole reading of a right file

    near = get_close_matches(key, fields.KNOWN, 1)
    hint = f'Did you mean "{near[0]}"?' if near else None
    path = resolved.path_of(key)
    found.warn(f"{dotted(path)}: unknown key; nothing reads it", path, hint)


def _warn_workflow(workflow: WorkflowDeclaration, found: Diagnostics) -> None:
    label, path = dotted(workflow.path), workflow.path
    if workflow.script_name:
        text = (
            f"{label}.script_name: env.{workflow.binding} will be missing, because the workflow lives in the "
            f'Worker "{workflow.script_name}"; code that uses it will fail'
        )
        found.warn(text, (*path, "script_name"))


def _warn_exports(resolved: Resolved, found: Diagnostics) -> None:
    exports = resolved.data.get("exports")
    if not isinstance(exports, dict):
        return
    for name, entry in exports.items():
        kind = entry.get("type") if isinstance(entry, dict) else None
        path = (*resolved.path_of("exports"), name)
        if kind == "durable-object":
            found.warn(f"{dotted(path)}: the Durable Object class {name} cannot be reached", path)
        elif kind == "worker":
            found.warn(f"{dotted(path)}: the settings of the entrypoint {name} are not applied", path)


def _warn_dev(dev: Any, found: Diagnostics) -> None:
    if not isinstance(dev, Mapping):
        return
    for key, value in dev.items():
        option = _DEV_OPTIONS.get(key)
        hint = f"Pass {option} {value}." if option else None
        found.warn(f"dev.{key}: not read", ("dev", key), hint)
