"""A place in the configuration while it is checked: its value, its path, and what wrangler calls it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from wrangler_compat.diagnostics import Diagnostics, KeyPath, Phase
from wrangler_compat.rendering import keys, unexpected_fields, written

ABSENT: Any = object()  # JavaScript's undefined: unlike null, a key that is not written
Kind = Literal["string", "number", "boolean", "object"]

_TYPES: dict[Kind, type | tuple[type, ...]] = {
    "string": str,
    "number": (int, float),
    "boolean": bool,
    "object": (dict, list, type(None)),
}


@dataclass(frozen=True, slots=True)
class Spot:
    """One value of the file. ``label`` is its name in messages, which is not always its path.

    Wrangler names some keys of an environment in full (``env.prod.workflows[0]``) and others as at the top level
    (``exports.Order``).
    """

    value: Any
    label: str
    path: KeyPath
    found: Diagnostics

    def __getitem__(self, key: str) -> Spot:
        """What stands below, or a spot whose value is `ABSENT`."""
        value = self.value.get(key, ABSENT) if isinstance(self.value, dict) else ABSENT
        return Spot(value, f"{self.label}.{key}", (*self.path, key), self.found)

    @property
    def present(self) -> bool:
        """Whether the key is written, also as null."""
        return self.value is not ABSENT

    @property
    def shown(self) -> str:
        """The value as messages print it."""
        return "undefined" if self.value is ABSENT else written(self.value)

    def items(self) -> Iterator[Spot]:
        """The items of a list."""
        for index, value in enumerate(self.value):
            yield Spot(value, f"{self.label}[{index}]", (*self.path, index), self.found)

    def entries(self) -> Iterator[tuple[str, Spot]]:
        """The members of an object, in JavaScript's order."""
        for key in keys(self.value):
            yield key, self[key]

    def has(self, key: str, kind: Kind) -> bool:
        """Whether the key holds a value of this kind."""
        return is_kind(self[key].value, kind)

    def may_have(self, key: str, kind: Kind) -> bool:
        """Whether the key is not written, or holds a value of this kind."""
        below = self[key]
        return not below.present or is_kind(below.value, kind)

    def error(self, code: str, text: str, hint: str, phase: Phase = "read") -> None:
        """Report a mistake at this place."""
        self.found.error(code, text, self.path, hint, phase)

    def warn(self, code: str, text: str, hint: str, phase: Phase = "read") -> None:
        """Report a warning at this place."""
        self.found.warn(text, self.path, hint, code, phase)

    def only(self, known: Collection[str]) -> None:
        """Warn of the keys that are not among the known ones; those of a list are its indices."""
        value = self.value
        if isinstance(value, list):
            value = {str(index): item for index, item in enumerate(value)}
        if isinstance(value, dict):
            unexpected_fields(value, known, self.path, self.found, self.label)

    def expect(self, kind: Kind, hint: str | None = None) -> bool:
        """Whether the value is absent or of this kind; an error in wrangler's plainest words when it is another."""
        if not self.present or is_kind(self.value, kind):
            return True
        hint = hint or f"Write a {kind}."
        self.error("field_type", f'Expected "{self.label}" to be of type {kind} but got {self.shown}.', hint)
        return False

    def require(self, kind: Kind) -> bool:
        """The same for a value that may not be absent."""
        if self.present:
            return self.expect(kind)
        self.error("field_missing", f'"{self.label}" is a required field.', f"Add it: a {kind}.")
        return False


def is_kind(value: Any, kind: Kind) -> bool:
    """Whether ``typeof value`` is this; a boolean is no number."""
    if kind == "number":
        return isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(value, _TYPES[kind])
