"""Names what the configuration asks for and this runtime does not do, with what that means for the developer.

A runner that ignores a key in silence is found out in production; one that says a line for each is not read. So: one
line for all of them, the consequences in it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from wrangler_compat import fields
from wrangler_compat.binding_names import compared_names
from wrangler_compat.diagnostics import Diagnostics, KeyPath, dotted
from wrangler_compat.environments import Resolved
from wrangler_compat.workflows import WorkflowDeclaration

CODE = "unserved"
_DEV_OPTIONS = {"port": "--port", "ip": "--ip"}


def warn_unserved(
    resolved: Resolved, workflows: Iterable[WorkflowDeclaration], language: str, found: Diagnostics
) -> None:
    """Report, in one warning, every key whose meaning a run here leaves out.

    What JavaScript has of other Workers depends on which of them are started with it, so it is not known here.
    """
    if language == "javascript":
        served = fields.SERVED_TO_JAVASCRIPT
        parts = [*_bindings(resolved, served), *_fields(resolved, served), *_entrypoints(resolved)]
    else:
        parts = [*_bindings(resolved), *_fields(resolved), *_foreign(workflows), *_exports(resolved)]
    if parts:
        told = "; ".join(f"{dotted(path)} ({consequence})" for path, consequence in parts)
        hint = "The rest of the project runs. Code that uses what is missing will fail."
        found.warn(f"Not served here: {told}", parts[0][0], hint, CODE)
    _warn_dev(resolved.data.get("dev"), found)


def binding_names(resolved: Resolved) -> Iterator[tuple[str, str]]:
    """Every name on ``env`` with what wrangler calls its kind, also those that it does not compare."""
    yield from ((name, kind) for name, kind, _ in compared_names(resolved))
    for key, kind in (("ratelimits", "Rate Limit"), ("send_email", "Send Email")):
        yield from ((name, kind) for name in _names(resolved.data.get(key), "name"))


def _bindings(resolved: Resolved, served: Collection[str] = ()) -> Iterator[tuple[KeyPath, str]]:
    for key in fields.SINGLE_BINDINGS:
        value = resolved.data.get(key)
        if key not in served and isinstance(value, dict) and isinstance(value.get("binding"), str):
            yield resolved.path_of(key), _missing([value["binding"]])
    for dotted_key, name_key in fields.BINDING_LISTS.items():
        path, value = _lookup(dotted_key, resolved)
        if dotted_key not in served and (names := _names(value, name_key)):
            yield path, _missing(names)


def _fields(resolved: Resolved, served: Collection[str] = ()) -> Iterator[tuple[KeyPath, str]]:
    unserved = {field.name: field.unserved for field in fields.TABLE if field.unserved}
    for dotted_key, consequence in (unserved | fields.UNSERVED_PARTS).items():
        path, value = _lookup(dotted_key, resolved)
        if value and dotted_key not in served:
            yield path, consequence


def _foreign(workflows: Iterable[WorkflowDeclaration]) -> Iterator[tuple[KeyPath, str]]:
    for workflow in workflows:
        if workflow.script_name:
            where = f'the workflow lives in the Worker "{workflow.script_name}"'
            yield (*workflow.path, "script_name"), f"env.{workflow.binding} will be missing: {where}"


def _exports(resolved: Resolved) -> Iterator[tuple[KeyPath, str]]:
    for path, name in _exported("durable-object", resolved):
        yield path, f"the Durable Object class {name} cannot be reached"
    yield from _entrypoints(resolved)


def _entrypoints(resolved: Resolved) -> Iterator[tuple[KeyPath, str]]:
    for path, name in _exported("worker", resolved):
        yield path, f"the settings of the entrypoint {name} are not applied"


def _exported(kind: str, resolved: Resolved) -> Iterator[tuple[KeyPath, str]]:
    exports = resolved.data.get("exports")
    for name, entry in exports.items() if isinstance(exports, dict) else ():
        if isinstance(entry, dict) and entry.get("type") == kind:
            yield (*resolved.path_of("exports"), name), name


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


def _missing(names: list[str]) -> str:
    return f"{', '.join(f'env.{name}' for name in names)} will be missing"


def _warn_dev(dev: Any, found: Diagnostics) -> None:
    """Options of wrangler's server: ours come from the command line, and each has its own."""
    for key, value in dev.items() if isinstance(dev, dict) else ():
        option = _DEV_OPTIONS.get(key)
        if key in fields.DEV_TYPES:
            found.warn(f"dev.{key}: not read", ("dev", key), f"Pass {option} {value}." if option else None, CODE)
