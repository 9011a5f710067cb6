"""A configuration file as read: its data, and where each part of it stands."""

from __future__ import annotations

import codecs
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wrangler_compat import jsonc
from wrangler_compat.diagnostics import ConfigError, KeyPath, Notice, Position

if TYPE_CHECKING:
    from wrangler_compat.toml_positions import TomlPositions

_OTHER_MARKS = {
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}


@dataclass(frozen=True, slots=True)
class Source:
    """One configuration file: ``data`` is its top level, ``locate`` says where a key path stands."""

    path: Path
    data: dict[str, Any]
    notes: tuple[Notice, ...]
    locate: Callable[[KeyPath], Position | None]


class _TomlPlaces:
    """Looks for the places in a TOML text only when something is to be said about one."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._positions: TomlPositions | None = None

    def __call__(self, path: KeyPath) -> Position:
        if self._positions is None:
            from wrangler_compat.toml_positions import TomlPositions

            self._positions = TomlPositions(self._text.removeprefix(jsonc.BOM))
        return self._positions.position(path)


def read_source(path: Path) -> Source:
    """Read wrangler.json, .jsonc or .toml; raise `ConfigError` when it cannot be read or is no table."""
    text = read_text(path)
    if path.suffix == ".toml":
        from wrangler_compat import toml  # tomllib takes a while to load, and most projects use JSON

        return Source(path, toml.parse(text, path), (), _TomlPlaces(text))
    document = jsonc.parse(text, path)
    data = document.data()
    if not isinstance(data, dict):
        hint = 'Put the settings into one object: { "name": ..., "main": ... }'
        message = "The configuration should be an object."
        raise ConfigError("config_shape", message, file=path, position=document.position(()), hint=hint)
    return Source(path, data, document.notes, document.position)


def read_text(path: Path) -> str:
    """The text of a UTF-8 file, line ends and byte order mark kept."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConfigError("config_unreadable", f"Cannot read the file: {reason}.", file=path) from None
    hint = "Save the file as UTF-8."
    for mark, encoding in _OTHER_MARKS.items():
        if raw.startswith(mark):
            raise ConfigError("config_encoding", f"The file is {encoding}, not UTF-8.", file=path, hint=hint)
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        column = error.start - (raw.rfind(b"\n", 0, error.start) + 1) + 1
        message = f"The file is not UTF-8: byte 0x{raw[error.start]:02x}."
        place = Position(line, column)
        raise ConfigError("config_encoding", message, file=path, position=place, hint=hint) from None
