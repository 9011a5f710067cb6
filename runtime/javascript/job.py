"""One build: what it is made of, and what comes of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wrangler_compat import Project
from wrangler_compat.javascript import JavaScriptSettings

from .bundle import Module
from .entry import SHIM
from .failures import BuildError, BuildFailed
from .rules import Rules
from .separate import SeparateModules

_MAIN_MODULE = "index.js"
_OTHER_MAIN_MODULE = "celld-main.js"  # where the project has an index.js that stays a module of its own
_NO_EXPORTS = (
    "This Worker has no exports, so it is in the Service Worker format, which is not served here: "
    "Workflows need ES modules."
)


@dataclass(frozen=True, slots=True)
class Job:
    """A project to be built into ``folder``."""

    project: Project
    settings: JavaScriptSettings
    rules: Rules
    esbuild: Path
    folder: Path

    @property
    def root(self) -> Path:
        """The project's folder without links: esbuild follows them, and what it tells is relative to this."""
        return self.project.root.resolve()

    @property
    def classes(self) -> tuple[str, ...]:
        """The Workflow classes that the configuration names, each once."""
        return tuple(dict.fromkeys(declared.class_name for declared in self.project.workflows))

    def separate_modules(self) -> SeparateModules:
        """The modules of their own, with those already in it that are looked for in a folder."""
        modules = SeparateModules(self.settings, self.rules, self.folder)
        if self.settings.find_additional_modules:
            modules.find(self.project.main, self.project.config_path)
        return modules

    def inputs(self, metafile: Mapping[str, Any]) -> set[Path]:
        """The files that esbuild read; the names of those that were made up are no files."""
        paths = (self.root / name for name in metafile["inputs"])
        read = {path.resolve() for path in paths if path.is_file()}
        return {path for path in read if not path.is_relative_to(SHIM)}

    def is_module(self, metafile: Mapping[str, Any]) -> bool:
        """Whether the main module is an ES module, by its imports and exports."""
        main = self.project.main.resolve()
        formats = {(self.root / name).resolve(): each.get("format") for name, each in metafile["inputs"].items()}
        return formats.get(main) == "esm"

    def refuse_service_worker(self, exports: Iterable[str]) -> None:
        """Raise `BuildFailed` for a main module without exports."""
        if not list(exports):
            main = self.project.main
            file = str(main.relative_to(self.project.root) if main.is_relative_to(self.project.root) else main)
            advice = (
                "Export a default object with a fetch() method: export default { fetch(request, env, ctx) { ... } }"
            )
            raise BuildFailed([BuildError(_NO_EXPORTS, file=file, line=1, column=1, notes=(advice,))])


def main_module(separate: SeparateModules) -> str:
    """The name of the module with the project's code, beside its other modules."""
    return _OTHER_MAIN_MODULE if _MAIN_MODULE in separate.modules else _MAIN_MODULE


@dataclass(frozen=True, slots=True)
class Built:
    """What a build has made; see `Bundle`. ``origins`` are the files that modules are copies of."""

    modules: tuple[Module, ...]
    origins: Mapping[str, Path]
    exports: frozenset[str]
    missing: frozenset[str]
    inputs: frozenset[Path]
    warnings: tuple[str, ...]
