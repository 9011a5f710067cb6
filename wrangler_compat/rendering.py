"""How messages show a value and name what is unknown, in wrangler's way."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

from wrangler_compat.diagnostics import Diagnostics, KeyPath, dotted


def written(value: Any) -> str:
    """The value as JSON without blanks, as JavaScript prints it. TOML dates appear as text."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, default=str)


def unexpected_fields(entry: Mapping[str, Any], known: Collection[str], path: KeyPath, found: Diagnostics) -> None:
    """Warn of keys that nothing reads."""
    unknown = [key for key in entry if key not in known]
    if unknown:
        listed = ",".join(f'"{key}"' for key in unknown)
        found.warn(f"Unexpected fields found in {dotted(path)} field: {listed}", (*path, unknown[0]))
