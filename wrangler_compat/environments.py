"""Chooses a named environment and flattens the configuration to what holds in it.

Inheritable keys come from the environment, else from the top level, never merged. Bindings and ``vars`` are
not inherited: production data must not leak into an environment that did not ask for it, so what is lost is
named.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from wrangler_compat import fields
from wrangler_compat.diagnostics import Diagnostics, KeyPath

ENVIRONMENT_VARIABLE = "CLOUDFLARE_ENV"


@dataclass(frozen=True, slots=True)
class Resolved:
    """The configuration of one environment. ``path_of`` says where in the file a top-level key came from."""

    environment: str | None
    data: dict[str, Any]
    own: frozenset[str]  # keys that the environment's own block holds

    def path_of(self, key: str) -> KeyPath:
        """The key path in the file: ``env.prod.workflows`` when the environment has its own."""
        if self.environment is not None and key in self.own:
            return ("env", self.environment, key)
        return (key,)


def chosen_environment(option: str | None, environ: Mapping[str, str]) -> str | None:
    """``--env``, else CLOUDFLARE_ENV; an empty name means the top level, also against the variable."""
    name = option if option is not None else environ.get(ENVIRONMENT_VARIABLE)
    return name or None


def resolve(data: Mapping[str, Any], environment: str | None, found: Diagnostics) -> Resolved:
    """Flatten ``data`` for ``environment``; findings go to ``found``, which is raised when the name is unknown."""
    top = {key: value for key, value in data.items() if key != "env"}
    if environment is None:
        return Resolved(None, top, frozenset())
    blocks = data.get("env")
    if blocks is None:
        text = f'There is no "env" in the configuration: the top level is used for "{environment}".'
        found.warn(text, hint=f"Add an env.{environment} block, or leave the environment out.")
        return Resolved(environment, _renamed(top, environment), frozenset())
    block = _block(blocks, environment, found)
    found.raise_errors()
    _warn_top_level_only(block, environment, found)
    _warn_not_inherited(top, block, environment, found)
    return Resolved(environment, _merged(top, block, environment), frozenset(block))


def _block(blocks: Any, environment: str, found: Diagnostics) -> dict[str, Any]:
    if not isinstance(blocks, dict):
        found.error("env_shape", '"env" should be an object of environments.', ("env",))
        return {}
    if environment not in blocks:
        known = ", ".join(f'"{name}"' for name in blocks) or "none"
        text = f'There is no environment "{environment}". Known environments: {known}.'
        hint = f"Choose one of them, add an env.{environment} block, or leave --env and CLOUDFLARE_ENV out."
        found.error("env_unknown", text, ("env",), hint)
        return {}
    block = blocks[environment]
    if not isinstance(block, dict):
        found.error("env_shape", f'"env.{environment}" should be an object.', ("env", environment))
        return {}
    return {key: value for key, value in block.items() if value is not None}


def _merged(top: dict[str, Any], block: dict[str, Any], environment: str) -> dict[str, Any]:
    merged = {key: value for key, value in top.items() if key not in fields.NOT_INHERITABLE}
    named = merged if "name" in block else _renamed(merged, environment)
    return {**named, **{key: value for key, value in block.items() if key not in fields.TOP_LEVEL_ONLY}}


def _renamed(top: dict[str, Any], environment: str) -> dict[str, Any]:
    name = top.get("name")
    return {**top, "name": f"{name}-{environment}"} if isinstance(name, str) else top


def _warn_top_level_only(block: dict[str, Any], environment: str, found: Diagnostics) -> None:
    for key in block.keys() & fields.TOP_LEVEL_ONLY:
        text = f'"{key}" is only read at the top level: the one in "env.{environment}" is ignored.'
        found.warn(text, ("env", environment, key))


def _warn_not_inherited(top: dict[str, Any], block: dict[str, Any], environment: str, found: Diagnostics) -> None:
    lost = [key for key in top if key in fields.NOT_INHERITABLE and top[key]]
    for key in lost:
        if key not in block:
            text = f'"{key}" exists at the top level, but not on "env.{environment}".'
            hint = f'"{key}" is not inherited by environments. Add it to "env.{environment}" if it is needed.'
            found.warn(text, (key,), hint)
    _warn_lost_vars(top.get("vars"), block.get("vars"), environment, found)
    _warn_lost_workflows(top.get("workflows"), block.get("workflows"), environment, found)


def _warn_lost_vars(top: Any, own: Any, environment: str, found: Diagnostics) -> None:
    if not isinstance(top, dict) or not isinstance(own, dict):
        return
    for name in top.keys() - own.keys():
        text = f'"vars.{name}" exists at the top level, but not on "env.{environment}.vars".'
        hint = f'"vars" is not inherited. Add "{name}" to "env.{environment}.vars" if it is needed.'
        found.warn(text, ("vars", name), hint)


def _warn_lost_workflows(top: Any, own: Any, environment: str, found: Diagnostics) -> None:
    if not isinstance(top, list) or not isinstance(own, list):
        return
    kept = _bindings(own)
    for name in _bindings(top):
        if name not in kept:
            text = f'There is a workflows binding with name "{name}" at the top level, but not on "env.{environment}".'
            hint = f'"workflows" is not inherited. Add it to "env.{environment}.workflows" if it is needed.'
            found.warn(text, ("workflows",), hint)


def _bindings(entries: list[Any]) -> list[str]:
    names = (entry.get("binding") for entry in entries if isinstance(entry, dict))
    return [name for name in names if isinstance(name, str)]
