"""Runs the lints over a project."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from wrangler_compat.code import Code
from wrangler_compat.findings import Finding
from wrangler_compat.lints.every import LINTS
from wrangler_compat.lints.ignoring import Ignored
from wrangler_compat.lints.lint import Hit, Insertion, Level, Lint, Subject, Target
from wrangler_compat.project import Project
from wrangler_compat.source import read_source

_ORDER: dict[Level, int] = {"error": 0, "warning": 1, "note": 2}


def check(project: Project, code: Code, target: Target = "cloudflare", lints: Iterable[Lint] = LINTS) -> list[Finding]:
    """What the lints have to say, errors first, each level in the order of files and lines."""
    found = [_finding(lint, hit) for lint, hit in hits(project, code, target, lints)]
    return sorted(found, key=lambda each: (_ORDER[each.level], str(each.file), each.line or 0, each.column or 0))


def mends(project: Project, code: Code, target: Target = "cloudflare") -> list[Insertion]:
    """The mechanical mends of what the lints found."""
    return [hit.mend for _, hit in hits(project, code, target, LINTS) if hit.mend is not None]


def hits(project: Project, code: Code, target: Target, lints: Iterable[Lint]) -> Iterator[tuple[Lint, Hit]]:
    """The hits of each lint, once each, without those that a comment takes back."""
    subject = Subject(project, read_source(project.config_path), code, target)
    ignored = Ignored()
    for lint in lints:
        seen = set()
        for hit in lint.check(subject):
            key = (hit.message, hit.place)
            if key in seen or (hit.place and ignored.has(hit.place.file, hit.place.line, lint.code)):
                continue
            seen.add(key)
            yield lint, hit


def _finding(lint: Lint, hit: Hit) -> Finding:
    place = hit.place
    return Finding(
        code=lint.code,
        level=hit.level or lint.level,
        message=hit.message,
        file=place.file if place else None,
        line=place.line if place else None,
        column=place.column if place else None,
        hint=lint.hint,
    )
