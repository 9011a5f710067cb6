"""The variables that hold on the developer's machine only: ``.dev.vars`` or, without it, the ``.env`` files.

They are secrets: the Worker sees them in ``env``, but listings and logs do not show them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from wrangler_compat import dotenv
from wrangler_compat.diagnostics import Diagnostics, Notice
from wrangler_compat.source import read_text

USE_DOT_ENV = "CLOUDFLARE_LOAD_DEV_VARS_FROM_DOT_ENV"
USE_PROCESS = "CLOUDFLARE_INCLUDE_PROCESS_ENV"


def local_files(root: Path, environment: str | None, environ: Mapping[str, str]) -> tuple[Path, ...]:
    """The files that count, in the order in which they are read.

    ``.dev.vars.ENV`` replaces ``.dev.vars``; only when neither exists do the ``.env`` files count.
    """
    for name in (f".dev.vars.{environment}", ".dev.vars") if environment else (".dev.vars",):
        if (root / name).is_file():
            return (root / name,)
    if not _uses_dot_env(environ):
        return ()
    names = [".env", ".env.local"]
    if environment:
        names += [f".env.{environment}", f".env.{environment}.local"]
    return tuple(root / name for name in names if (root / name).is_file())


def load_local(
    root: Path, environment: str | None, environ: Mapping[str, str], with_process: bool, found: Diagnostics
) -> dict[str, str]:
    """The local variables of the project at ``root``.

    ``with_process`` adds the process's own variables where ``.env`` files count, as
    CLOUDFLARE_INCLUDE_PROCESS_ENV does; ``.dev.vars`` is taken as it stands.
    """
    files = local_files(root, environment, environ)
    values: dict[str, str] = {}
    for file in files:
        values |= _read(file, found)
    if any(file.name.startswith(".dev.vars") for file in files) or not _uses_dot_env(environ):
        return values
    with_process = with_process or environ.get(USE_PROCESS, "").lower() == "true"
    return dotenv.expand(values, environ if with_process else {})


def _uses_dot_env(environ: Mapping[str, str]) -> bool:
    return environ.get(USE_DOT_ENV, "").lower() != "false"


def _read(file: Path, found: Diagnostics) -> dict[str, str]:
    variables = dotenv.parse(read_text(file))
    for line in variables.unread:
        hint = 'Write KEY=value, or KEY="a value with spaces".'
        text = f"{file.name}:{line} is not read: it is not KEY=value."
        found.warnings.append(Notice(text, hint, file.name, line, 1, file, "local_vars_line"))
    return variables.values
