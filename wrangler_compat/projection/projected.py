"""What a projection comes to: the configuration for celld, and an account of what became of each entry."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from wrangler_compat.diagnostics import KeyPath

Level = Literal["error", "warning", "note"]

_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Remark:
    """One thing to say, by which rule, and about which place of the file. An error is a refusal."""

    rule: str
    level: Level
    path: KeyPath
    text: str
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class Dropped:
    """A key of an entry that does not come along."""

    key: str
    reason: str
    remark: Remark


@dataclass(frozen=True, slots=True)
class Row:
    """What became of one entry; ``becomes`` is None for one that cannot be deployed."""

    path: KeyPath
    becomes: str | None
    dropped: tuple[Dropped, ...] = ()


@dataclass(frozen=True, slots=True)
class Projection:
    """A configuration as celld takes it. It counts only when there are no ``refusals``.

    ``on_env`` says how `env` calls the Workflow of each exported class: the table of the generated entry, which there
    is only when something is exported.
    """

    config: Mapping[str, Any]
    rows: tuple[Row, ...]
    remarks: tuple[Remark, ...]
    on_env: Mapping[str, str]

    @property
    def refusals(self) -> tuple[Remark, ...]:
        """Why it cannot be deployed."""
        return tuple(remark for remark in self.all_remarks() if remark.level == "error")

    def all_remarks(self) -> Iterator[Remark]:
        """Everything there is to say, what is dropped included."""
        for row in self.rows:
            yield from (dropped.remark for dropped in row.dropped)
        yield from self.remarks

    @property
    def text(self) -> str:
        """The configuration as strict JSON."""
        return strict_json(self.config)


def strict_json(value: Any) -> str:
    """JSON that every parser takes; ValueError or TypeError for what it cannot hold (TOML has dates and infinities)."""
    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    return _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
