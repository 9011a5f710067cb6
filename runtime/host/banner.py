"""What the terminal shows before `Ready`: what was found, what goes on, what is missing."""

from __future__ import annotations

import datetime
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from runtime.cli.terminal import Terminal
from runtime.store import Store
from wrangler_compat import Language, Notice, Project

from .errors import ProjectError
from .options import Options
from .recovery import Recovered
from .schedules import Entry
from .times import utc

if TYPE_CHECKING:
    from .crons import Trigger
    from .start import Start


_CLASS: dict[Language, str] = {
    "python": "class NAME(WorkflowEntrypoint)",
    "javascript": "export class NAME extends WorkflowEntrypoint",
}


def show(terminal: Terminal, start: Start, store: Store, recovered: Recovered) -> None:
    """Print what runs, where its state is, and what was taken up again."""
    for project in start.projects:
        _show_project(terminal, start, project)
    terminal.line(f"  State {_short(store.folder.path)} (survives {_survives(start.options)})")
    _show_checks(terminal, start.options)
    for project in start.projects:
        _show_notices(terminal, project.warnings, project.notes)
    note = start.launcher.advice()
    if note is not None:
        terminal.note(note)
    _show_recovered(terminal, recovered)
    _show_repair(terminal, store)
    terminal.event(
        "started",
        project=start.project.name,
        workflows=[declared.name for project in start.projects for declared in project.workflows],
        resumed=recovered.resumed,
        waiting=recovered.waiting,
        next_wake=recovered.next_wake,
    )


def _show_project(terminal: Terminal, start: Start, project: Project) -> None:
    environment = f", environment {project.environment}" if project.environment else ""
    terminal.line(f"{project.name} ({_short(project.config_path)}{environment}), target {start.options.target}")
    if project is start.project:
        terminal.line(f"  {start.launcher.engine()}")
    for declared in project.workflows:
        ways = [f"env.{declared.binding}"] if declared.binding else []
        ways += [f"ctx.exports.{declared.class_name}"] if declared.exported else []
        terminal.line(f"  Workflow {declared.name}: class {declared.class_name}, reached by {' and '.join(ways)}")
    for line in start.launcher.served(project):
        terminal.line(f"  {line}")
    names = sorted(name for name in project.vars if name not in project.secrets)
    if names or project.secrets:
        secret = f" and secrets {', '.join(sorted(project.secrets))}" if project.secrets else ""
        terminal.line(f"  Variables {', '.join(names) or 'none'}{secret}")


def show_schedules(terminal: Terminal, start: Start, next_times: Mapping[Entry, int]) -> None:
    """Print when each schedule fires next, or that none does."""
    for entry, at in next_times.items():
        terminal.line(f"  Schedule {entry.cron.text} of {entry.workflow}: next {utc(at)}")
        terminal.event("schedule", workflow=entry.workflow, cron=entry.cron.text, next=at)
    declared = (workflow for project in start.projects for workflow in project.workflows)
    off = [f"{text} of {workflow.name}" for workflow in declared for text in workflow.schedules]
    if off and not start.options.schedules:
        terminal.line(f"  Schedules are off (--no-schedules): {', '.join(off)}")


def show_triggers(terminal: Terminal, next_times: Mapping[Trigger, int]) -> None:
    """Print when each Cron Trigger fires next."""
    for trigger, at in next_times.items():
        terminal.line(f"  Cron Trigger {trigger.cron.text} of {trigger.worker}: next {utc(at)}")


def _show_checks(terminal: Terminal, options: Options) -> None:
    if options.replay_every_step:
        terminal.line("  Replay: every instance is dropped and replayed after each step (--replay-every-step)")
    if options.strict_replay:
        terminal.line("  Replay: one that does not fit the history ends its instance (--strict-replay)")


def _show_notices(terminal: Terminal, warnings: Iterable[Notice], notes: Iterable[Notice]) -> None:
    for notice in warnings:
        terminal.warning(notice.text, notice.hint)
    for notice in notes:
        terminal.note(notice.text, notice.hint)


def _show_recovered(terminal: Terminal, recovered: Recovered) -> None:
    if recovered.expired:
        terminal.line(f"  Expired while the server was down: {_instances(recovered.expired)}, deleted now")
    if not recovered.resumed and not recovered.waiting:
        return
    told = f"  {_instances(recovered.resumed)} taken up again, {recovered.waiting} waiting"
    if recovered.next_wake is not None:
        told += f", the next wakes at {_time(recovered.next_wake)}"
    terminal.line(told)


def _show_repair(terminal: Terminal, store: Store) -> None:
    repair = store.repair
    if repair is None:
        return
    damage = f"{repair.damage} " if repair.damage is not None else "The catalog was missing. "
    terminal.warning(f"{damage}It was made again from the journals: {_instances(repair.rebuilt.found)} found.")
    for error in repair.rebuilt.unreadable:
        terminal.warning(f"An instance was left out of it. {error}")


def missing_classes(project: Project, known: Iterable[str]) -> ProjectError | None:
    """The error that names each Workflow whose class the code does not have."""
    classes = sorted(known)
    missing = [declared for declared in project.workflows if declared.class_name not in classes]
    if not missing:
        return None
    lines = [f'Workflow "{declared.name}" needs the class {declared.class_name}' for declared in missing]
    found = f"{project.main.name} has {', '.join(classes)}" if classes else f"{project.main.name} has none"
    return ProjectError(
        f"{project.main.name} lacks {'a WorkflowEntrypoint' if len(missing) == 1 else 'WorkflowEntrypoints'} "
        f"that {_short(project.config_path)} names.",
        detail="\n".join([*lines, found]),
        hint=f"Define the class ({_CLASS[project.language]}) or correct class_name. "
        "Instances of the Workflow are kept, and go on when it is there.",
        code="missing_class",
    )


def url(ip: str, port: int) -> str:
    """The address to open in a browser."""
    return f"http://[{ip}]:{port}" if ":" in ip else f"http://{ip}:{port}"


def _instances(count: int) -> str:
    return "1 instance" if count == 1 else f"{count} instances"


def _survives(options: Options) -> str:
    return "kill -9" if options.durability == "process" else "kill -9 and power loss"


def _time(ms: int) -> str:
    at = datetime.datetime.fromtimestamp(ms / 1000).astimezone()
    today = datetime.datetime.now().astimezone().date()
    return at.strftime("%H:%M:%S" if at.date() == today else "%Y-%m-%d %H:%M:%S")


def _short(path: Path) -> str:
    """The path as seen from the current folder, when that is shorter."""
    relative = os.path.relpath(path)
    return relative if len(relative) < len(str(path)) else str(path)
