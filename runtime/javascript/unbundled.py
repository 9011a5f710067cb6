"""The build of a project with ``no_bundle``: its files as they are, and a small module with the generated entry."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

from .bundle import Module
from .entry import ENTRY_SOURCE, entry_text
from .esbuild import Answer, Hook, Hooked, Request, run_esbuild
from .failures import BuildError, BuildFailed, from_esbuild
from .flags import common_flags, entry_flags
from .job import Built, Job
from .node_imports import OUR_OWN
from .separate import PLAIN, plainly

_CODE = (".js", ".mjs")


def unbundled(job: Job) -> Built:
    """Copy what the rules match below the module root, and put the entry before the main module."""
    project, root = job.project, job.settings.module_root
    if project.main.suffix not in _CODE:
        text = (
            f'"no_bundle" takes modules as they are, so "main" has to be a .js or .mjs file, not {project.main.name}.'
        )
        raise BuildFailed([BuildError(text, file=str(project.config_path))])
    name = (project.main.relative_to(root) if project.main.is_relative_to(root) else Path(project.main.name)).as_posix()
    exports, inputs = _looked_into(job)
    job.refuse_service_worker(exports)
    separate = job.separate_modules()
    copy = job.folder / name
    copy.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(project.main, copy)
    entry = _entry(job, name, [each for each in job.classes if each in exports])
    return Built(
        modules=(entry, Module(name, "esModule", copy), *separate.modules.values()),
        origins={name: project.main, **separate.origins},
        exports=exports,
        missing=frozenset(job.classes) - exports,
        inputs=inputs | frozenset(separate.origins.values()),
        warnings=job.rules.warnings,
    )


def _looked_into(job: Job) -> tuple[frozenset[str], frozenset[Path]]:
    """The exports of the main module, also those that it passes on, and the files that say so.

    esbuild follows the imports and writes nothing; what it does not find may be there all the same when workerd looks.
    """
    request = {
        **_request(job),
        "entries": [["", str(job.project.main)]],
        "flags": common_flags(job, ENTRY_SOURCE),
        "write": False,
    }
    answer = run_esbuild(job.esbuild, request, [Hook(".*", _leave_others)])
    if answer["errors"]:
        raise BuildFailed(map(from_esbuild, answer["errors"]))
    metafile = json.loads(answer["metafile"])
    (output,) = (each for each in metafile["outputs"].values() if "entryPoint" in each)
    return frozenset(output["exports"]), frozenset(job.inputs(metafile))


def _leave_others(request: Request) -> Hooked:
    if request["kind"] == "entry-point" or request["pluginData"] == PLAIN:
        return None
    leads = yield plainly(request, request["path"])
    followed = request["path"].startswith(".") and not leads["errors"] and leads["path"].endswith(_CODE)
    return None if followed else {"path": request["path"], "external": True}


def _entry(job: Job, main: str, classes: list[str]) -> Module:
    specifier = f"./{main}"
    request = {
        **_request(job),
        "flags": entry_flags(job, ENTRY_SOURCE),
        "stdinContents": entry_text(specifier, classes).encode(),
        "stdinResolveDir": str(job.root),
        "write": True,
    }
    leave = Hook(f"^{re.escape(specifier)}$", lambda _: {"path": specifier, "external": True})
    answer: Answer = run_esbuild(job.esbuild, request, [leave, OUR_OWN])
    if answer["errors"]:
        raise BuildFailed(map(from_esbuild, answer["errors"]))
    return Module(ENTRY_SOURCE, "esModule", job.folder / ENTRY_SOURCE)


def _request(job: Job) -> Answer:
    return {
        "entries": [],
        "stdinContents": None,
        "stdinResolveDir": None,
        "absWorkingDir": str(job.root),
        "nodePaths": [],
    }
