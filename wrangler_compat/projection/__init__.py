"""Deploys: the projection of a configuration onto what celld takes, its output, and the record of what was deployed."""

from __future__ import annotations

from wrangler_compat.projection.back import restore
from wrangler_compat.projection.entry import ENTRY, entry_text
from wrangler_compat.projection.files import UnusableFiles, WorkerFiles, worker_files
from wrangler_compat.projection.output import CONFIG, UnusableFolder, check_folder, default_folder, write_folder
from wrangler_compat.projection.project import project
from wrangler_compat.projection.projected import Dropped, Projection, Remark, Row
from wrangler_compat.projection.reading import Deployable, read_deployable
from wrangler_compat.projection.record import Deployed, difference, last_projection, plain, remember
from wrangler_compat.projection.tools import find_tool

__all__ = [
    "CONFIG",
    "ENTRY",
    "Deployable",
    "Deployed",
    "Dropped",
    "Projection",
    "Remark",
    "Row",
    "UnusableFiles",
    "UnusableFolder",
    "WorkerFiles",
    "check_folder",
    "default_folder",
    "difference",
    "entry_text",
    "find_tool",
    "last_projection",
    "plain",
    "project",
    "read_deployable",
    "remember",
    "restore",
    "worker_files",
    "write_folder",
]
