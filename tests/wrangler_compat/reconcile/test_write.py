from __future__ import annotations

import os
from pathlib import Path

import pytest

from wrangler_compat.reconcile import FileChanged, replace_text


def test_the_file_keeps_its_mode_and_its_line_ends(tmp_path: Path) -> None:
    file = tmp_path / "wrangler.jsonc"
    file.write_bytes(b"\xef\xbb\xbf{}\r\n")
    file.chmod(0o640)

    replace_text(file, "\ufeff{}\r\n", "\ufeff{ }\r\n")

    assert file.read_bytes() == b"\xef\xbb\xbf{ }\r\n"
    assert file.stat().st_mode & 0o777 == 0o640


def test_a_symbolic_link_is_written_through(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    real = tmp_path / "shared" / "config.jsonc"
    real.write_text("a")
    link = tmp_path / "wrangler.jsonc"
    link.symlink_to("shared/config.jsonc")

    replace_text(link, "a", "b")

    assert link.is_symlink()
    assert real.read_text() == "b"


def test_a_file_that_was_changed_meanwhile_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "wrangler.jsonc"
    file.write_text("somebody else's")

    with pytest.raises(FileChanged, match="Run the command again"):
        replace_text(file, "as it was read", "new")

    assert file.read_text() == "somebody else's"
    assert os.listdir(tmp_path) == ["wrangler.jsonc"]


def test_a_replacement_that_fails_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "wrangler.jsonc"
    file.write_text("a")

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(OSError, match="No space"):
        replace_text(file, "a", "b")

    assert file.read_text() == "a"
    assert os.listdir(tmp_path) == ["wrangler.jsonc"]


def test_a_file_that_is_gone_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        replace_text(tmp_path / "wrangler.jsonc", "a", "b")
