"""A project's own workerd and esbuild count at tested versions only, wherever its package manager has put them."""

from __future__ import annotations

from pathlib import Path

import pytest

from runtime.javascript.pins import PINS, Pin
from runtime.javascript.project_copies import project_copies

PINNED = PINS["linux-x64"]


def put(folder: Path, pin: Pin, manifest: str | None = None) -> Path:
    program = folder / pin.path
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    (program.parent.parent / "package.json").write_text(manifest or f'{{"version": "{pin.version}"}}')
    return program


@pytest.mark.parametrize(
    "shelf",
    ["project", ".", "project/node_modules/wrangler", "project/node_modules/.pnpm", "project/node_modules/workerd"],
)
def test_copies_are_found_where_package_managers_put_them(tmp_path: Path, shelf: str) -> None:
    workerd = put(tmp_path / shelf, PINNED.workerd)
    esbuild = put(tmp_path / "project", PINNED.esbuild)

    assert project_copies(tmp_path / "project", PINNED) == (workerd, esbuild)


@pytest.mark.parametrize("manifest", ['{"version": "1.20200101.0"}', "{}", "[]", '{"version": 1}', "not JSON", "\x00"])
def test_a_version_that_is_not_tested_does_not_count(tmp_path: Path, manifest: str) -> None:
    put(tmp_path, PINNED.workerd, manifest)
    put(tmp_path, PINNED.esbuild)

    assert project_copies(tmp_path, PINNED) is None


def test_a_tested_copy_behind_an_untested_one_counts(tmp_path: Path) -> None:
    put(tmp_path, PINNED.workerd, '{"version": "1.20200101.0"}')
    nested = put(tmp_path / "node_modules/wrangler", PINNED.workerd)
    put(tmp_path, PINNED.esbuild)

    found = project_copies(tmp_path, PINNED)

    assert found is not None and found.workerd == nested


def test_one_program_alone_is_not_enough(tmp_path: Path) -> None:
    put(tmp_path, PINNED.workerd)

    assert project_copies(tmp_path, PINNED) is None


def test_a_file_that_cannot_be_run_is_no_program(tmp_path: Path) -> None:
    put(tmp_path, PINNED.workerd)
    put(tmp_path, PINNED.esbuild).chmod(0o644)

    assert project_copies(tmp_path, PINNED) is None
