"""docs/lints.md, made of the lints themselves."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from wrangler_compat.lints import LINTS, Lint
from wrangler_compat.lints.lint import Example

PAGE = Path(__file__).parents[3] / "docs" / "lints.md"
_HEAD = """# Lints

<!-- Made by `make docs` from wrangler_compat/lints; edit that. -->

`celld-py check [PROJECT] [--env NAME] [--target celld|cloudflare] [--json] [--fix]` says what is wrong with a project
before it runs: first everything about its configuration, then, when that is right, what follows here. `dev` shows the
errors among these once at start. The exit code is 1 when there is an error, 2 when there is no configuration that can
be read, and 0 otherwise. `--json` prints a list of `{code, level, message, file, line, column, hint}`. `--fix` mends
what is mechanical, marked below.

The code is read, never run, and what cannot be known is not said: a binding whose name is made at run time, a step
that a package calls, a file with a syntax error. Helpers are followed when they are given the step object.

A finding is taken back by a comment in its line, or on a line of its own above it: `# celld: ignore[code]` in Python,
`// celld-ignore code` in JavaScript, TypeScript and wrangler.jsonc. Several codes are separated by commas.

In the examples `<-` marks the line that is named. Where no class is shown, they are the body of `run`.
"""
_FENCES = {"python": "python", "javascript": "javascript", "jsonc": "jsonc"}


def page() -> str:
    """The whole page."""
    return "\n".join([_HEAD, *_table(), *(line for lint in LINTS for line in _section(lint))]).rstrip() + "\n"


def _table() -> Iterator[str]:
    yield "| Lint | Level | Why |"
    yield "|---|---|---|"
    for lint in LINTS:
        yield f"| [{lint.code}](#{lint.code}) | {lint.level} | {lint.reason.replace('|', chr(92) + '|')} |"
    yield ""


def _section(lint: Lint) -> Iterator[str]:
    mended = " `--fix` mends it." if lint.mends else ""
    yield f"## {lint.code}\n"
    yield f"*{lint.level}*: {lint.reason}{mended}\n"
    yield f"{lint.hint}\n"
    for example in lint.examples:
        yield from _example(example)


def _example(example: Example) -> Iterator[str]:
    condition = " (with `--target celld`)" if example.target == "celld" else ""
    yield f"Bad{condition}:\n"
    yield _block(example.language, example.bad)
    yield "Good:\n"
    yield _block(example.language, example.good)


def _block(language: str, text: str) -> str:
    return f"```{_FENCES[language]}\n{text.strip(chr(10))}\n```\n"
