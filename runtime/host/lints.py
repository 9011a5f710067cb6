"""What `celld-py check` calls an error, shown once when the server is up."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from typing import Any

from runtime.cli.terminal import Terminal
from wrangler_compat import Project

SHOWN = 10  # errors; whoever has more will run the command
_NICENESS = 10  # requests and runs go first
_HAS_ERRORS, _CLEAN = 1, 0


async def show_errors(project: Project, target: str, terminal: Terminal, after: asyncio.Event) -> None:
    """Check the project once ``after`` is set, and print the errors.

    It is done by another process: here it would hold up requests, and leave its memory behind.
    """
    await after.wait()
    try:
        code, printed, complaint = await _check(project, target)
    except OSError as error:
        terminal.note(f"The code was not checked: {error}.")
        return
    if code not in (_CLEAN, _HAS_ERRORS):
        last = complaint.strip().rpartition("\n")[2]
        terminal.note(f"The code was not checked: celld-py check ended with exit code {code}. {last}".rstrip())
        return
    _show([each for each in json.loads(printed) if each["level"] == "error"], terminal)


async def _check(project: Project, target: str) -> tuple[int, str, str]:
    """The exit code of the command and what it printed; the process is gone when this ends, however it ends."""
    # -P: the project's folder is not on the command's path. An empty environment is the top level, whatever the
    # variable says.
    command = ("-P", "-m", "runtime.cli.main", "check", "--json", "--target", target)
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        *command,
        f"--env={project.environment or ''}",
        str(project.config_path),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        with contextlib.suppress(ProcessLookupError):
            os.setpriority(os.PRIO_PROCESS, child.pid, _NICENESS)
        printed, complaint = await child.communicate()
    finally:
        if child.returncode is None:
            child.kill()
            await child.wait()
    assert child.returncode is not None
    return child.returncode, printed.decode("utf-8"), complaint.decode("utf-8", "replace")


def _show(errors: list[dict[str, Any]], terminal: Terminal) -> None:
    hints = set()
    for each in errors[:SHOWN]:
        hint = None if each["hint"] in hints else each["hint"]
        hints.add(each["hint"])
        place = f"{os.path.relpath(each['file'])}:{each['line']}:{each['column']}" if each["line"] else each["file"]
        terminal.error(each["message"], place, hint, code=each["code"])
    if len(errors) > SHOWN:
        terminal.note(f"There are {len(errors) - SHOWN} more errors in the code. See: celld-py check")
