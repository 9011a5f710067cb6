"""V8's stacks in terms of the project's own files.

workerd applies no source maps, so a stack names places of the bundle. Here they become places of the sources, and the
frames of what stands around the user's code are left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from .entry import ENTRY_SOURCE, SHIM
from .mappings import SourceMap

# In a bundle's folder: the files that its modules are copies of, by the modules' names. No project has such a file.
ORIGINS = "celld-origins.json"

# "at name (script:1:2)", "at async script:1:2", "at new Name (file:///script:1:2)"; what comes before the script stays.
_FRAME = re.compile(
    r"^(?P<before>\s*at (?:async )?(?:.*? \()?)(?P<script>[^\s()]+?):(?P<line>\d+):(?P<column>\d+)(?P<after>\)?)$"
)


# With the flag new_module_registry, which the newest dates set, modules have names of this form.
_URL = re.compile(r"^(?:file:///bundle/|file:///?|/)")


class SourceMaps:
    """The source maps of a bundle's folder, each read when a stack first needs it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._maps: dict[str, SourceMap | None] = {}

    def apply(self, stack: str) -> str:
        """The stack with the places of the sources, without the frames of our own code."""
        return "\n".join(line for each in stack.split("\n") if (line := self._mapped(each)) is not None)

    def first(self, stack: str, inside: Path) -> tuple[Path, int] | None:
        """The innermost place in a file below ``inside`` that no package manager has put there; else in any below."""
        below = ((_seen_from(inside, path), line) for path, line, _ in self._places(stack))
        places = [(path, line) for path, line in below if path.is_relative_to(inside)]
        own = (place for place in places if "node_modules" not in place[0].parts)
        return next(own, places[0] if places else None)

    def _mapped(self, text: str) -> str | None:
        frame = _FRAME.match(text)
        if frame is None:
            return text
        place = self._place(frame)
        if place is None:
            return text
        path, line, column = place
        return None if _is_ours(path) else f"{frame['before']}{path}:{line}:{column}{frame['after']}"

    def _places(self, stack: str) -> Iterator[tuple[Path, int, int]]:
        frames = filter(None, map(_FRAME.match, stack.split("\n")))
        places = filter(None, map(self._place, frames))
        return (place for place in places if not _is_ours(place[0]))

    def _place(self, frame: re.Match[str]) -> tuple[Path, int, int] | None:
        script = _URL.sub("", frame["script"])
        line, column = int(frame["line"]), int(frame["column"])
        found = self._map(script)
        if found is not None:
            return found.place(line, column)
        origin = self._origins.get(script)
        return None if origin is None else (origin, line, column)

    def _map(self, script: str) -> SourceMap | None:
        if script not in self._maps:
            self._maps[script] = self._read(script)
        return self._maps[script]

    def _read(self, script: str) -> SourceMap | None:
        """The map beside a module, or beside the file that it is a copy of."""
        modules = [self._folder / script] if _is_name(script) else []
        for module in [*modules, *filter(None, [self._origins.get(script)])]:
            file = module.with_name(f"{module.name}.map")
            with suppress(OSError, ValueError):  # there is none, or the project has another kind of file of this name
                return SourceMap(file.read_bytes(), module.parent)
        return None

    @cached_property
    def _origins(self) -> dict[str, Path]:
        file = self._folder / ORIGINS
        if not file.is_file():
            return {}
        return {name: Path(origin) for name, origin in json.loads(file.read_bytes()).items()}


def _seen_from(folder: Path, path: Path) -> Path:
    """The path through the folder as it is named: esbuild follows links, so that a source may seem to be elsewhere."""
    real = folder.resolve()
    return folder / path.relative_to(real) if path.is_relative_to(real) else path


def _is_name(script: str) -> bool:
    """Whether it can be a module's name; a stack's text can hold anything."""
    return ":" not in script and ".." not in script.split("/")


def _is_ours(path: Path) -> bool:
    return path.name == ENTRY_SOURCE or path.is_relative_to(SHIM)
