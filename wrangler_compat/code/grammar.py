"""Loads the grammars of JavaScript and TypeScript, when the first file of theirs is read.

A Python project never pays for them.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Parser, Tree

_TYPESCRIPT = {".ts", ".mts", ".cts"}
# `import("x").Y<T>` as a type: the grammar (0.23) takes it for an expression, and loses what follows it.
_IMPORTED_TYPE = re.compile(rb"""import\(\s*(["'])[^"'\n]*\1\s*\)(?=(?:\.\w+)+<)""")


def parse(text: bytes, suffix: str) -> Tree:
    """The syntax tree of a text; it always comes, with ERROR nodes where the text was not understood."""
    grammar = _grammar(suffix)
    if grammar != "javascript":
        text = _IMPORTED_TYPE.sub(lambda match: b"_" * len(match[0]), text)  # a name of the same length
    return _parser(grammar).parse(text)


def _grammar(suffix: str) -> str:
    if suffix in _TYPESCRIPT:
        return "typescript"
    return "tsx" if suffix == ".tsx" else "javascript"  # the JavaScript grammar knows JSX


@cache
def _parser(grammar: str) -> Parser:
    from tree_sitter import Language, Parser

    if grammar == "javascript":
        from tree_sitter_javascript import language
    elif grammar == "tsx":
        from tree_sitter_typescript import language_tsx as language
    else:
        from tree_sitter_typescript import language_typescript as language
    return Parser(Language(language()))
