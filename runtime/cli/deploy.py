"""`celld-py deploy`: gives a project to celld or to Cloudflare."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from runtime.cli.arguments import add_environment, add_project
from runtime.cli.shown import show_mistakes
from runtime.cli.values import filled

if TYPE_CHECKING:
    from runtime.cli.terminal import Terminal
    from wrangler_compat.projection import Deployable

_DESCRIPTION = """Deploy a Worker project. For celld, its files and a wrangler.json that celld takes are written into a
folder; for Cloudflare, it is checked and handed over to the installed wrangler or pywrangler.
Exit code: 0 done, 1 refused or failed, 2 the configuration cannot be read or the call is wrong."""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command and its options."""
    command = commands.add_parser("deploy", help="deploy a project", description=_DESCRIPTION, allow_abbrev=False)
    command.set_defaults(run=run, parser=command)
    add = command.add_argument
    add_project(add)
    add("--target", choices=("celld", "cloudflare"), required=True, help="where to")
    add_environment(add)
    add(
        "--outdir",
        type=filled,
        metavar="DIR",
        help="folder for the output (default for celld: .celld/deploy/celld beside the configuration)",
    )
    add("--dry-run", action="store_true", help="show what would be done, and do nothing")
    add(
        "--allow-drop",
        action="store_true",
        help="celld: leave out schedules and jurisdiction, which it would not keep, instead of refusing",
    )


def run(parsed: argparse.Namespace) -> int:
    """Read and check the project, then do what the target needs."""
    from runtime.cli.terminal import Terminal
    from wrangler_compat import ConfigError
    from wrangler_compat.projection import read_deployable

    if parsed.allow_drop and parsed.target != "celld":
        parsed.parser.error("argument --allow-drop: nothing is dropped for cloudflare")
    terminal = Terminal.standard()
    try:
        deployable = read_deployable(Path(parsed.project), parsed.env)
    except ConfigError as error:
        show_mistakes(error.all, terminal)
        return 2
    _warn(deployable, terminal)
    if deployable.errors:
        show_mistakes(deployable.errors, terminal)
        return 2 if any(error.code == "env_unknown" for error in deployable.errors) else 1
    for problem in deployable.unread:
        terminal.warning(f"{problem.message} ({problem.place})", "Its classes are not checked.")
    outdir = Path(parsed.outdir).absolute() if parsed.outdir else None
    if parsed.target == "celld":
        from runtime.cli.deploy_celld import deploy_celld

        return deploy_celld(deployable, outdir, parsed.dry_run, parsed.allow_drop, terminal)
    from runtime.cli.deploy_cloudflare import deploy_cloudflare

    return deploy_cloudflare(deployable, outdir, parsed.dry_run, terminal)


def _warn(deployable: Deployable, terminal: Terminal) -> None:
    for notice in deployable.warnings:
        place = f" ({notice.file}:{notice.line}:{notice.column})" if notice.line else ""
        terminal.warning(f"{notice.text}{place}", notice.hint)
