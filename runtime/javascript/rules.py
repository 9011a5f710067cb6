"""Which imports stay modules of their own: wrangler's rules, the project's before the default ones."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from wrangler_compat.javascript import Rule

from .bundle import ModuleKind

DEFAULT_RULES = (
    Rule("Text", ("**/*.txt", "**/*.html", "**/*.sql")),
    Rule("Data", ("**/*.bin",)),
    Rule("CompiledWasm", ("**/*.wasm", "**/*.wasm?module")),
)
KINDS: dict[str, ModuleKind] = {
    "ESModule": "esModule",
    "CommonJS": "commonJsModule",
    "CompiledWasm": "wasm",
    "Text": "text",
    "Data": "data",
}


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules that count, and those that an earlier one of their type has replaced."""

    kept: tuple[Rule, ...]
    replaced: tuple[Rule, ...]
    warnings: tuple[str, ...]


def sorted_rules(own: tuple[Rule, ...]) -> Rules:
    """The first rule of a type without ``fallthrough`` ends the line of that type."""
    last: dict[str, Rule] = {}
    kept: list[Rule] = []
    replaced: list[Rule] = []
    for rule in (*own, *DEFAULT_RULES):
        (replaced if rule.type in last else kept).append(rule)
        if rule.type not in last and rule.fallthrough is not True:
            last[rule.type] = rule
    warnings = (_warning(rule, [each for each in replaced if each.type == rule.type]) for rule in last.values())
    return Rules(tuple(kept), tuple(replaced), tuple(filter(None, warnings)))


def shown(rule: Rule) -> str:
    """A rule as wrangler writes it."""
    written: dict[str, Any] = {"type": rule.type, "globs": rule.globs}
    if rule.fallthrough is not None:
        written["fallthrough"] = rule.fallthrough
    return json.dumps(written, separators=(",", ":"), ensure_ascii=False)


def _warning(rule: Rule, replaced: list[Rule]) -> str | None:
    if not replaced or rule.fallthrough is False:
        return None
    default = "default " if rule in DEFAULT_RULES else ""
    ignored = "".join(f"\n {shown(each)}{' (DEFAULT)' if each in DEFAULT_RULES else ''}" for each in replaced)
    return (
        f"The {default}module rule {shown(rule)} does not have a fallback, the following rules will be ignored:"
        f"{ignored}\n\nAdd `fallthrough = true` to rule to allow next rule to be used or `fallthrough = false` to "
        "silence this warning"
    )
