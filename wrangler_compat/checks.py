"""Checks a configuration block by block, as wrangler does: the whole top level, then the chosen environment.

The top level is checked also when an environment is chosen and nothing of it is inherited: wrangler would refuse the
file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from wrangler_compat import binding_shapes, fields, shapes
from wrangler_compat.diagnostics import Diagnostics, KeyPath
from wrangler_compat.environments import Resolved
from wrangler_compat.exports import check_exports, check_migrations, check_repeated_names
from wrangler_compat.rendering import unexpected_fields
from wrangler_compat.spots import Spot
from wrangler_compat.workflows import check_workflows

_LEGACY_ENV = "https://developers.cloudflare.com/workers/wrangler/environments/"

_NAMED_CHECKS: dict[fields.Shape, Callable[[Spot, str], None]] = {
    "binding": binding_shapes.binding,
    "bindings": binding_shapes.bindings,
    "durable_objects": binding_shapes.durable_objects,
    "exports": check_exports,
    "queues": binding_shapes.queues,
    "workflows": check_workflows,
}


def check(data: Mapping[str, Any], resolved: Resolved, found: Diagnostics) -> None:
    """Check everything that wrangler checks when it reads the file."""
    _check_block(data, (), found)
    unexpected_fields(data, fields.KNOWN, (), found, "top-level")
    check_migrations(data, ("migrations",), found)
    check_repeated_names(data.get("exports"), ("exports",), found)
    if "legacy_env" in data:
        _refuse_legacy_env(found)
    if resolved.block is not None and resolved.environment is not None:
        _check_environment(resolved, resolved.block, ("env", resolved.environment), found)


def _check_environment(resolved: Resolved, block: Mapping[str, Any], path: KeyPath, found: Diagnostics) -> None:
    _check_block(block, path, found)
    allowed = fields.INHERITABLE | fields.NOT_INHERITABLE
    unexpected_fields(block, allowed, path, found, f"env.{resolved.environment}")
    if {"migrations", "exports"} & resolved.own:
        check_migrations(resolved.data, (*path, min({"migrations", "exports"} & resolved.own)), found)
    if "exports" in resolved.own:
        check_repeated_names(block.get("exports"), (*path, "exports"), found)


def _check_block(block: Mapping[str, Any], path: KeyPath, found: Diagnostics) -> None:
    for field in fields.TABLE:
        if field.name not in block or (path and field.inheritance == "top"):
            continue
        spot = Spot(block[field.name], _label(field, path), (*path, field.name), found)
        if named := _NAMED_CHECKS.get(field.shape):
            named(spot, field.name)
        elif plain := shapes.CHECKS.get(field.shape):
            plain(spot)
        elif field.name == "unsafe":
            text = '"unsafe" fields are experimental and may change or break at any time.'
            spot.warn("experimental", text, "Nothing here reads them.")


def _label(field: fields.Field, path: KeyPath) -> str:
    """wrangler names some keys of an environment in full, and others as at the top level."""
    full = path and field.shape in shapes.FULL_LABELS
    return f"env.{path[1]}.{field.name}" if full else field.name


def _refuse_legacy_env(found: Diagnostics) -> None:
    text = 'The "legacy_env" field is no longer supported, so please remove it from your configuration file.'
    hint = (
        "Service environments have been removed, and each environment is now deployed as its own Worker named "
        '"<name>-<environment>". This matches the behaviour of "legacy_env = true", which was the default, so removing '
        f"the field will not change how your Worker is deployed.\nRefer to {_LEGACY_ENV} for more information."
    )
    found.error("legacy_env", text, ("legacy_env",), hint)
