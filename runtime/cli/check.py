"""`celld-py check`: says what is wrong with a project before it runs or is deployed."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from runtime.cli.arguments import add_environment, add_project

if TYPE_CHECKING:
    from runtime.cli.terminal import Terminal
    from wrangler_compat import Project
    from wrangler_compat.findings import Finding
    from wrangler_compat.lints import Target

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
    add_project(check.add_argument)
    add_environment(check.add_argument)
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
    from runtime.cli.terminal import Terminal
    from wrangler_compat import ConfigError, load_project
    from wrangler_compat.code import read_code
    from wrangler_compat.discover import find_config
    from wrangler_compat.findings import diagnose
    from wrangler_compat.lints import check
    from wrangler_compat.source import read_source

    terminal = Terminal.standard()
    path = Path(parsed.project)
    found = diagnose(path, parsed.env)
    try:
        read_source(find_config(path).path)
    except ConfigError:
        _print(found, parsed.json, terminal)
        return UNREADABLE
    mended = True
    if not _has_error(found):
        # The code is not asked while the configuration is wrong: that would only give follow-up errors.
        project = load_project(path, parsed.env)
        mended = not parsed.fix or _fix(project, parsed.target, terminal)
        found += check(project, read_code(project.main, project.root), parsed.target)
    _print(found, parsed.json, terminal)
    return 1 if _has_error(found) or not mended else 0


def _has_error(found: Iterable[Finding]) -> bool:
    return any(each.level == "error" for each in found)


def _fix(project: Project, target: Target, terminal: Terminal) -> bool:
    """Mend what is mechanical; False when a file could not be written."""
    from wrangler_compat.code import read_code
    from wrangler_compat.lints import mends
    from wrangler_compat.lints.mending import apply
    from wrangler_compat.reconcile import FileChanged

    try:
        mended = apply(mends(project, read_code(project.main, project.root), target))
    except (FileChanged, OSError) as error:
        terminal.error(str(error), hint="Not everything was mended.")
        return False
    for file, count in mended.items():
        terminal.err.write(f"{_short(file)}: mended {count} {'place' if count == 1 else 'places'}")
    return True


def _print(found: list[Finding], as_json: bool, terminal: Terminal) -> None:
    if as_json:
        terminal.line(json.dumps([_record(each) for each in found], indent=2))
        return
    explained = set()
    for each in found:
        terminal.line(f"{_place(each)}{each.level}: {each.message} [{each.code}]")
        if each.hint and (each.code, each.hint) not in explained:  # once is enough for many of a kind
            explained.add((each.code, each.hint))
            terminal.line("\n".join(f"  {line}" for line in each.hint.splitlines()))
    terminal.line(_summary(found))


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
