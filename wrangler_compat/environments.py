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
from wrangler_compat.rendering import keys, written

ENVIRONMENT_VARIABLE = "CLOUDFLARE_ENV"


@dataclass(frozen=True, slots=True)
class Resolved:
    """The configuration of one environment. ``path_of`` says where in the file a top-level key came from."""

    environment: str | None
    data: dict[str, Any]
    own: frozenset[str]  # keys that the environment's own block holds
    block: Mapping[str, Any] | None = None  # that block, where there is one

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
    """Flatten ``data`` for ``environment``; findings go to ``found``.

    An environment that cannot be used is an error, and the top level is then read in its place.
    """
    top = {key: value for key, value in data.items() if key != "env"}
    if environment is None:
        return Resolved(None, top, frozenset())
    blocks = data.get("env")
    block = blocks.get(environment) if isinstance(blocks, dict) else None
    if not isinstance(block, dict):
        _report_missing(blocks, environment, found)
        return Resolved(environment, _renamed(top, environment), frozenset())
    _warn_not_inherited(data, block, environment, found)
    given = frozenset(key for key, value in block.items() if value is not None)
    return Resolved(environment, _merged(top, block, environment), given, block)


def _report_missing(blocks: Any, environment: str, found: Diagnostics) -> None:
    if blocks and not isinstance(blocks, dict):
        found.error("env_shape", f'"env" should be an object but got {written(blocks)}.', ("env",), "Name them: {}.")
        return
    if blocks and environment in blocks:
        text = f'"env.{environment}" should be an object but got {written(blocks[environment])}.'
        found.error("env_shape", text, ("env", environment), f'Write "{environment}": {{ ... }}.')
        return
    text = f'No environment found in configuration with name "{environment}".'
    should = (
        f"Before using `--env={environment}` there should be an equivalent environment section in the configuration."
    )
    if blocks is None:
        found.warn(text, (), f"{should} The top level is used.", "env_unknown")
        return
    names = written(list(keys(blocks)))
    hint = f"{should}\nThe available configured environment names are: {names}"
    found.error("env_unknown", text, ("env",), hint)


def _merged(top: dict[str, Any], block: Mapping[str, Any], environment: str) -> dict[str, Any]:
    merged = {key: value for key, value in top.items() if key not in fields.NOT_INHERITABLE}
    own = {key: value for key, value in block.items() if value is not None and key not in fields.TOP_LEVEL_ONLY}
    named = merged if "name" in own else _renamed(merged, environment)
    return {**named, **own}


def _renamed(top: dict[str, Any], environment: str) -> dict[str, Any]:
    name = top.get("name")
    return {**top, "name": f"{name}-{environment}"} if name and isinstance(name, str) else top


def _warn_not_inherited(
    data: Mapping[str, Any], block: Mapping[str, Any], environment: str, found: Diagnostics
) -> None:
    for field in fields.TABLE:
        key = field.name
        if field.inheritance != "own" or key not in data:
            continue
        if key not in block:
            text = f'"{key}" exists at the top level, but not on "env.{environment}".'
            hint = (
                f'This is not what you probably want, since "{key}" is not inherited by environments.\n'
                f'Please add "{key}" to "env.{environment}".'
            )
            found.warn(text, ("env", environment), hint, "not_inherited")
        else:
            _warn_lost_parts(field, data[key], block[key], environment, found)


def _warn_lost_parts(field: fields.Field, top: Any, own: Any, environment: str, found: Diagnostics) -> None:
    key, path = field.name, ("env", environment, field.name)
    if field.shape in ("vars", "defines") and isinstance(top, dict) and isinstance(own, dict):
        lost = [name for name in keys(top) if name not in own]
        word = "vars" if field.shape == "vars" else "entries"
        _warn_lost_names(key, word, lost, environment, path, found)
    elif field.shape == "durable_objects" and isinstance(top, dict) and isinstance(own, dict):
        kept = _names(own.get("bindings"), "name")
        lost = [name for name in _names(top.get("bindings"), "name") if name not in kept]
        if lost:
            text = f'The following bindings are at the top level, but not on "env.{environment}".'
            hint = (
                f'This is not what you probably want, since "{key}" configuration is not inherited by environments.\n'
                f'Please add a binding for each to "env.{environment}.{key}.bindings":\n' + _bulleted(lost)
            )
            found.warn(text, path, hint, "not_inherited")
    elif field.shape in ("bindings", "workflows"):
        kept = _names(own, "binding")
        for name in _names(top, "binding"):
            if isinstance(own, list) and name not in kept:
                _warn_lost_binding(key, name, environment, found)


def _warn_lost_names(key: str, word: str, lost: list[str], environment: str, path: KeyPath, found: Diagnostics) -> None:
    if lost:
        what = "vars" if word == "vars" else f"{key} entries"
        text = f'The following {what} exist at the top level, but not on "env.{environment}.{key}".'
        hint = (
            f'This is probably not what you want, since "{key}" configuration is not inherited by environments.\n'
            f'Please add these {word} to "env.{environment}.{key}":\n' + _bulleted(lost)
        )
        found.warn(text, path, hint, "not_inherited")


def _warn_lost_binding(key: str, name: str, environment: str, found: Diagnostics) -> None:
    text = f'There is a {key} binding with name "{name}" at the top level, but not on "env.{environment}".'
    hint = (
        f'This is not what you probably want, since "{key}" configuration is not inherited by environments.\n'
        f'Please add a binding for "{name}" to "env.{environment}.{key}".'
    )
    found.warn(text, ("env", environment, key), hint, "not_inherited")


def _bulleted(names: list[str]) -> str:
    return "\n".join(f"- {name}" for name in names)


def _names(entries: Any, key: str) -> list[str]:
    names = (entry.get(key) for entry in entries if isinstance(entry, dict)) if isinstance(entries, list) else ()
    return [name for name in names if isinstance(name, str)]
