"""Modules of their own: the files that imports name under the rules, and those that are found in a folder.

wrangler does this in a plugin of its bundler; the order of what is tried is its order.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from wrangler_compat.javascript import JavaScriptSettings, Rule

from . import globs
from .bundle import Module
from .esbuild import Answer, Hook, Hooked, Request
from .rules import KINDS, Rules, shown
from .source_maps import ORIGINS

# An import that is asked about once more, so that esbuild says where it leads without us.
PLAIN = 1
IMPORTS = ("import-statement", "require-call", "dynamic-import")
_PASSED_OVER = frozenset({"node_modules"})  # beside every folder whose name begins with a dot


class SeparateModules:
    """Collects the modules of one build into its folder."""

    def __init__(self, settings: JavaScriptSettings, rules: Rules, folder: Path) -> None:
        self._settings = settings
        self._rules = rules
        self._folder = folder
        self._found: dict[Path, str] = {}
        self.modules: dict[str, Module] = {}
        self.origins: dict[str, Path] = {}

    def find(self, main: Path, config: Path) -> None:
        """Take in the files of the module root that a rule matches."""
        for file in _files(self._settings.module_root):
            name = file.relative_to(self._settings.module_root).as_posix()
            rule = self._rules.of_file(name)
            if rule is not None and file not in (main, config):
                self._found[file] = name
                self._add(f"./{name}", rule, file)

    def hooks(self) -> Iterator[Hook]:
        """What esbuild has to ask about."""
        for rule in self._rules.kept:
            if not rule.is_code or self._settings.find_additional_modules:
                yield from (Hook(globs.loose(glob), partial(self._resolve, rule)) for glob in rule.globs)
        for rule in self._rules.replaced:
            yield from (Hook(globs.loose(glob), partial(_refuse, rule)) for glob in rule.globs)

    def _resolve(self, rule: Rule, request: Request) -> Hooked:
        if not is_first_asked(request):
            return None
        path = request["path"].split("?")[0]
        beside = Path(os.path.normpath(Path(request["resolveDir"], path)))
        if beside in self._found:
            return {"path": f"./{self._found[beside]}", "external": True}
        if rule.is_code:
            return None
        leads = yield plainly(request, path)
        file = beside if leads["errors"] else Path(leads["path"])
        if not file.is_file():
            return None  # esbuild says so, with the place
        return {"path": self._add(self._name(path, file), rule, file), "external": True}

    def _name(self, path: str, file: Path) -> str:
        if self._settings.preserve_file_names:
            name = "/".join(part for part in path.split("/") if part not in ("", ".", ".."))
            if self.origins.get(name, file) == file:
                return f"./{name}"
        digest = hashlib.sha1(file.read_bytes(), usedforsecurity=False).hexdigest()
        return f"./{digest}-{file.name}"

    def _add(self, specifier: str, rule: Rule, file: Path) -> str:
        name = specifier.removeprefix("./")
        if name not in self.modules:
            copy = self._folder / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copy)
            self.modules[name] = Module(name, KINDS[rule.type], copy)
            self.origins[name] = file
        return specifier


def plainly(request: Request, path: str) -> Answer:
    """The question where ``path`` leads from the place of this import."""
    return {
        "path": path,
        "importer": request["importer"],
        "namespace": request["namespace"],
        "resolveDir": request["resolveDir"],
        "kind": request["kind"],
        "pluginData": PLAIN,
    }


def is_first_asked(request: Request) -> bool:
    """Whether it is an import of a module, and not one that a hook has asked about."""
    return request["kind"] in IMPORTS and request["pluginData"] != PLAIN


def _refuse(rule: Rule, request: Request) -> Answer | None:
    if not is_first_asked(request):
        return None
    return refusal(
        f"The file {request['path']} matched a module rule in your configuration ({shown(rule)}), but was ignored "
        "because a previous rule with the same type was not marked as `fallthrough = true`."
    )


def refusal(text: str, *notes: str) -> Answer:
    """An answer that makes the import an error, at its place."""
    return {"errors": [_message(text, notes)]}


def _message(text: str, notes: tuple[str, ...]) -> Answer:
    told = [{"text": note, "location": None} for note in notes]
    return {"id": "", "pluginName": "", "text": text, "location": None, "notes": told, "detail": -1}


def _files(folder: Path) -> Iterator[Path]:
    for name, folders, files in os.walk(folder):
        if ORIGINS in files:  # a build, this one among them
            folders.clear()
            continue
        folders[:] = sorted(each for each in folders if each not in _PASSED_OVER and not each.startswith("."))
        yield from (Path(name, file) for file in sorted(files))
