"""A configuration file that can be edited: one face for JSONC and TOML."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Protocol

from wrangler_compat import jsonc
from wrangler_compat.diagnostics import ConfigError, KeyPath, Position, dotted
from wrangler_compat.edits.operations import Operation
from wrangler_compat.edits.splices import Splice
from wrangler_compat.source import read_text


class ConfigFile(Protocol):
    """The text of a configuration, what it says and where, and how it is edited."""

    path: Path
    text: str
    data: dict[str, Any]

    def locate(self, path: KeyPath) -> Position | None:
        """Where a value stands."""

    def repeated(self) -> Iterator[tuple[str, Position]]:
        """The keys that are written twice in one object."""

    def splices(self, operations: Iterable[Operation]) -> tuple[Splice, ...]:
        """The changes to the text that do the operations."""

    def readings(self, text: str) -> Iterator[Any]:
        """What independent parsers read from a text of this format."""

    def comments(self, text: str) -> list[str]:
        """The comments of a text of this format, sorted."""


def open_config(path: Path) -> ConfigFile:
    """Read a file; raise `ConfigError` when it cannot be read."""
    text = read_text(path)
    if path.suffix == ".toml":
        from wrangler_compat.edits.toml_file import TomlFile

        return TomlFile(path, text)
    return JsoncFile(path, text)


class JsoncFile:
    """wrangler.jsonc or wrangler.json."""

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self.text = text
        self._document = jsonc.parse(text, path)
        data = self._document.data()
        if not isinstance(data, dict):
            hint = 'Put the settings into one object: { "name": ..., "main": ... }'
            place = self._document.position(())
            message = "The configuration should be an object."
            raise ConfigError("config_shape", message, file=path, position=place, hint=hint)
        self.data: dict[str, Any] = data

    def locate(self, path: KeyPath) -> Position | None:
        """Where a value stands, or what is nearest around it."""
        return self._document.position(path)

    def repeated(self) -> Iterator[tuple[str, Position]]:
        """The keys that are written twice in one object."""
        return _repeated(self._document, self._document.root, ())

    def splices(self, operations: Iterable[Operation]) -> tuple[Splice, ...]:
        """The changes to the text that do the operations."""
        from wrangler_compat.edits.jsonc_text import jsonc_splices

        return jsonc_splices(self._document, operations)

    def readings(self, text: str) -> Iterator[Any]:
        """What our reader and pyjson5 read; raises `ConfigError` or ValueError when one of them cannot."""
        import pyjson5

        yield jsonc.parse(text, self.path).data()
        try:
            yield pyjson5.decode(text.removeprefix(jsonc.BOM), maxdepth=jsonc.MAX_DEPTH + 1)
        except pyjson5.Json5DecoderException as error:
            raise ValueError(str(error)) from None

    def comments(self, text: str) -> list[str]:
        """The comments, sorted, without blanks at their ends: those are of the line."""
        return sorted(text[span.start : span.end].rstrip() for span in jsonc.parse(text, self.path).comments)


def _repeated(document: jsonc.Document, node: jsonc.Node, path: KeyPath) -> Iterator[tuple[str, Position]]:
    if isinstance(node, jsonc.ObjectNode):
        seen: set[str] = set()
        for member in node.members:
            below = (*path, member.key)
            if member.key in seen:
                yield dotted(below), document.lines.position(member.key_span.start)
            seen.add(member.key)
            yield from _repeated(document, member.value, below)
    elif isinstance(node, jsonc.ArrayNode):
        for index, item in enumerate(node.items):
            yield from _repeated(document, item.value, (*path, index))
