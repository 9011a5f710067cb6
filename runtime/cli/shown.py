"""What several commands show in one way."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runtime.cli.terminal import Terminal
    from wrangler_compat import ConfigError

_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


def show_mistakes(errors: Iterable[ConfigError], terminal: Terminal) -> None:
    """Mistakes of the configuration, each with its place."""
    for each in errors:
        terminal.error(each.message, each.where, each.hint, code=each.code)


def show_difference(lines: Iterable[str], terminal: Terminal) -> None:
    """A unified diff, in its usual colours."""
    for line in lines:
        colour = _COLOURS.get(line[:1])
        terminal.line(terminal.out.paint(line, colour) if colour else line)
