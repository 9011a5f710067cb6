"""The usual build: the project's code and its packages in one module, around it the generated entry."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from functools import partial
from typing import Any

from .bundle import Module
from .entry import ENTRY_SOURCE, entry_text
from .esbuild import Answer, Hook, Hooked, Request, run_esbuild
from .failures import BuildError, BuildFailed, from_esbuild
from .flags import entry_flags
from .install_hint import install_hint
from .job import Built, Job, main_module
from .node_builtins import NodeBuiltins
from .node_imports import NodeImports
from .separate import PLAIN, plainly, refusal

_NO_EXPORT = re.compile(r'^No matching export in ".*" for import "(.+)"$')
_COULD_NOT_RESOLVE = re.compile(r'^Could not resolve "(.+?)"$')
_UNDEFINED = "import-is-undefined"
_ADVICE_FOR_OTHERS = ("as external to exclude it from the bundle", '"--platform=node"')


def bundled(job: Job) -> Built:
    """Build with esbuild; once more where the configuration names classes that are not exported."""
    missing: set[str] = set()
    while True:
        attempt = _Attempt(job, [name for name in job.classes if name not in missing])
        if attempt.not_exported and attempt.not_exported == attempt.errors:
            missing |= {attempt.class_of(message) for message in attempt.errors}
            continue
        attempt.raise_errors()
        return attempt.built(missing)


class _Attempt:
    """One run of esbuild."""

    def __init__(self, job: Job, classes: Collection[str]) -> None:
        self._job = job
        self._separate = job.separate_modules()
        self._main = main_module(self._separate)
        self._node = NodeImports(
            NodeBuiltins(job.project.compatibility_date, job.project.compatibility_flags), job.root
        )
        request = {
            "entries": [],
            "flags": entry_flags(job, self._main),
            "write": True,
            "stdinContents": entry_text(job.project.main.as_posix(), classes).encode(),
            "stdinResolveDir": str(job.root),
            "absWorkingDir": str(job.root),
            "nodePaths": [],
        }
        resolving = [*_aliases(job), *self._separate.hooks(), *self._node.resolving()]
        self._answer = run_esbuild(job.esbuild, request, resolving, [*self._node.loading()])
        self.errors: list[Answer] = self._answer["errors"]

    @property
    def not_exported(self) -> list[Answer]:
        """The errors that come of a class which the main module does not export."""
        return [message for message in self.errors if _is_in_entry(message) and _NO_EXPORT.match(message["text"])]

    def class_of(self, message: Answer) -> str:
        found = _NO_EXPORT.match(message["text"])
        assert found is not None
        return found[1]

    def raise_errors(self) -> None:
        told = [self._told(message) for message in self.errors if message not in self.not_exported]
        if told:
            raise BuildFailed(told)

    def built(self, missing: Collection[str]) -> Built:
        metafile = _metafile(self._answer)
        exports = self._exports(metafile)
        self._job.refuse_service_worker(exports)
        main = Module(self._main, "esModule", self._job.folder / self._main)
        return Built(
            modules=(main, *self._separate.modules.values()),
            origins=self._separate.origins,
            exports=exports,
            missing=frozenset(missing),
            inputs=frozenset(self._job.inputs(metafile)) | frozenset(self._separate.origins.values()),
            warnings=(*self._job.rules.warnings, *map(str, self._warnings()), *self._node.warnings()),
        )

    def _exports(self, metafile: dict[str, Any]) -> frozenset[str]:
        """The names that the project's main module exports: all of the bundle's, but for a default export of ours."""
        if not self._job.is_module(metafile):
            return frozenset()
        (names,) = (each["exports"] for each in metafile["outputs"].values() if each.get("entryPoint") == ENTRY_SOURCE)
        own = (message for message in self._answer["warnings"] if _is_in_entry(message))
        return frozenset(names) - ({"default"} if any(message["id"] == _UNDEFINED for message in own) else set())

    def _warnings(self) -> Iterator[BuildError]:
        return (self._told(message) for message in self._answer["warnings"] if not _is_in_entry(message))

    def _told(self, message: Answer) -> BuildError:
        """A message with advice that helps here, in place of what helps those who call esbuild themselves."""
        notes = [note for note in message["notes"] if not any(each in note["text"] for each in _ADVICE_FOR_OTHERS)]
        told = from_esbuild({**message, "notes": notes})
        found = _COULD_NOT_RESOLVE.match(message["text"])
        if found is None:
            return told
        if builtin := self._node.note(found[1]):
            return from_esbuild(message, [builtin])
        hint = install_hint(found[1], self._job.root)
        return from_esbuild(message, [*told.notes, *filter(None, [hint])])


def _metafile(answer: Answer) -> dict[str, Any]:
    metafile: dict[str, Any] = json.loads(answer["metafile"])
    return metafile


def _is_in_entry(message: Answer) -> bool:
    return message["location"] is not None and message["location"]["file"] == ENTRY_SOURCE


def _aliases(job: Job) -> Iterator[Hook]:
    for name, target in job.settings.alias.items():
        yield Hook(f"^{re.escape(name)}$", partial(_alias, job, name, target))


def _alias(job: Job, name: str, target: str, request: Request) -> Hooked:
    """Resolve in the project's folder what an import stands for; wrangler takes whole names only."""
    if request["pluginData"] == PLAIN:
        return None
    leads = yield {**plainly(request, target), "importer": "", "resolveDir": str(job.root)}
    if leads["errors"]:
        hint = install_hint(target, job.root)
        return refusal(f'Could not resolve "{target}", which "alias" names for "{name}"', *filter(None, [hint]))
    return {key: leads[key] for key in ("path", "external", "namespace", "suffix", "sideEffects")}
