"""Globs as wrangler reads them: loosely in imports, strictly in folders."""

from __future__ import annotations

import re

import pytest

from runtime.javascript import globs


@pytest.mark.parametrize(
    ("glob", "text", "matches"),
    [
        ("**/*.txt", "./a.txt", True),
        ("**/*.txt", "pkg/deep/a.txt", True),
        ("**/*.txt", "a.txt", False),  # a slash has to be there, in wrangler too
        ("*.txt", "./deep/a.txt", True),
        ("**/*.wasm?module", "./a.wasm?module", True),
        ("**/*.wasm", "./a.wasm?module", False),
        ("**/*.t+t", "./a.t+t", True),
    ],
)
def test_an_import_is_matched_by_its_text(glob: str, text: str, matches: bool) -> None:
    assert bool(re.search(globs.loose(glob), text)) is matches


@pytest.mark.parametrize(
    ("glob", "path", "matches"),
    [
        ("**/*.js", "a.js", True),
        ("**/*.js", "deep/er/a.js", True),
        ("*.js", "a.js", True),
        ("*.js", "deep/a.js", False),
        ("lang/**/*.js", "lang/a.js", True),
        ("lang/**/*.js", "lang/fr/a.js", True),
        ("lang/**/*.js", "other/a.js", False),
        ("lang/**", "lang/fr/a.js", True),
        ("lang/a*.js", "lang/ab.js", True),
        ("lang/a*.js", "lang/a/b.js", False),
    ],
)
def test_a_file_is_matched_by_its_path(glob: str, path: str, matches: bool) -> None:
    assert bool(re.search(globs.strict(glob), path)) is matches
