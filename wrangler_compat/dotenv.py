"""Reads the files of local variables: the grammar of the ``dotenv`` package, which wrangler uses."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

_ENTRY = re.compile(
    r"""
    ^[ \t]* (?:export[ \t]+)? (?P<key>[\w.-]+) (?:[ \t]*=|:[ \t])[ \t]*
    (?:
        '(?P<single>(?:\\'|[^'])*)' | "(?P<double>(?:\\"|[^"])*)" | `(?P<back>(?:\\`|[^`])*)`
        | (?P<bare>[^#\n]*)
    )
    [ \t]* (?:\#[^\n]*)? $
    """,
    re.VERBOSE | re.MULTILINE | re.ASCII,
)
_NOTHING = re.compile(r"[ \t]*(?:#.*)?")
_REFERENCE = re.compile(
    r"""
    (?P<escaped>\\\$)
    | \$\{(?P<braced>[A-Za-z_]\w*)(?::?-(?P<default>[^}]*))?\}
    | \$(?P<plain>[A-Za-z_]\w*)
    """,
    re.VERBOSE | re.ASCII,
)


@dataclass(frozen=True, slots=True)
class Variables:
    """What a file defines. ``unread`` are the numbers of the lines that are neither entry, comment nor blank."""

    values: dict[str, str]
    unread: tuple[int, ...]


def parse(text: str) -> Variables:
    """Read ``KEY=value`` lines; quoted values may span lines, ``\\n`` is an escape in double quotes only."""
    text = re.sub(r"\r\n?", "\n", text.removeprefix("\ufeff"))
    values: dict[str, str] = {}
    unread: list[int] = []
    at = 0
    while at < len(text):
        if match := _ENTRY.match(text, at):
            values[match["key"]] = _value(match)
            at = match.end() + 1
            continue
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        if not _NOTHING.fullmatch(text, at, end):
            unread.append(text.count("\n", 0, at) + 1)
        at = end + 1
    return Variables(values, tuple(unread))


def expand(values: Mapping[str, str], surroundings: Mapping[str, str]) -> dict[str, str]:
    """Replace ``$X``, ``${X}`` and ``${X:-default}``; ``\\$`` is a plain dollar.

    A name stands for what ``surroundings`` say, else for the value defined above, else below. What the
    surroundings define wins over the files, unexpanded, as in wrangler.
    """
    known = dict(surroundings)
    for key, value in values.items():
        if key not in known:
            known[key] = _REFERENCE.sub(lambda match: _referenced(match, known, values), value)
    return known


def _value(match: re.Match[str]) -> str:
    if (double := match["double"]) is not None:
        return double.replace("\\n", "\n").replace("\\r", "\r")
    for group in ("single", "back"):
        if (quoted := match[group]) is not None:
            return quoted
    return match["bare"].strip()


def _referenced(match: re.Match[str], known: Mapping[str, str], values: Mapping[str, str]) -> str:
    if match["escaped"]:
        return "$"
    name = match["braced"] or match["plain"]
    found = known.get(name, values.get(name, ""))
    return found or match["default"] or ""
