"""Brings the exports of a configuration in line with the code: plans, edits the text and proves the edit."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wrangler_compat.checks import check
from wrangler_compat.code import Code, Place, read_code
from wrangler_compat.diagnostics import ConfigError, Diagnostics, Position
from wrangler_compat.discover import find_config
from wrangler_compat.edits import Splice, outcome, spliced
from wrangler_compat.edits.errors import CannotEdit
from wrangler_compat.edits.files import ConfigFile, open_config
from wrangler_compat.environments import Resolved, chosen_environment, resolve
from wrangler_compat.project import DEFAULT_NAME
from wrangler_compat.reconcile.entries import Entries
from wrangler_compat.reconcile.environments import reconcile_environment, refuse_takeover, report_environments
from wrangler_compat.reconcile.gate import outdated
from wrangler_compat.reconcile.plan import Finding, Level, Plan, blocked
from wrangler_compat.reconcile.rules import Rules
from wrangler_compat.reconcile.verify import verify
from wrangler_compat.workflows import read_workflows

EXPORTS_DATE = "2025-11-17"  # from this compatibility date on, code has ctx.exports
EXPORTS_FLAG = "enable_ctx_exports"
_OPT_OUT = "disable_ctx_exports"
_UNREAD = "setting_not_literal"
_RECONCILED = {"workflows", "exports"}


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """What was found out about one file: its text, the text as it should be, and what there is to say."""

    file: ConfigFile
    environment: str | None
    splices: tuple[Splice, ...]
    result: str
    findings: tuple[Finding, ...]

    def place(self, finding: Finding) -> Place | None:
        """Where a finding points: into the code, or into the configuration."""
        if finding.place is not None:
            return finding.place
        position = self.file.locate(finding.path) if finding.path else None
        return Place(self.file.path, position.line, position.column) if position else None

    @property
    def pending(self) -> bool:
        """Whether the text should change."""
        return self.result != self.file.text

    @property
    def refused(self) -> bool:
        """Whether the change may not be written."""
        return blocked(self.findings)

    @property
    def failed(self) -> bool:
        """Whether something is left that a person has to mend."""
        return any(finding.level == "error" for finding in self.findings)


def reconcile(
    project: Path, env: str | None = None, environ: Mapping[str, str] = os.environ, *, force: bool = False
) -> Reconciliation:
    """Compare configuration and code of a project; nothing is written.

    Raises `ConfigError` when the configuration cannot be read. ``force`` adds exports that environments would inherit.
    """
    file = open_config(find_config(project).path)
    repeated = tuple(_repeated(file, key, place) for key, place in file.repeated())
    found = Diagnostics(file.path, file.locate)
    resolved = resolve(file.data, chosen_environment(env, environ), found)
    found.raise_errors()
    if repeated:
        return Reconciliation(file, resolved.environment, (), file.text, repeated)
    _check_shapes(file, resolved)
    code = read_code(_main(file, resolved), file.path.parent)
    plan = _plan(file, resolved, code, force)
    for notice in found.warnings:
        if notice.code == "env_unknown":  # the other warnings are about a deploy, not about what is edited here
            plan.warn("env", notice.text, hint=notice.hint)
    return _finished(file, resolved, plan)


def _repeated(file: ConfigFile, key: str, position: Position) -> Finding:
    place = Place(file.path, position.line, position.column)
    text = f'"{key}" is written twice; the last one counts, and neither is edited.'
    return Finding("R16", "error", text, place=place, hint="Remove one.", blocks=True)


def _plan(file: ConfigFile, resolved: Resolved, code: Code, force: bool) -> Plan:
    plan = Plan()
    _report_problems(code, plan)
    if plan.blocked:
        return plan
    unread = _unread(code)
    environment, block = _block(file.data, resolved)
    if environment is None:
        Rules(code, Entries.read(file.data, (), _worker(resolved)), plan, unread).reconcile()
        refuse_takeover(file.data, plan, force)
    else:
        entries = Entries.read(block, ("env", environment), _worker(resolved))
        rules = Rules(code, entries, plan, unread, suffix=f"-{environment}", fixed=True)
        inherited = (file.data.get("exports") or {}) if block.get("exports") is None else None
        reconcile_environment(rules, inherited)
    report_environments(file.data, environment, plan)
    _check_tools(file.path.parent, plan)
    return plan


def _finished(file: ConfigFile, resolved: Resolved, plan: Plan) -> Reconciliation:
    """Check the outcome as wrangler would, and make the text say it."""
    wanted = outcome(file.data, plan.operations)
    after = resolve(wanted, resolved.environment, Diagnostics(file.path))
    _check_outcome(file, wanted, after, plan)
    _check_date(after, plan)
    try:
        splices = file.splices(plan.operations) if plan.operations else ()
        result = spliced(file.text, splices)
        verify(file, result, wanted)
    except CannotEdit as error:
        plan.error("R15", f"This file cannot be edited: {error}.", hint="Make the change by hand.", blocks=True)
        splices, result = (), file.text
    return Reconciliation(file, resolved.environment, splices, result, tuple(plan.findings))


def _block(data: Mapping[str, Any], resolved: Resolved) -> tuple[str | None, Mapping[str, Any]]:
    """The environment that has a block of its own, and the block."""
    blocks = data.get("env") or {}
    name = resolved.environment
    if name is None or name not in blocks:
        return None, data
    return name, blocks[name]


def _worker(resolved: Resolved) -> str:
    return str(resolved.data.get("name") or DEFAULT_NAME)


def _main(file: ConfigFile, resolved: Resolved) -> Path:
    main = resolved.data.get("main")
    path = Path(os.path.normpath(file.path.parent / main)) if isinstance(main, str) and main else None
    if path is None or not path.is_file():
        text = 'There is no "main": nothing says which file is the Worker.'
        if path is not None:
            text = f'"main" names {path}, which is no file.'
        place = file.locate(resolved.path_of("main")) if main else None
        hint = "Name the Worker's file, relative to the configuration."
        raise ConfigError("main_missing", text, file=file.path, position=place, hint=hint)
    return path


def _check_shapes(file: ConfigFile, resolved: Resolved) -> None:
    """Refuse what is so misshapen that there are no entries to speak of, in whichever environment."""
    found = Diagnostics(file.path, file.locate)
    environments = file.data.get("env")
    if environments is not None and not isinstance(environments, dict):
        resolve(file.data, "any", found)
    check(file.data, resolved, found)
    for name, block in (environments if isinstance(environments, dict) else {}).items():
        if block is not None:
            check({}, resolve(file.data, name, found), found)
    shapes = {error.message: error for error in found.errors if _is_shape(error)}
    found.errors = list(shapes.values())
    found.raise_errors()


def _is_shape(error: ConfigError) -> bool:
    return error.code in _SHAPES or (error.code == "field_type" and error.path[-1:] == ("workflows",))


_SHAPES = {"env_shape", "workflow_shape", "exports_shape", "export_shape"}


def _report_problems(code: Code, plan: Plan) -> None:
    """What is wrong with the code: a setting that is no literal is left out, anything else stops the change."""
    for problem in code.problems:
        unread = problem.code in ("code_syntax", "code_unreadable")
        rule = "R19" if problem.code == _UNREAD else "code" if unread else "R14"
        bad = not unread or problem.place.file == code.main
        level: Level = "error" if bad else "warning"
        blocks = bad and rule != "R19"
        plan.findings.append(Finding(rule, level, problem.message, (), problem.place, problem.hint, blocks))


def _unread(code: Code) -> dict[str, frozenset[str]]:
    """Settings that a class has but that cannot be read; their messages begin with the setting."""
    keys = frozenset(problem.message.partition(" ")[0] for problem in code.problems if problem.code == _UNREAD)
    return {each.name: keys for each in code.classes}


def _check_tools(folder: Path, plan: Plan) -> None:
    for tool, version in outdated(folder):
        needed = ".".join(map(str, tool.needed))
        text = f"{tool.package} {version} does not run workflow exports; {needed} does. Nothing is written."
        plan.findings.append(Finding("R1", "warning", text, hint=tool.upgrade, blocks=bool(plan.operations)))


def _check_outcome(file: ConfigFile, wanted: dict[str, Any], after: Resolved, plan: Plan) -> None:
    found = Diagnostics(file.path, file.locate)
    check(wanted, after, found)
    read_workflows(after, _worker(after), found)
    for error in found.errors:
        if not _RECONCILED & set(error.path[:3]):
            continue
        place = Place(file.path, error.line, error.column or 1) if error.line else None
        plan.findings.append(Finding("R14", "error", error.message, place=place, hint=error.hint, blocks=True))


def _check_date(after: Resolved, plan: Plan) -> None:
    exports = (after.data.get("exports") or {}).values()
    flags = after.data.get("compatibility_flags") or []
    date = after.data.get("compatibility_date")
    if not any(entry.get("type") == "workflow" for entry in exports) or EXPORTS_FLAG in flags:
        return
    if _OPT_OUT in flags:
        plan.warn("R17", f'With the flag "{_OPT_OUT}", code has no ctx.exports.', after.path_of("compatibility_flags"))
    elif isinstance(date, str) and date < EXPORTS_DATE:
        text = f"With the compatibility date {date}, code has no ctx.exports."
        hint = f'Set it to {EXPORTS_DATE} or later, or add "{EXPORTS_FLAG}" to compatibility_flags.'
        plan.warn("R17", text, after.path_of("compatibility_date"), hint)
