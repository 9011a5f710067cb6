"""What a configuration says about the build of JavaScript."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from wrangler_compat.javascript import JavaScriptSettings, Rule, read_javascript

ROOT = Path("/project")


def read(**data: Any) -> JavaScriptSettings:
    """The settings of a project whose main module is ``src/index.ts``."""
    return read_javascript(data, ROOT, ROOT / "src/index.ts")


def test_nothing_said_is_what_wrangler_does_then() -> None:
    settings = read()
    assert settings.keep_names
    assert not (settings.minify or settings.no_bundle or settings.find_additional_modules)
    assert not settings.preserve_file_names
    assert settings.module_root == ROOT / "src"
    assert (settings.tsconfig, settings.jsx_factory, settings.jsx_fragment) == (None, None, None)
    assert (settings.rules, dict(settings.alias), dict(settings.define)) == ((), {}, {})


def test_paths_are_relative_to_the_configuration() -> None:
    settings = read(tsconfig="../tsconfig.base.json", base_dir="./src/..")
    assert settings.tsconfig == Path("/tsconfig.base.json")
    assert settings.module_root == ROOT


def test_without_bundling_modules_are_looked_for_unless_it_says_no() -> None:
    assert read(no_bundle=True).find_additional_modules
    assert not read(no_bundle=True, find_additional_modules=False).find_additional_modules
    assert read(find_additional_modules=True).find_additional_modules


def test_rules_keep_what_is_said_of_fallthrough() -> None:
    rules = [
        {"type": "Text", "globs": ["**/*.md"]},
        {"type": "ESModule", "globs": ["a/*.js", "b/*.js"], "fallthrough": True},
        {"type": "PythonModule", "globs": ["**/*.py"]},
    ]
    assert read(rules=rules).rules == (Rule("Text", ("**/*.md",)), Rule("ESModule", ("a/*.js", "b/*.js"), True))
    assert [rule.is_code for rule in read(rules=rules).rules] == [False, True]


def test_what_has_the_wrong_shape_is_left_to_the_checks() -> None:
    settings = read(rules="x", alias=[], define={"A": 1, "B": "2"}, minify="yes", tsconfig=3)
    assert (settings.rules, dict(settings.alias), dict(settings.define)) == ((), {}, {"B": "2"})
    assert (settings.minify, settings.tsconfig) == (False, None)
