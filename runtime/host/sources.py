"""Which files a project's behaviour depends on: what a reload is for."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from wrangler_compat import Project
from wrangler_compat.reading import entries, texts

IGNORED = frozenset({"node_modules", "__pycache__", "python_modules"})  # beside every folder whose name has a dot
CODE = frozenset({".py"})
# What code commonly reads from beside itself; elsewhere in the project such files are mostly what it writes.
DATA = frozenset(
    {".html", ".htm", ".css", ".js", ".json", ".jsonc", ".toml", ".yaml", ".yml", ".txt", ".md", ".sql", ".csv"}
    | {".xml", ".svg", ".jinja", ".jinja2", ".j2", ".tmpl", ".tpl"}
)
CONFIGURATION = frozenset({"wrangler.json", "wrangler.jsonc", "wrangler.toml", ".dev.vars", ".env", "pyproject.toml"})
# What a bundle may be made of, beside what the project's ``rules`` name, and what says how: these files count until a
# build has told which of them it read.
BUNDLED = frozenset(
    {".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".json", ".wasm", ".sql", ".html", ".txt", ".bin"}
)
BUILD_SETTINGS = frozenset({"package.json", "tsconfig.json"})

Inputs = Callable[[], frozenset[Path] | None]


class Sources:
    """The files of all projects whose change can change what they do.

    ``inputs`` gives the files that the last build read; None where there was none, or it failed.
    """

    def __init__(self, projects: Iterable[Project], state: Path, inputs: Inputs) -> None:
        self._trees = [_Tree(project, state, inputs) for project in projects]
        self._state = state
        self._inputs = inputs
        self.root = self._trees[0].root

    def include(self, path: Path) -> bool:
        """Whether this file is one of them."""
        return any(tree.include(path) for tree in self._trees) or self._is_input(path)

    def concern(self, path: Path) -> bool:
        """Whether an event of this path is worth a look: one of the files, or a folder that may hold some."""
        return self.include(path) or (not _passed_over(path.name) and path.is_dir())

    def folders(self) -> list[Path]:
        """The folders in which such files may be."""
        inside = {folder: None for tree in self._trees for folder, _ in tree.walk()}
        shared = sorted({path.parent for path in self._inputs() or () if self._is_ours(path)})
        return list(inside | dict.fromkeys(folder for folder in shared if folder.is_dir()))

    def changed_since(self, moment: float) -> set[Path]:
        """The files that were written after a moment (seconds since the epoch)."""
        walks = (walked for tree in self._trees for walked in tree.walk())
        paths = {folder / name for folder, names in walks for name in names} | (self._inputs() or frozenset())
        return {path for path in paths if self.include(path) and _written(path) > moment}

    def _is_input(self, path: Path) -> bool:
        """Whether the build read the file from outside of the projects' folders."""
        return self._is_ours(path) and path in (self._inputs() or ())

    def _is_ours(self, path: Path) -> bool:
        """Whether it may be edited: neither a package's, nor what a build has written for itself."""
        return "node_modules" not in path.parts and not path.is_relative_to(self._state)


class _Tree:
    """The folder of one project."""

    def __init__(self, project: Project, state: Path, inputs: Inputs) -> None:
        self.root = project.root
        self._state = state
        self._beside = project.main.parent
        self._inputs = inputs
        self._is_source = self._is_python
        if project.language == "javascript":
            from runtime.javascript.rules import additional_modules  # a Python project needs none of it

            self._is_source = self._is_bundled
            self._is_additional = additional_modules(project)
            globs = (glob for rule in entries(project.resolved, "rules") for glob in texts(rule, "globs"))
            self._bundled = BUNDLED | {Path(glob).suffix for glob in globs}

    def include(self, path: Path) -> bool:
        if not path.is_relative_to(self.root) or (path.is_relative_to(self._state) and self._state != self.root):
            return False
        if any(map(_passed_over, path.relative_to(self.root).parts[:-1])):
            return False
        return is_configuration(path) or (self._is_source(path) and not _is_our_output(path))

    def _is_python(self, path: Path) -> bool:
        return path.suffix in CODE or (path.suffix in DATA and path.is_relative_to(self._beside))

    def _is_bundled(self, path: Path) -> bool:
        if self._is_additional(path):  # also one that came after the build
            return True
        inputs = self._inputs()
        if inputs is None or path.name in BUILD_SETTINGS:
            return path.suffix in self._bundled
        return path in inputs or path.resolve() in inputs

    def walk(self) -> Iterator[tuple[Path, list[str]]]:
        for name, folders, files in os.walk(self.root):
            folders[:] = sorted(each for each in folders if not _passed_over(each))
            if Path(name) == self._state != self.root:
                folders.clear()
                continue
            yield Path(name), files


def _passed_over(folder: str) -> bool:
    return folder in IGNORED or folder.startswith(".")


def is_configuration(path: Path) -> bool:
    """Whether it is read at start-up only."""
    return path.name in CONFIGURATION or path.name.startswith((".dev.vars.", ".env."))


def _is_our_output(path: Path) -> bool:
    """Whether our own output goes into the file (``celld-py dev > out.txt``): each reload would write to it."""
    try:
        file = path.stat()
        return any(os.path.samestat(file, os.fstat(descriptor)) for descriptor in (1, 2))
    except OSError:  # it is gone, or there is no such descriptor
        return False


def _written(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:  # it went away while we looked
        return 0.0
