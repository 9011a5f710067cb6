"""Everything there is to say about a configuration, as data: what `celld-py check` prints."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from wrangler_compat.diagnostics import ConfigError, KeyPath, Notice, Phase
from wrangler_compat.project import read_project

Level = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to say: what, where, and what to do.

    ``environment`` is the ``env.NAME`` block that it is about, where it is about one; ``phase`` says who would find it
    next.
    """

    code: str
    level: Level
    message: str
    file: Path | None
    line: int | None
    column: int | None
    hint: str | None
    environment: str | None = None
    phase: Phase = "read"

    @property
    def where(self) -> str | None:
        """The place as editors and terminals link it: ``path:line:column``."""
        if self.file is None:
            return None
        return str(self.file) if self.line is None else f"{self.file}:{self.line}:{self.column}"


def diagnose(path: Path, env: str | None = None, environ: Mapping[str, str] = os.environ) -> list[Finding]:
    """All findings of the project at ``path`` (a folder or a configuration file): errors, then warnings, then notes.

    ``env`` wins over CLOUDFLARE_ENV. A file that cannot be found or read is a finding too.
    """
    try:
        _, found = read_project(path, env, environ)
    except ConfigError as error:
        return [_of_error(each) for each in error.all]
    return [
        *map(_of_error, found.errors),
        *(_of_notice(notice, "warning", found.file) for notice in found.warnings),
        *(_of_notice(notice, "note", found.file) for notice in found.notes),
    ]


def listing(findings: list[Finding], file: str) -> str:
    """The findings as wrangler lists them, those of an environment nested under its name."""
    lines = [f"Processing {file} configuration:"]
    lines += [_item(finding, "  ") for finding in findings if finding.environment is None]
    for environment in dict.fromkeys(finding.environment for finding in findings if finding.environment):
        lines.append(f'  - "env.{environment}" environment configuration')
        lines += [_item(finding, "    ") for finding in findings if finding.environment == environment]
    return "\n".join(lines)


def _item(finding: Finding, indent: str) -> str:
    place = f" ({finding.where})" if finding.where else ""
    hint = "".join(f"\n{indent}  {line}" for line in (finding.hint or "").splitlines())
    return f"{indent}- {finding.message}{place}{hint}"


def _of_error(error: ConfigError) -> Finding:
    return Finding(
        error.code,
        "error",
        error.message,
        error.file,
        error.line,
        error.column,
        error.hint,
        _environment(error.path),
        error.phase,
    )


def _of_notice(notice: Notice, level: Level, file: Path) -> Finding:
    return Finding(
        notice.code,
        level,
        notice.text,
        notice.file or file,
        notice.line,
        notice.column,
        notice.hint,
        _environment(notice.path),
        notice.phase,
    )


def _environment(path: KeyPath) -> str | None:
    return str(path[1]) if len(path) > 1 and path[0] == "env" else None
