"""`celld-py reconcile`: keeps the exports of the configuration in line with the Workflow classes of the code."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from runtime.cli.arguments import add_environment, add_project
from runtime.cli.shown import show_difference, show_mistakes

if TYPE_CHECKING:
    from runtime.cli.terminal import Terminal
    from wrangler_compat import ConfigError
    from wrangler_compat.reconcile import Reconciliation

Verdict = Literal["clean", "pending", "written", "refused", "failed"]

_SENTENCES: dict[Verdict, str] = {
    "clean": "{name} is in line with the code.",
    "pending": "{name} is not in line with the code.",
    "written": "{name} is written.",
    "refused": "{name} is not written: see the errors.",
    "failed": "{name} needs no change here, but there are errors.",
}
_DESCRIPTION = """Compare the "exports" of the configuration with the Workflow classes of the code, and show the change.
Exit code: 0 nothing to do or written, 1 something to do or refused, 2 the configuration cannot be read."""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command and its options."""
    command = commands.add_parser(
        "reconcile", help="bring exports in line with the code", description=_DESCRIPTION, allow_abbrev=False
    )
    command.set_defaults(run=run, parser=command)
    add = command.add_argument
    add_project(add)
    add_environment(add, "give this environment its own exports")
    add("--force", action="store_true", help="add exports that environments without their own would inherit")
    add("--json", action="store_true", help="print one JSON object")
    what = command.add_mutually_exclusive_group()
    what.add_argument("--check", action="store_true", help="print only the verdict")
    what.add_argument("--write", action="store_true", help="write the change")


def run(parsed: argparse.Namespace) -> int:
    """Reconcile, and show or write the result."""
    from runtime.cli.terminal import Terminal
    from wrangler_compat import ConfigError
    from wrangler_compat.reconcile import FileChanged, reconcile

    terminal = Terminal.standard()
    try:
        found = reconcile(Path(parsed.project), parsed.env, force=parsed.force)
        verdict = _act(found, parsed.write)
    except ConfigError as error:
        _show_unreadable(error, terminal, parsed.json)
        return 2
    except (FileChanged, OSError) as error:
        terminal.error(str(error), hint="Nothing was written.")
        return 1
    if parsed.json:
        terminal.line(json.dumps(_object(found, verdict), indent=2))
    elif parsed.check:
        terminal.line(_sentence(found, verdict))
    else:
        _show(found, verdict, terminal)
    return 0 if verdict in ("clean", "written") and not found.failed else 1


def _act(found: Reconciliation, write: bool) -> Verdict:
    from wrangler_compat.reconcile import replace_text

    if found.refused:
        return "refused"
    if not found.pending:
        return "failed" if found.failed else "clean"
    if not write:
        return "pending"
    replace_text(found.file.path, found.file.text, found.result)
    return "written"


def _sentence(found: Reconciliation, verdict: Verdict) -> str:
    return _SENTENCES[verdict].format(name=found.file.path.name)


# ---------------------------------------------------------------------------------------------------------- for people


def _show(found: Reconciliation, verdict: Verdict, terminal: Terminal) -> None:
    show_difference(_diff(found), terminal)
    for finding in found.findings:
        place = found.place(finding)
        text = f"{finding.rule}: {finding.message}"
        if finding.level == "error":
            terminal.error(text, str(place) if place else None, finding.hint, code=finding.rule)
        elif finding.level == "warning":
            terminal.warning(f"{text} ({place})" if place else text, finding.hint)
        else:
            terminal.note(text, finding.hint)
    advice = " Run with --write to make this change." if verdict == "pending" else ""
    terminal.line(_sentence(found, verdict) + advice)


def _diff(found: Reconciliation) -> Iterator[str]:
    """The change as a unified diff; line ends are not shown."""
    from difflib import unified_diff  # here, because `dev` starts without it

    before, after = (text.split("\n") for text in (found.file.text, found.result))
    name = found.file.path.name
    for line in unified_diff(before, after, name, name, lineterm=""):
        yield line.rstrip("\r")


# -------------------------------------------------------------------------------------------------------- for programs


def _object(found: Reconciliation, verdict: Verdict) -> dict[str, Any]:
    return {
        "file": str(found.file.path),
        "environment": found.environment,
        "verdict": verdict,
        "findings": [_finding(found, index) for index in range(len(found.findings))],
        "edits": [{"start": each.start, "end": each.end, "text": each.text} for each in found.splices],
        "diff": "\n".join(_diff(found)),
    }


def _finding(found: Reconciliation, index: int) -> dict[str, Any]:
    finding = found.findings[index]
    place = found.place(finding)
    return {
        "rule": finding.rule,
        "level": finding.level,
        "message": finding.message,
        "file": str(place.file) if place else None,
        "line": place.line if place else None,
        "column": place.column if place else None,
        "hint": finding.hint,
    }


def _show_unreadable(error: ConfigError, terminal: Terminal, as_json: bool) -> None:
    if not as_json:
        show_mistakes(error.all, terminal)
        return
    findings = [
        {
            "rule": each.code,
            "level": "error",
            "message": each.message,
            "file": str(each.file) if each.file else None,
            "line": each.line,
            "column": each.column,
            "hint": each.hint,
        }
        for each in error.all
    ]
    file = str(error.file) if error.file else None
    terminal.line(json.dumps({"file": file, "verdict": "unreadable", "findings": findings}, indent=2))
