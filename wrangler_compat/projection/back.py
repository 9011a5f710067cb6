"""The way back (P16): a configuration for celld as one that declares exports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wrangler_compat.projection.projected import Row


def restore(config: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[Row, ...]]:
    """Exports for the bindings that bear their class's name, which only celld needs; the others stay bindings.

    The entry that a deploy generated stays ``main``: what it was made from is not in the file.
    """
    exports: dict[str, Any] = {}
    kept: list[Any] = []
    rows: list[Row] = []
    for index, entry in enumerate(config.get("workflows") or ()):
        path = ("workflows", index)
        if entry["binding"] == entry["class_name"]:
            exports[entry["class_name"]] = {"type": "workflow", "name": entry["name"]}
            rows.append(Row(path, f"exports.{entry['class_name']}"))
        else:
            kept.append(entry)
            rows.append(Row(path, "unchanged"))
    restored = {key: value for key, value in config.items() if key not in ("workflows", "exports")}
    if kept:
        restored["workflows"] = kept
    if exports or config.get("exports"):
        restored["exports"] = {**exports, **(config.get("exports") or {})}
    return restored, tuple(rows)
