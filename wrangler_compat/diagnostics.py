"""What reading a configuration has to say: one error class, notices, and the collector that gathers them.

A person fixes a file in one go when all of its mistakes are listed, so checks report into a `Diagnostics` and
the loader raises once, at the end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

KeyPath = tuple[str | int, ...]

# Who finds a mistake, the earliest first: wrangler when it reads the file, when it bundles, when it deploys; `wrangler
# dev` when it starts; Cloudflare when it gets the upload.
Phase = Literal["read", "bundle", "deploy", "dev", "server"]


@dataclass(frozen=True, slots=True)
class Position:
    """A place in a text, counted from 1 as editors do."""

    line: int
    column: int


class ConfigError(Exception):
    """A configuration that cannot be run: what is wrong, where, and what to do.

    ``others`` holds the further mistakes that were found in the same reading.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        file: Path | None = None,
        position: Position | None = None,
        hint: str | None = None,
        phase: Phase = "read",
        path: KeyPath = (),
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.file = file
        self.line = position.line if position else None
        self.column = position.column if position else None
        self.hint = hint
        self.phase = phase
        self.path = path
        self.others: tuple[ConfigError, ...] = ()

    @property
    def where(self) -> str | None:
        """The place as editors and terminals link it: ``path:line:column``."""
        if self.file is None:
            return None
        return str(self.file) if self.line is None else f"{self.file}:{self.line}:{self.column}"

    @property
    def all(self) -> tuple[ConfigError, ...]:
        """This error and the others of the same reading, in the order in which they were found."""
        return (self, *self.others)


@dataclass(frozen=True, slots=True)
class Notice:
    """One line for the developer that does not stop the run.

    ``key`` is the configuration key it is about ("kv_namespaces", "workflows[0].schedules"), where there is
    one; ``path`` the same in parts.
    """

    text: str
    hint: str | None = None
    key: str | None = None
    line: int | None = None
    column: int | None = None
    file: Path | None = None
    code: str = "note"
    phase: Phase = "read"
    path: KeyPath = ()

    @property
    def where(self) -> str | None:
        """The place as editors and terminals link it, as far as it is known."""
        if self.file is None:
            return None
        known = [part for part in (self.line, self.column) if part is not None]
        return ":".join([str(self.file), *map(str, known)])


def _nowhere(_: KeyPath) -> Position | None:
    return None


@dataclass(slots=True)
class Diagnostics:
    """Collects the findings of one reading of one file."""

    file: Path
    locate: Callable[[KeyPath], Position | None] = _nowhere
    errors: list[ConfigError] = field(default_factory=list)
    warnings: list[Notice] = field(default_factory=list)
    notes: list[Notice] = field(default_factory=list)

    def error(
        self, code: str, message: str, path: KeyPath = (), hint: str | None = None, phase: Phase = "read"
    ) -> None:
        """Record a mistake that stops the run once everything is checked."""
        place = self.locate(path) if path else None
        self.errors.append(
            ConfigError(code, message, file=self.file, position=place, hint=hint, phase=phase, path=path)
        )

    def warn(
        self, text: str, path: KeyPath = (), hint: str | None = None, code: str = "warning", phase: Phase = "read"
    ) -> None:
        """Record something that runs, but not as the file says."""
        self.warnings.append(self._notice(text, path, hint, code, phase))

    def note(self, text: str, path: KeyPath = (), hint: str | None = None, code: str = "note") -> None:
        """Record something worth knowing that changes nothing."""
        self.notes.append(self._notice(text, path, hint, code, "read"))

    def allow(self, phase: Phase) -> None:
        """Turn the mistakes that only this phase would refuse into warnings that say so."""
        refused = [error for error in self.errors if error.phase == phase]
        self.errors = [error for error in self.errors if error.phase != phase]
        for error in refused:
            hint = f"It runs here, but the deployment will refuse it. {error.hint or ''}".rstrip()
            self.warn(error.message, error.path, hint, error.code, phase)

    def raise_errors(self) -> None:
        """Raise the first error, carrying the others; do nothing when there is none."""
        if self.errors:
            first, *rest = self.errors
            first.others = tuple(rest)
            raise first

    def _notice(self, text: str, path: KeyPath, hint: str | None, code: str, phase: Phase) -> Notice:
        place = self.locate(path) if path else None
        line, column = (place.line, place.column) if place else (None, None)
        return Notice(text, hint, dotted(path) or None, line, column, self.file, code, phase, path)


def dotted(path: KeyPath) -> str:
    """A key path as wrangler writes it: ``env.prod.workflows[0].limits``."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += f".{part}" if text else part
    return text
