"""`celld-py check`: says what is wrong with a project before it runs or is deployed."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from runtime.cli.values import filled

if TYPE_CHECKING:
    from wrangler_compat import Project
    from wrangler_compat.findings import Finding

UNREADABLE = 2  # exit status when there is no configuration that could be read


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command and its options."""
    check = commands.add_parser(
        "check",
        help="find mistakes in a project",
        description="Check the configuration and the code of a Worker project. What each finding means: docs/lints.md.",
        allow_abbrev=False,
    )
    check.set_defaults(run=run, parser=check)
    check.add_argument(
        "project",
        nargs="?",
        default=".",
        type=filled,
        metavar="PROJECT",
        help="folder or configuration file of the project (default: the current folder)",
    )
    check.add_argument("--env", metavar="NAME", help="environment of the configuration (default: $CLOUDFLARE_ENV)")
    check.add_argument(
        "--target",
        choices=("cloudflare", "celld"),
        default="cloudflare",
        help="where the project will be deployed, so whose rules hold (default: %(default)s)",
    )
    check.add_argument("--json", action="store_true", help="print the findings as a JSON list")
    check.add_argument("--fix", action="store_true", help="mend what can be mended mechanically, and show the rest")


def run(parsed: argparse.Namespace) -> int:
    """Print the findings; the result is 1 when there is an error among them, 2 when there is nothing to check."""
    from wrangler_compat import ConfigError
    from wrangler_compat.discover import find_config
    from wrangler_compat.findings import diagnose
    from wrangler_compat.source import read_source

    path = Path(parsed.project)
    found = diagnose(path, parsed.env)
    try:
        read_source(find_config(path).path)
    except ConfigError:
        _print(found, parsed.json)
        return UNREADABLE
    if not _has_error(found):
        found += _lint(path, parsed)
    _print(found, parsed.json)
    return 1 if _has_error(found) else 0


def _has_error(found: Iterable[Finding]) -> bool:
    return any(each.level == "error" for each in found)


def _lint(path: Path, parsed: argparse.Namespace) -> list[Finding]:
    """What the code says. It is not asked while the configuration is wrong: that would only give follow-up errors."""
    from wrangler_compat import load_project
    from wrangler_compat.code import read_code
    from wrangler_compat.lints import check

    project = load_project(path, parsed.env)
    if parsed.fix:
        _fix(project, parsed)
    return check(project, read_code(project.main, project.root), parsed.target)


def _fix(project: Project, parsed: argparse.Namespace) -> None:
    from wrangler_compat.code import read_code
    from wrangler_compat.lints import mends
    from wrangler_compat.lints.mending import apply

    for file, count in apply(mends(project, read_code(project.main, project.root), parsed.target)).items():
        print(f"{_short(file)}: mended {count} {'place' if count == 1 else 'places'}", file=sys.stderr)


def _print(found: list[Finding], as_json: bool) -> None:
    if as_json:
        print(json.dumps([_record(each) for each in found], indent=2))
        return
    explained = set()
    for each in found:
        print(f"{_place(each)}{each.level}: {each.message} [{each.code}]")
        if each.hint and (each.code, each.hint) not in explained:  # once is enough for many of a kind
            explained.add((each.code, each.hint))
            print("\n".join(f"  {line}" for line in each.hint.splitlines()))
    print(_summary(found))


def _record(finding: Finding) -> dict[str, object]:
    return {
        "code": finding.code,
        "level": finding.level,
        "message": finding.message,
        "file": None if finding.file is None else str(finding.file),
        "line": finding.line,
        "column": finding.column,
        "hint": finding.hint,
    }


def _place(finding: Finding) -> str:
    if finding.file is None:
        return ""
    line = "" if finding.line is None else f":{finding.line}:{finding.column}"
    return f"{_short(finding.file)}{line}: "


def _short(path: Path) -> str:
    """The path as seen from the current folder, when that is shorter."""
    relative = os.path.relpath(path)
    return relative if len(relative) < len(str(path)) else str(path)


def _summary(found: list[Finding]) -> str:
    counts = [(sum(each.level == level for each in found), level) for level in ("error", "warning", "note")]
    told = [f"{count} {level}{'' if count == 1 else 's'}" for count, level in counts if count]
    return ", ".join(told) or "Nothing to say."
