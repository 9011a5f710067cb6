"""What reconciling has to say and to do."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from wrangler_compat.code import Place
from wrangler_compat.diagnostics import KeyPath
from wrangler_compat.edits import Operation

Level = Literal["info", "warning", "error"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One sentence of the report, and the rule (docs/reconcile.md) that it comes from.

    It is about a key of the configuration (``path``) or a place in the code. One that ``blocks`` keeps the whole file
    from being written.
    """

    rule: str
    level: Level
    message: str
    path: KeyPath = ()
    place: Place | None = None
    hint: str | None = None
    blocks: bool = False


@dataclass(slots=True)
class Plan:
    """The operations that bring the configuration in line with the code, and the findings on the way."""

    operations: list[Operation] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    def info(self, rule: str, message: str, path: KeyPath = ()) -> None:
        """Tell what is done, or why nothing is."""
        self.findings.append(Finding(rule, "info", message, path))

    def warn(self, rule: str, message: str, path: KeyPath = (), hint: str | None = None) -> None:
        """Tell what a person should look at."""
        self.findings.append(Finding(rule, "warning", message, path, hint=hint))

    def error(
        self, rule: str, message: str, path: KeyPath = (), *, hint: str | None = None, blocks: bool = False
    ) -> None:
        """Tell what cannot be reconciled."""
        self.findings.append(Finding(rule, "error", message, path, hint=hint, blocks=blocks))

    def do(self, *operations: Operation) -> None:
        """Add operations."""
        self.operations += operations

    @property
    def blocked(self) -> bool:
        """Whether nothing may be written."""
        return blocked(self.findings)


def blocked(findings: Iterable[Finding]) -> bool:
    """Whether one of the findings keeps the file from being written."""
    return any(finding.blocks for finding in findings)
