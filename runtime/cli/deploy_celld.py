"""The celld side of `celld-py deploy`: shows the projection, and writes the folder that celld takes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePosixPath

import workers_shim.wire
from runtime.cli.deploy_record import record
from runtime.cli.terminal import Terminal
from wrangler_compat.diagnostics import dotted
from wrangler_compat.projection import (
    CONFIG,
    ENTRY,
    Deployable,
    Projection,
    Remark,
    Row,
    UnusableFiles,
    UnusableFolder,
    WorkerFiles,
    check_folder,
    default_folder,
    entry_text,
    plain,
    project,
    worker_files,
    write_folder,
)

FALLBACK = Path(workers_shim.wire.__file__).parents[1] / "exports_fallback.py"
_HEADS = ("entry", "becomes", "dropped")
_NOTHING = "Nothing was written."


def deploy_celld(
    deployable: Deployable, outdir: Path | None, dry_run: bool, allow_drop: bool, terminal: Terminal
) -> int:
    """Project, show, and write unless something is refused; the result is the exit code."""
    if deployable.project.language == "javascript":
        text = f"{deployable.project.main.name} is JavaScript or TypeScript; only Python Workers can be made ready yet."
        terminal.error(text, hint=f"{_NOTHING} For Cloudflare: celld-py deploy --target cloudflare")
        return 1
    root = deployable.root
    folder = outdir or default_folder(root, "celld")
    try:
        check_folder(folder, root)
    except (UnusableFolder, OSError) as error:
        terminal.error(str(error), hint=f"{_NOTHING} Name another folder: --outdir DIR")
        return 2
    projection = project(deployable.resolved, deployable.code, allow_drop=allow_drop)
    _show(projection, deployable, terminal)
    if projection.refusals:
        terminal.error(f"celld would not take {deployable.project.name} as it is.", hint=_NOTHING)
        return 1
    return _make(deployable, projection, folder, dry_run, terminal)


def _make(deployable: Deployable, projection: Projection, folder: Path, dry_run: bool, terminal: Terminal) -> int:
    """Write the output, or say what it would be."""
    try:
        found = _files(deployable, projection)
        texts = _texts(deployable, projection)
        if not dry_run:
            write_folder(folder, found.files, texts)
    except UnusableFiles as error:
        terminal.error(str(error), hint=_NOTHING)
        return 1
    except OSError as error:
        title = f"The output cannot be made: {error.strerror or error}."
        terminal.error(title, error.filename, "An earlier output is as it was.")
        return 1
    _tell_files(found, texts, terminal)
    if dry_run:
        terminal.line(f"{folder} would hold these. {_NOTHING}")
        return 0
    record("celld", deployable, plain(projection.config), terminal)
    terminal.line(f"\nWritten to {folder}")
    terminal.line(f"Try it:    celld-py dev {folder} --target celld")
    terminal.line("Deploy it: celld-py has no uploader for celld; give this folder to celld's own tools.")
    return 0


def _files(deployable: Deployable, projection: Projection) -> WorkerFiles:
    root, main = deployable.root, deployable.project.main
    found = worker_files(root, main, [module.path for module in deployable.code.modules], projection.config)
    entry = main.with_name(ENTRY).relative_to(root).as_posix()
    if projection.on_env and entry in found.files:
        raise UnusableFiles(f"{entry} is in the way: the entry that is generated has this name.")
    return found


def _texts(deployable: Deployable, projection: Projection) -> dict[str, str]:
    """The generated files, by their path in the output."""
    texts = {CONFIG: projection.text}
    if projection.on_env:
        main = deployable.project.main
        texts[str(projection.config["main"])] = entry_text(FALLBACK.read_text("utf-8"), main.name, projection.on_env)
    return texts


# ------------------------------------------------------------------------------------------------------- for the reader


def _show(projection: Projection, deployable: Deployable, terminal: Terminal) -> None:
    environment = f", environment {deployable.project.environment}" if deployable.project.environment else ""
    terminal.line(f"{deployable.project.name} for celld, from {deployable.source.path.name}{environment}\n")
    if projection.rows:
        for line in table([_HEADS, *(_cells(row, projection) for row in projection.rows)]):
            terminal.line(f"  {line}")
        terminal.line("")
    for remark in projection.all_remarks():
        _say(remark, deployable, terminal)


def _cells(row: Row, projection: Projection) -> tuple[str, str, str]:
    refused = any(remark.path[: len(row.path)] == row.path for remark in projection.refusals)
    dropped = "; ".join(f"{each.key} ({each.reason})" for each in row.dropped)
    return dotted(row.path), "refused" if refused or row.becomes is None else row.becomes, dropped


def _say(remark: Remark, deployable: Deployable, terminal: Terminal) -> None:
    where = deployable.where(remark.path)
    if remark.level == "error":
        terminal.error(f"{remark.rule}: {remark.text}", where, remark.hint, code=remark.rule)
    elif remark.level == "warning":
        terminal.warning(f"{remark.rule}: {remark.text} ({where})", remark.hint)
    else:
        terminal.note(f"{remark.rule}: {remark.text}", remark.hint)


def _tell_files(found: WorkerFiles, texts: dict[str, str], terminal: Terminal) -> None:
    for name in found.secrets:
        terminal.note(f"{name} is left out: it looks like a secret.")
    for name in sorted({*found.files, *texts}, key=lambda name: (PurePosixPath(name).parent.parts, name)):
        terminal.line(f"  {name}{'  (generated)' if name in texts else ''}")


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """The rows in columns; the last one is as wide as it is."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["   ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
