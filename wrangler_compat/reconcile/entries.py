"""The part of a configuration that is reconciled: one map of exports and the list of bindings beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from wrangler_compat.diagnostics import KeyPath
from wrangler_compat.workflows import SETTINGS

KNOWN = frozenset({"type", "binding", "name", "class_name", "script_name", *SETTINGS})


@dataclass(frozen=True, slots=True)
class Bound:
    """One entry of ``workflows``."""

    path: KeyPath
    entry: Mapping[str, Any]

    @property
    def name(self) -> Any:
        """The deployed name of the workflow."""
        return self.entry.get("name")

    @property
    def binding(self) -> str:
        """The name on env."""
        return str(self.entry.get("binding"))

    @property
    def settings(self) -> list[str]:
        """The keys of its settings, in the order in which they are written into an export."""
        return [key for key in SETTINGS if key in self.entry]


@dataclass(frozen=True, slots=True)
class Entries:
    """Where the exports live (``base``), what they are, and which bindings are of this Worker."""

    base: KeyPath
    worker: str
    exports: Mapping[str, Any]
    workflows: tuple[Bound, ...]

    @classmethod
    def read(cls, block: Mapping[str, Any], base: KeyPath, worker: str) -> Entries:
        """The entries of one block: of the file itself, or of an environment."""
        listed = block.get("workflows") or []
        bound = (Bound((*base, "workflows", index), entry) for index, entry in enumerate(listed))
        return cls(base, worker, block.get("exports") or {}, tuple(bound))

    @property
    def path(self) -> KeyPath:
        """Where the map of exports stands, or will."""
        return (*self.base, "exports")

    def own(self, class_name: str) -> list[Bound]:
        """The bindings of a class of this Worker."""
        return [bound for bound in self.workflows if self.is_own(bound) and bound.entry.get("class_name") == class_name]

    def is_own(self, bound: Bound) -> bool:
        """Whether a binding is of a workflow in this Worker."""
        return bound.entry.get("script_name") in (None, "", self.worker)
