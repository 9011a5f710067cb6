"""Which imports stay modules of their own: wrangler's rules, the project's before the default ones."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wrangler_compat import Project
from wrangler_compat.javascript import Rule, read_javascript

from . import globs
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

    def of_file(self, name: str) -> Rule | None:
        """The rule that matches a file of the module root, by its path in it."""
        matching = (rule for rule in self.kept if any(re.search(globs.strict(glob), name) for glob in rule.globs))
        return next(matching, None)


def additional_modules(project: Project) -> Callable[[Path], bool]:
    """Tells which files of the project's folder go along because they are there, whoever imports them."""
    settings = read_javascript(project.resolved, project.root, project.main)
    rules, root = sorted_rules(settings.rules), settings.module_root
    if not settings.find_additional_modules:
        return lambda _: False
    return lambda path: path.is_relative_to(root) and rules.of_file(path.relative_to(root).as_posix()) is not None


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
