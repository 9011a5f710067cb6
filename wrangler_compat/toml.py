"""Reads wrangler.toml with the standard library and places its errors."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from wrangler_compat.diagnostics import ConfigError, KeyPath, Position, dotted

_SAFE_INTEGER = 2**53 - 1  # JavaScript's numbers are doubles
_PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


def parse(text: str, file: Path | None = None) -> dict[str, Any]:
    """Read a text; raise `ConfigError` with file, line and column when it is not TOML.

    Numbers are JavaScript's, as in wrangler: 1.0 is the integer 1.
    """
    text = text.removeprefix("\ufeff")
    try:
        data: dict[str, Any] = _as_javascript(tomllib.loads(text), ())
        return data
    except _TooLargeError as error:
        raise _too_large(error.args[0], text, file) from None
    except tomllib.TOMLDecodeError as error:
        raise _placed(str(error), text, file) from None
    except RecursionError:
        hint = "Flatten the value."
        raise ConfigError("config_syntax", "Values are nested too deep.", file=file, hint=hint) from None


class _TooLargeError(Exception):
    """An integer, whose key path this carries, that JavaScript cannot hold."""


def _as_javascript(value: Any, path: KeyPath) -> Any:
    match value:
        case dict():
            return {key: _as_javascript(item, (*path, key)) for key, item in value.items()}
        case list():
            return [_as_javascript(item, (*path, index)) for index, item in enumerate(value)]
        case int() if abs(value) > _SAFE_INTEGER:
            raise _TooLargeError(path)
        case float() if value.is_integer() and abs(value) <= _SAFE_INTEGER:
            return int(value)
    return value


def _too_large(path: KeyPath, text: str, file: Path | None) -> ConfigError:
    from wrangler_compat.toml_positions import TomlPositions

    message = f'The integer of "{dotted(path)}" is larger than JavaScript holds exactly ({_SAFE_INTEGER}).'
    place = TomlPositions(text).position(path)
    return ConfigError("config_syntax", message, file=file, position=place, hint="Put quotes around it.", path=path)


def _placed(message: str, text: str, file: Path | None) -> ConfigError:
    match = _PLACE.search(message)
    if match and match.group(1):
        place = Position(int(match.group(1)), int(match.group(2)))
    else:
        place = Position(text.count("\n") + 1, 1)
    reason = message[: match.start()] if match else message
    hint = "Fix the line; strings need quotes, and a table header stands alone in [brackets]."
    return ConfigError("config_syntax", f"This is not TOML: {reason}.", file=file, position=place, hint=hint)
