from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import pytest

from wrangler_compat.projection import UnusableFolder, check_folder, default_folder, write_folder
from wrangler_compat.projection.output import MARK


def contents(folder: Path) -> dict[str, str]:
    """The files of a folder, without the mark."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != MARK]
    return {str(path.relative_to(folder)): path.read_text() for path in files}


def test_the_folder_is_made_from_files_and_texts(tmp_path: Path) -> None:
    script = tmp_path / "run.py"
    script.write_text("run")
    script.chmod(0o755)

    write_folder(tmp_path / "a" / "out", {"src/run.py": script}, {"wrangler.json": "{}"})

    assert contents(tmp_path / "a" / "out") == {"src/run.py": "run", "wrangler.json": "{}"}
    assert stat.S_IMODE((tmp_path / "a" / "out" / "src" / "run.py").stat().st_mode) == 0o755
    assert os.listdir(tmp_path / "a") == ["out"]


def test_an_earlier_output_is_replaced_whole(tmp_path: Path) -> None:
    write_folder(tmp_path / "out", {}, {"old.py": "", "wrangler.json": "1"})

    write_folder(tmp_path / "out", {}, {"wrangler.json": "2"})

    assert contents(tmp_path / "out") == {"wrangler.json": "2"}
    assert os.listdir(tmp_path) == ["out"]


def test_what_a_run_of_the_output_has_kept_outlives_it(tmp_path: Path) -> None:
    write_folder(tmp_path / "out", {}, {"wrangler.json": "1"})
    (tmp_path / "out" / ".celld" / "state").mkdir(parents=True)
    (tmp_path / "out" / ".celld" / "state" / "catalog.db").write_text("instances")

    write_folder(tmp_path / "out", {}, {"wrangler.json": "2"})

    assert contents(tmp_path / "out") == {".celld/state/catalog.db": "instances", "wrangler.json": "2"}


def test_a_failure_leaves_the_earlier_output_as_it_was(tmp_path: Path) -> None:
    write_folder(tmp_path / "out", {}, {"wrangler.json": "1"})

    with pytest.raises(FileNotFoundError):
        write_folder(tmp_path / "out", {"src/a.py": tmp_path / "gone.py"}, {"wrangler.json": "2"})

    assert contents(tmp_path / "out") == {"wrangler.json": "1"}
    assert os.listdir(tmp_path) == ["out"]


@pytest.mark.parametrize("failing", [1, 2, 3])
def test_a_failure_in_the_middle_of_the_exchange_puts_the_earlier_output_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: int
) -> None:
    write_folder(tmp_path / "out", {}, {"wrangler.json": "1"})
    (tmp_path / "out" / ".celld").mkdir()
    (tmp_path / "out" / ".celld" / "kept").write_text("instances")
    rename, calls = os.rename, []

    def failing_rename(source: Any, target: Any) -> None:
        calls.append(source)
        if len(calls) == failing:
            raise OSError("no space left")
        rename(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "rename", failing_rename)
        with pytest.raises(OSError, match="no space left"):
            write_folder(tmp_path / "out", {}, {"wrangler.json": "2"})

    assert contents(tmp_path / "out") == {".celld/kept": "instances", "wrangler.json": "1"}


@pytest.mark.parametrize("folder", [".", "..", "src", "out", ".celld", ".celld/state", ".celld/venv/x", "src/../out"])
def test_the_output_is_never_written_over_sources_or_state(tmp_path: Path, folder: str) -> None:
    root = tmp_path / "project"
    (root / "src").mkdir(parents=True)

    with pytest.raises(UnusableFolder):
        check_folder(root / folder, root)


def test_a_link_does_not_lead_into_the_sources(tmp_path: Path) -> None:
    (tmp_path / "project" / "src").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "project" / "src")

    with pytest.raises(UnusableFolder):
        check_folder(tmp_path / "link", tmp_path / "project")


def test_a_strangers_folder_is_not_replaced_and_an_empty_or_own_one_may_be(tmp_path: Path) -> None:
    root, strange, empty = tmp_path / "project", tmp_path / "strange", tmp_path / "empty"
    for folder in (root, strange, empty):
        folder.mkdir()
    (strange / "thesis.txt").write_text("")
    (tmp_path / "file").write_text("")
    write_folder(tmp_path / "own", {}, {"wrangler.json": ""})

    check_folder(empty, root)
    check_folder(tmp_path / "own", root)
    check_folder(tmp_path / "new" / "one", root)
    check_folder(default_folder(root, "celld"), root)
    with pytest.raises(UnusableFolder, match="is not empty, and not made by celld-py deploy"):
        check_folder(strange, root)
    with pytest.raises(UnusableFolder, match="is a file"):
        check_folder(tmp_path / "file", root)
