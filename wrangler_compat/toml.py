"""Reads wrangler.toml with the standard library and places its errors."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from wrangler_compat.diagnostics import ConfigError, Position

_PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


def parse(text: str, file: Path | None = None) -> dict[str, Any]:
    """Read a text; raise `ConfigError` with file, line and column when it is not TOML.

    Tables are not located: the standard library keeps no positions, so later findings name the key only.
    """
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError as error:
        raise _placed(str(error), text, file) from None
    except RecursionError:
        hint = "Flatten the value."
        raise ConfigError("config_syntax", "Values are nested too deep.", file=file, hint=hint) from None


def _placed(message: str, text: str, file: Path | None) -> ConfigError:
    match = _PLACE.search(message)
    if match and match.group(1):
        place = Position(int(match.group(1)), int(match.group(2)))
    else:
        place = Position(text.count("\n") + 1, 1)
    reason = message[: match.start()] if match else message
    hint = "Fix the line; strings need quotes, and a table header stands alone in [brackets]."
    return ConfigError("config_syntax", f"This is not TOML: {reason}.", file=file, position=place, hint=hint)
