"""Text without lone surrogates, which the host cannot decode and no database or terminal can hold.

User code has them all the same: ``os.fsdecode`` makes them of bytes that are not UTF-8. In values they are kept, for a
value travels as the ASCII text of its own format; in everything else that is said to the host they are replaced.
"""

from __future__ import annotations

import json
from typing import Any

MARK = "\\ud"  # begins the escape of every surrogate in JSON that is ASCII: cheap to look for, and seldom there


def text(value: str) -> str:
    """The text with U+FFFD for each lone surrogate, as JavaScript's ``toWellFormed`` gives it."""
    if value.isascii():
        return value
    try:
        value.encode()
    except UnicodeEncodeError:  # through UTF-16, so that two surrogates that are a pair become its character
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return value


def tree(value: Any) -> Any:
    """JSON data with all its texts well formed; values in it are ASCII, and stay as they are."""
    if isinstance(value, str):
        return text(value)
    if isinstance(value, dict):
        return {text(key): tree(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [tree(member) for member in value]
    return value


def encoded(value: str) -> str:
    """The devalue text of a value that the host reads, such as a step's config, with all texts in it well formed."""
    if MARK not in value:
        return value
    return json.dumps(tree(json.loads(value)), separators=(",", ":"))
