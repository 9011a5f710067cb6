"""Compares the settings that code declares with those of a configuration.

Settings that mean the same are the same: a single schedule and a list of it, schedules in another order, three days as
a text and as milliseconds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from wrangler_compat.diagnostics import KeyPath
from wrangler_compat.durations import milliseconds
from wrangler_compat.rendering import written

ORDER = ("limits", "concurrency", "schedules", "default_retention", "jurisdiction")
DECLARABLE = ORDER[:-1]  # a jurisdiction is the configuration's own


def merged(current: Mapping[str, Any], declared: Mapping[str, Any]) -> dict[str, Any]:
    """The current settings with what code declares differently; nothing is taken away."""
    return {**current, **{key: _merged(key, current.get(key), value) for key, value in declared.items()}}


def changes(current: Mapping[str, Any], declared: Mapping[str, Any]) -> Iterator[tuple[KeyPath, Any, Any]]:
    """The innermost values that code declares differently: key path, old value (None where there was none), new one."""
    for key, value in declared.items():
        old = current.get(key)
        if isinstance(old, dict) and isinstance(value, dict):
            for part, new in value.items():
                if not same(part, old.get(part), new):
                    yield (key, part), old.get(part), new
        elif not same(key, old, value):
            yield (key,), old, value


def undeclared(current: Mapping[str, Any], declared: Mapping[str, Any]) -> Iterator[KeyPath]:
    """The innermost settings that are in the configuration only, as far as code could declare them."""
    for key in DECLARABLE:
        value = current.get(key)
        if value is None:
            continue
        if key not in declared:
            yield (key,)
        elif isinstance(value, dict) and isinstance(declared[key], dict):
            yield from ((key, part) for part in value if part not in declared[key])


def filled(current: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """The current settings with what they lack."""
    result = dict(current)
    for key, value in more.items():
        existing = current.get(key)
        if existing is None:
            result[key] = value
        elif isinstance(existing, dict) and isinstance(value, dict):
            result[key] = filled(existing, value)
    return result


def absent(settings: Mapping[str, Any], current: Mapping[str, Any]) -> Iterator[KeyPath]:
    """The outermost keys of ``settings`` that ``current`` does not have."""
    for key, value in settings.items():
        existing = current.get(key)
        if key not in current:
            yield (key,)
        elif isinstance(existing, dict) and isinstance(value, dict):
            yield from ((key, *rest) for rest in absent(value, existing))


def conflicts(settings: Mapping[str, Any], current: Mapping[str, Any]) -> Iterator[KeyPath]:
    """The innermost keys that both have, with values that do not mean the same."""
    for key, value in settings.items():
        existing = current.get(key)
        if isinstance(existing, dict) and isinstance(value, dict):
            yield from ((key, *rest) for rest in conflicts(value, existing))
        elif existing is not None and not same(key, existing, value):
            yield (key,)


def at(settings: Any, path: KeyPath) -> Any:
    """The value at a path."""
    for part in path:
        settings = settings[part]
    return settings


def without(settings: Mapping[str, Any], paths: Collection[KeyPath]) -> dict[str, Any]:
    """The settings without these keys."""
    kept = {key: value for key, value in settings.items() if (key,) not in paths}
    for key in {path[0] for path in paths if len(path) > 1}:
        kept[str(key)] = without(kept[str(key)], [path[1:] for path in paths if path[0] == key])
    return kept


def same(key: str, one: Any, other: Any) -> bool:
    """Whether two values of a setting mean the same."""
    if key == "schedules":
        return _schedules(one) == _schedules(other)
    if key.endswith("_retention") and not isinstance(one, dict):
        first, second = milliseconds(one), milliseconds(other)
        return written(one) == written(other) or (first is not None and first == second)
    return written(one) == written(other)


def _merged(key: str, current: Any, declared: Any) -> Any:
    if isinstance(current, dict) and isinstance(declared, dict):
        return {**current, **{part: _merged(part, current.get(part), value) for part, value in declared.items()}}
    return current if same(key, current, declared) else declared


def _schedules(value: Any) -> list[str] | None:
    if value is None:
        return None
    return sorted(written(item) for item in (value if isinstance(value, list) else [value]))
