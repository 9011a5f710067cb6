"""What can be done to a configuration, told in its terms and not in those of its text.

`outcome` does the same to the plain data. The editors of the texts are checked against it, so it knows nothing of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from wrangler_compat.diagnostics import KeyPath


@dataclass(frozen=True, slots=True)
class Reshape:
    """The value at ``path`` becomes ``value``, which has all the keys that it has; only what differs is written."""

    path: KeyPath
    value: Any


@dataclass(frozen=True, slots=True)
class Field:
    """One key of a new entry. With a ``source`` it is the member that stands there, moved with its comments."""

    key: str
    value: Any
    source: KeyPath | None = None


@dataclass(frozen=True, slots=True)
class Export:
    """A new entry at ``path``, in a map of exports that is made when it is not there.

    ``item`` is the entry of a list that is dissolved into it: it goes, and its comments come along.
    """

    path: KeyPath
    fields: tuple[Field, ...]
    item: KeyPath | None = None

    @property
    def value(self) -> dict[str, Any]:
        """The new entry's data."""
        return {field.key: field.value for field in self.fields}


@dataclass(frozen=True, slots=True)
class Carry:
    """The member at ``source`` moves with its comments to ``target``, a new key of another object, as ``value``."""

    source: KeyPath
    target: KeyPath
    value: Any


@dataclass(frozen=True, slots=True)
class Drop:
    """The member or list entry at ``path`` goes; its comments are kept above the member ``above``."""

    path: KeyPath
    above: KeyPath


Operation = Reshape | Export | Carry | Drop


def outcome(data: Mapping[str, Any], operations: Iterable[Operation]) -> dict[str, Any]:
    """The data after the operations. Paths are those before them, so removals come last and from the end."""
    result = deepcopy(dict(data))
    removed: list[KeyPath] = []
    for operation in operations:
        match operation:
            case Reshape(path, value):
                _put(result, path, value)
            case Export(path, fields, item):
                _put(result, path, operation.value)
                removed += [field.source for field in fields if field.source and item is None]
                removed += [item] if item else []
            case Carry(source, target, value):
                _put(result, target, value)
                removed.append(source)
            case Drop(path):
                removed.append(path)
    for path in sorted(set(removed), key=_from_the_end, reverse=True):
        _remove(result, path)
    return result


def _from_the_end(path: KeyPath) -> tuple[int, tuple[tuple[int, str], ...]]:
    """Deeper paths first when reversed; among entries of a list, later ones first."""
    return len(path), tuple((part, "") if isinstance(part, int) else (-1, part) for part in path)


def _put(data: Any, path: KeyPath, value: Any) -> None:
    for part in path[:-1]:
        if isinstance(data, dict) and data.get(part) is None:
            data[part] = {}
        data = data[part]
    data[path[-1]] = deepcopy(value)


def _remove(data: Any, path: KeyPath) -> None:
    for part in path[:-1]:
        data = data[part]
    del data[path[-1]]
