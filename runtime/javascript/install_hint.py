"""What to do when a package is not there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

_CLIENTS = {"pnpm-lock.yaml": "pnpm", "yarn.lock": "yarn", "bun.lock": "bun", "bun.lockb": "bun"}
_DECLARED = ("dependencies", "devDependencies", "optionalDependencies", "peerDependencies")


def install_hint(specifier: str, root: Path) -> str | None:
    """The command that would bring the package of an import; None when the import is not of a package."""
    if specifier.startswith((".", "/", "#")) or ":" in specifier:
        return None
    parts = specifier.split("/")
    package = "/".join(parts[: 2 if specifier.startswith("@") else 1])
    for folder in (root, *root.parents):
        declared = _declared(folder / "package.json")
        if declared is None:
            continue
        command = "install" if package in declared else f"{'install' if _client(folder) == 'npm' else 'add'} {package}"
        there = "" if (folder / "node_modules").is_dir() else ": there is no node_modules folder"
        return f'The package "{package}" is not installed{there}. Run `{_client(folder)} {command}` in {folder}.'
    return f'The package "{package}" is not installed. Run `npm install {package}` in {root}.'


def _declared(manifest: Path) -> set[str] | None:
    try:
        data = json.loads(manifest.read_bytes())
    except (OSError, ValueError):
        return None
    return set(_names(data)) if isinstance(data, dict) else None


def _names(data: dict[str, object]) -> Iterator[str]:
    for key in _DECLARED:
        names = data.get(key)
        yield from names if isinstance(names, dict) else ()


def _client(folder: Path) -> str:
    return next((client for lock, client in _CLIENTS.items() if (folder / lock).exists()), "npm")
