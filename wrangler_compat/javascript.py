"""How JavaScript is built: the keys of wrangler's configuration that say what the bundler does."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wrangler_compat.reading import entries, table, text, texts

RULE_TYPES = frozenset({"ESModule", "CommonJS", "CompiledWasm", "Text", "Data"})


@dataclass(frozen=True, slots=True)
class Rule:
    """Which imports are modules of their own, and of what type. ``fallthrough`` is None where nothing is said."""

    type: str
    globs: tuple[str, ...]
    fallthrough: bool | None = None

    @property
    def is_code(self) -> bool:
        """Whether the bundler would take such a file in."""
        return self.type in ("ESModule", "CommonJS")


@dataclass(frozen=True, slots=True)
class JavaScriptSettings:
    """The build of one project. ``module_root`` is the folder that names of additional modules are relative to."""

    alias: Mapping[str, str]
    define: Mapping[str, str]
    rules: tuple[Rule, ...]
    tsconfig: Path | None
    jsx_factory: str | None
    jsx_fragment: str | None
    minify: bool
    keep_names: bool
    no_bundle: bool
    find_additional_modules: bool
    module_root: Path
    preserve_file_names: bool


def read_javascript(data: Mapping[str, Any], root: Path, main: Path) -> JavaScriptSettings:
    """The build that a configuration in the folder ``root`` asks for; defaults are wrangler's."""
    tsconfig, base = text(data, "tsconfig"), text(data, "base_dir")
    no_bundle = data.get("no_bundle") is True
    find = data.get("find_additional_modules")
    return JavaScriptSettings(
        alias={key: value for key, value in table(data, "alias").items() if isinstance(value, str)},
        define={key: value for key, value in table(data, "define").items() if isinstance(value, str)},
        rules=tuple(_rules(data)),
        tsconfig=_below(root, tsconfig) if tsconfig else None,
        jsx_factory=text(data, "jsx_factory"),
        jsx_fragment=text(data, "jsx_fragment"),
        minify=data.get("minify") is True,
        keep_names=data.get("keep_names") is not False,
        no_bundle=no_bundle,
        find_additional_modules=find if isinstance(find, bool) else no_bundle,
        module_root=_below(root, base) if base else main.parent,
        preserve_file_names=data.get("preserve_file_names") is True,
    )


def _rules(data: Mapping[str, Any]) -> Iterator[Rule]:
    for entry in entries(data, "rules"):
        kind, fallthrough = text(entry, "type"), entry.get("fallthrough")
        if kind in RULE_TYPES:
            yield Rule(kind, texts(entry, "globs"), fallthrough if isinstance(fallthrough, bool) else None)


def _below(root: Path, name: str) -> Path:
    return Path(os.path.normpath(root / name))
