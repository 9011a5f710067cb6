"""What esbuild is told: the options that wrangler 4.164 gives its bundler, with the project's own."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping

from .entry import ENTRY_SOURCE
from .job import Job

NAVIGATOR_FROM = "2022-03-21"
_CONDITIONS = "workerd,worker,browser"
_EXTERNAL = ("cloudflare:*", "workerd:*", "__STATIC_CONTENT_MANIFEST")
_NODE_ENV = ("process.env.NODE_ENV", "global.process.env.NODE_ENV", "globalThis.process.env.NODE_ENV")


def common_flags(job: Job, output: str, environ: Mapping[str, str] = os.environ) -> list[str]:
    """How any module of the project is read, and written to the module ``output``."""
    return [
        "--bundle",
        "--format=esm",
        "--target=es2024",
        "--supported:import-source=true",
        "--sourcemap=linked",
        "--metafile",
        "--log-level=silent",
        "--log-limit=0",
        f"--outfile={job.folder / output}",
        f"--conditions={environ.get('WRANGLER_BUILD_CONDITIONS', _CONDITIONS)}",
        f"--platform={environ.get('WRANGLER_BUILD_PLATFORM', 'browser')}",
        *(f"--loader:{suffix}=jsx" for suffix in (".js", ".mjs", ".cjs")),
        *(f"--external:{pattern}" for pattern in _EXTERNAL),
        *_own(job),
        *(f"--define:{name}={value}" for name, value in _defines(job, environ).items()),
    ]


def entry_flags(job: Job, output: str, environ: Mapping[str, str] = os.environ) -> list[str]:
    """For the generated entry, which esbuild reads from memory."""
    return [*common_flags(job, output, environ), f"--sourcefile={ENTRY_SOURCE}", "--loader=js"]


def _own(job: Job) -> Iterator[str]:
    settings = job.settings
    if settings.minify:
        yield "--minify"
    if settings.keep_names:
        yield "--keep-names"
    if settings.jsx_factory:
        yield f"--jsx-factory={settings.jsx_factory}"
    if settings.jsx_fragment:
        yield f"--jsx-fragment={settings.jsx_fragment}"
    if settings.tsconfig:
        yield f"--tsconfig={settings.tsconfig}"


def _defines(job: Job, environ: Mapping[str, str]) -> dict[str, str]:
    node_env = json.dumps(environ.get("NODE_ENV") or "development")
    navigator = {"navigator.userAgent": '"Cloudflare-Workers"'} if _has_navigator(job) else {}
    return {**navigator, **dict.fromkeys(_NODE_ENV, node_env), **job.settings.define}


def _has_navigator(job: Job) -> bool:
    flags = job.project.compatibility_flags
    if "no_global_navigator" in flags:
        return False
    return "global_navigator" in flags or job.project.compatibility_date >= NAVIGATOR_FROM
