"""Static files that are served beside the Worker: wrangler's ``assets``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wrangler_compat.diagnostics import Diagnostics
from wrangler_compat.environments import Resolved
from wrangler_compat.reading import table, text, texts

# The files of the directory that say how the others are served, by what they hold.
CONTROL_FILES = {"headers": "_headers", "redirects": "_redirects", "ignore": ".assetsignore"}


@dataclass(frozen=True, slots=True)
class Assets:
    """Where the files are and how they are served; ``handling`` holds wrangler's keys as they stand."""

    directory: Path
    binding: str | None
    handling: Mapping[str, Any]

    @property
    def control_files(self) -> dict[str, Path]:
        """The files that are read once, when serving begins, whether they exist or not."""
        return {key: self.directory / name for key, name in CONTROL_FILES.items()}


def read_assets(data: Mapping[str, Any], root: Path) -> Assets | None:
    """The assets of a configuration in the folder ``root``, if it has any."""
    assets = table(data, "assets")
    directory = text(assets, "directory")
    if directory is None:
        return None
    written = {key: text(assets, key) for key in ("html_handling", "not_found_handling", "base_path")}
    handling: dict[str, Any] = {key: value for key, value in written.items() if value is not None}
    first = assets.get("run_worker_first")
    if isinstance(first, bool):
        handling["run_worker_first"] = first
    elif isinstance(first, list):
        handling["run_worker_first"] = [*texts(assets, "run_worker_first")]
    return Assets((root / directory).resolve(), text(assets, "binding"), handling)


def check_assets(resolved: Resolved, root: Path, found: Diagnostics) -> None:
    """What wrangler says about the directory and the binding when it starts."""
    if not table(resolved.data, "assets"):
        return
    path = resolved.path_of("assets")
    assets = read_assets(resolved.data, root)
    if assets is None:
        problem = "The `assets` property in your configuration is missing the required `directory` property."
        found.error("assets_directory_missing", problem, path, 'Add "directory": "./public".')
        return
    _check_directory(assets.directory, (*path, "directory"), found)
    if assets.handling.get("run_worker_first") is True and assets.binding is None:
        problem = "run_worker_first=true set without an assets binding: the Worker gets every request, but no asset."
        found.warn(problem, path, 'Add "binding": "ASSETS" to assets.', "assets_out_of_reach")


def _check_directory(directory: Path, path: tuple[str | int, ...], found: Diagnostics) -> None:
    named = 'specified by the "assets.directory" field in your configuration file'
    if not directory.exists():
        problem = f"The directory {named} does not exist:\n{directory}"
        found.error(
            "assets_directory_missing", problem, path, "Create it, or build the files that belong there.", "dev"
        )
    elif not directory.is_dir():
        problem = f"The path {named} doesn't point to a directory:\n{directory}"
        found.error("assets_directory_kind", problem, path, "Name the folder that holds the files.", "dev")
