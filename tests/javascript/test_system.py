"""Where the cache is, and what machine this is."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from runtime.javascript.system import cache_folder, has_glibc, this_system

HOME = Path.home()


@pytest.mark.parametrize(
    ("environ", "platform", "folder"),
    [
        ({}, "linux", HOME / ".cache/celld-py"),
        ({"XDG_CACHE_HOME": "/var/cache/me"}, "linux", Path("/var/cache/me/celld-py")),
        ({"XDG_CACHE_HOME": "relative/is/ignored"}, "linux", HOME / ".cache/celld-py"),
        ({}, "darwin", HOME / "Library/Caches/celld-py"),
        ({"XDG_CACHE_HOME": "/var/cache/me"}, "darwin", HOME / "Library/Caches/celld-py"),
        ({"CELLD_PY_CACHE": "/srv/tools", "XDG_CACHE_HOME": "/var/cache/me"}, "linux", Path("/srv/tools")),
        ({"CELLD_PY_CACHE": "~/tools"}, "darwin", HOME / "tools"),
        ({"CELLD_PY_CACHE": "here"}, "linux", Path.cwd() / "here"),
    ],
)
def test_the_cache_is_where_the_system_keeps_such_things(environ: dict[str, str], platform: str, folder: Path) -> None:
    assert cache_folder(environ, platform) == folder


@pytest.mark.parametrize(
    ("platform", "machine", "system"),
    [
        ("linux", "x86_64", "linux-x64"),
        ("linux", "aarch64", "linux-arm64"),
        ("darwin", "arm64", "darwin-arm64"),
        ("darwin", "x86_64", "darwin-x64"),
        ("linux", "riscv64", "linux-riscv64"),
    ],
)
def test_systems_have_the_names_of_npms_packages(
    platform: str, machine: str, system: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(os, "uname", lambda: SimpleNamespace(machine=machine))

    assert this_system() == system


def test_musl_is_told_from_glibc(monkeypatch: pytest.MonkeyPatch) -> None:
    def musl(name: str) -> str:
        raise ValueError("unrecognized configuration name")

    monkeypatch.setattr(os, "confstr", lambda name: "glibc 2.36")
    assert has_glibc()
    monkeypatch.setattr(os, "confstr", musl)
    assert not has_glibc()
