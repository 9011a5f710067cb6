"""The keys of an entry that celld does not take: what leaving each out means, and whether that is refused (P2-P6)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from wrangler_compat.diagnostics import KeyPath, dotted
from wrangler_compat.projection.projected import Dropped, Level, Remark
from wrangler_compat.rendering import keys

KEPT = ("name", "binding", "class_name")  # all that an entry of celld's workflows[] may have


@dataclass(frozen=True, slots=True)
class _Setting:
    rule: str
    reason: str
    hint: str | None = None  # a promise would be broken in silence: refused, unless the person accepts it


_SETTINGS = {
    "schedules": _Setting(
        "P2",
        "celld would never start it",
        "Add a Cron Trigger (triggers.crons) whose handler creates the instance.",
    ),
    "limits": _Setting("P3", "celld has a cap of its own"),
    "default_retention": _Setting("P4", "celld keeps instances for 30 days"),
    "concurrency": _Setting("P5", "celld documents nothing like it"),
    "jurisdiction": _Setting(
        "P5",
        "celld does not promise where data is kept",
        "Deploy where the data may be, and make sure of it yourself.",
    ),
}


def dropped(entry: Mapping[str, Any], path: KeyPath, known: Iterable[str], allow_drop: bool) -> tuple[Dropped, ...]:
    """What an entry holds besides the ``known`` keys."""
    left_out = [key for key in keys(entry) if key not in known and entry[key] is not None]
    return tuple(_dropped(key, (*path, key), allow_drop) for key in left_out)


def _dropped(key: str, path: KeyPath, allow_drop: bool) -> Dropped:
    setting = _SETTINGS.get(key, _Setting("P6", "celld does not know the key"))
    refused = setting.hint is not None and not allow_drop
    level: Level = "error" if refused else "warning"
    hint = f"{setting.hint} Then pass --allow-drop." if refused else setting.hint
    return Dropped(key, setting.reason, Remark(setting.rule, level, path, f"{dotted(path)}: {setting.reason}.", hint))
