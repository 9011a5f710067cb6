"""The Cloudflare side of `celld-py deploy`: shows what has changed, and lets wrangler or pywrangler do the rest."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from runtime.cli.deploy_record import record
from runtime.cli.shown import show_difference
from runtime.cli.terminal import Terminal
from wrangler_compat.environments import ENVIRONMENT_VARIABLE
from wrangler_compat.projection import Deployable, difference, find_tool, last_projection, plain
from wrangler_compat.reconcile.gate import outdated

_SIGNALLED = 128  # a shell adds it to the number of the signal that ended a command


def deploy_cloudflare(deployable: Deployable, outdir: Path | None, dry_run: bool, terminal: Terminal) -> int:
    """Check the classes, show the difference with the last deploy, and hand over; gives the tool's exit code."""
    project = deployable.project
    if not _has_classes(deployable, terminal):
        return 1
    tool = find_tool(deployable.root, project.language)
    if tool is None:
        hint = "Install it: npm install --save-dev wrangler; for a Python Worker also: pip install workers-py"
        terminal.error("There is neither wrangler nor pywrangler, in the project or on PATH.", hint=hint)
        return 1
    _warn_of_old_tools(deployable, terminal)
    config = plain(deployable.resolved.data)
    _tell_difference(last_projection(deployable.root, "cloudflare", project.environment), config, terminal)
    command = [
        str(tool),
        "deploy",
        "--config",
        str(project.config_path),
        *_environment(project.environment, os.environ),
    ]
    command += ["--outdir", str(outdir)] if outdir else []
    command += ["--dry-run"] if dry_run else []
    terminal.line(f"Running {' '.join(command)}")
    try:
        exit_code = _run(command, deployable.root)
    except OSError as error:
        terminal.error(f"{tool} cannot be started.", error.strerror or str(error))
        return 1
    if exit_code == 0 and not dry_run:
        record("cloudflare", deployable, config, terminal)
    return exit_code


def _has_classes(deployable: Deployable, terminal: Terminal) -> bool:
    """Whether every class that the configuration names may be there; wrangler finds the others out late, or never."""
    missing = [declared for declared in deployable.project.workflows if deployable.code.lacks(declared.class_name)]
    for declared in missing:
        text = f'The code has no Workflow class {declared.class_name}, which the Workflow "{declared.name}" needs.'
        terminal.error(
            text, deployable.where(declared.path), "Export the class from the main module, or remove the entry."
        )
    return not missing


def _warn_of_old_tools(deployable: Deployable, terminal: Terminal) -> None:
    if any(declared.exported for declared in deployable.project.workflows):
        for tool, version in outdated(deployable.root):
            text = f"{tool.package} {version} does not know workflow exports: it deploys the Worker without them."
            terminal.warning(text, f"Upgrade it: {tool.upgrade}")


def _tell_difference(before: object, config: object, terminal: Terminal) -> None:
    if before is None:
        terminal.line("No earlier deploy of this environment is recorded here.")
        return
    lines = list(difference(before, config))
    show_difference(lines, terminal)
    if not lines:
        terminal.line("The configuration is that of the last deploy.")


def _environment(name: str | None, environ: Mapping[str, str]) -> list[str]:
    """What tells the tool the environment: the one that was checked, whatever it would read from the variable."""
    return [f"--env={name or ''}"] if name or environ.get(ENVIRONMENT_VARIABLE) else []


def _run(command: list[str], folder: Path) -> int:
    """Run the tool on our own terminal, to its end: Ctrl-C reaches it too, and it may have something to tidy up."""
    with subprocess.Popen(command, cwd=folder) as process:
        while True:
            try:
                code = process.wait()
            except KeyboardInterrupt:
                continue
            return code if code >= 0 else _SIGNALLED - code
