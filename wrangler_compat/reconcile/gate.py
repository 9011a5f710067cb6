"""Whether the installed tools know workflow exports (R1).

A config with ``exports`` that an older wrangler deploys loses its workflows without a word.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

_VERSION = re.compile(r"([0-9]+)\.([0-9]+)\.([0-9]+)")


@dataclass(frozen=True, slots=True)
class Tool:
    """An npm package and the first version that runs workflow exports locally and deploys them."""

    package: str
    needed: tuple[int, int, int]

    @property
    def upgrade(self) -> str:
        """The command that mends it."""
        return f"npm install --save-dev {self.package}@latest"


TOOLS = (Tool("wrangler", (4, 142, 0)), Tool("@cloudflare/vite-plugin", (1, 61, 0)))


def outdated(folder: Path) -> list[tuple[Tool, str]]:
    """The tools installed for ``folder``, as Node would find them, that are too old, with their version."""
    found = ((tool, _installed(folder, tool.package)) for tool in TOOLS)
    return [(tool, version) for tool, version in found if version is not None and _older(version, tool.needed)]


def _installed(folder: Path, package: str) -> str | None:
    for place in (folder, *folder.parents):
        manifest = place / "node_modules" / package / "package.json"
        try:
            version = json.loads(manifest.read_bytes()).get("version")
        except (OSError, ValueError, AttributeError):  # nothing there, or nothing that npm has written
            continue
        return version if isinstance(version, str) else None
    return None


def _older(version: str, needed: tuple[int, int, int]) -> bool:
    match = _VERSION.match(version)
    if match is None:
        return False
    numbers = (int(match[1]), int(match[2]), int(match[3]))
    before_release = version[match.end() :].startswith("-")
    return numbers < needed or (numbers == needed and before_release)
