"""What a build leaves: the modules that workerd loads, and what is known about them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from .source_maps import SourceMaps

ModuleKind = Literal["esModule", "commonJsModule", "text", "data", "wasm", "json"]


@dataclass(frozen=True, slots=True)
class Module:
    """One module of a worker: the name that imports use, and the file with its content."""

    name: str
    kind: ModuleKind
    path: Path


@dataclass(frozen=True, slots=True)
class Bundle:
    """A project's code, built into ``folder``.

    The first of ``modules`` is the main one. ``exports`` are the names that the project's main module exports;
    ``missing`` the classes that its configuration names and it does not export. ``inputs`` are the files that were
    read. ``digest`` changes with the code, and with nothing else. ``warnings`` are for the developer.
    """

    folder: Path
    modules: tuple[Module, ...]
    exports: frozenset[str]
    missing: frozenset[str]
    inputs: frozenset[Path]
    digest: str
    warnings: tuple[str, ...]


__all__ = ["Bundle", "Module", "ModuleKind", "SourceMaps"]
