from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from runtime.host.errors import InterpreterError
from runtime.host.interpreter import choose_interpreter
from runtime.host.venv import MARKER, make_venv

FAKE_UV = """#!/bin/sh
echo "$@" >> "$UV_LOG"
for last in "$@"; do :; done
if [ "$1" = venv ]; then mkdir -p "$last/bin"; ln -s {python} "$last/bin/python"
else echo "Installed $last"; [ ! -e "$UV_LOG.fail" ] || {{ echo "no such package" >&2; exit 1; }}; fi
"""


def silent(_: str) -> None:
    pass


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Puts a uv first on the PATH that notes its arguments here and installs nothing; FILE.fail makes it fail."""
    (tmp_path / "tools").mkdir()
    uv = tmp_path / "tools" / "uv"
    uv.write_text(FAKE_UV.format(python=sys.executable))
    uv.chmod(0o755)
    monkeypatch.setenv("PATH", f"{uv.parent}:/usr/bin:/bin")
    monkeypatch.setenv("UV_LOG", str(tmp_path / "log"))
    return tmp_path / "log"


def test_uv_makes_the_environment_and_its_words_are_passed_on(tmp_path: Path, log: Path) -> None:
    told: list[str] = []

    venv = make_venv(tmp_path / "venv", ["b>=1", "a"], told.append)

    assert log.read_text().splitlines() == [
        f"venv --quiet --no-project --python {sys.executable} {venv}",
        f"pip install --python {venv}/bin/python -- b>=1 a",
    ]
    assert told == [f"Making {venv} with b>=1, a (once, and when they change)", "Installed a"]


def test_an_environment_is_kept_until_the_dependencies_change(tmp_path: Path, log: Path) -> None:
    make_venv(tmp_path / "venv", ["a", "b"], silent)
    make_venv(tmp_path / "venv", ["b", "a"], silent)
    assert len(log.read_text().splitlines()) == 2

    (tmp_path / "venv" / "leftover").touch()
    make_venv(tmp_path / "venv", ["a"], silent)
    assert len(log.read_text().splitlines()) == 4
    assert not (tmp_path / "venv" / "leftover").exists()


def test_a_build_that_was_cut_off_is_begun_again(tmp_path: Path, log: Path) -> None:
    class CutOff(BaseException):
        pass

    def cut(line: str) -> None:
        if line.startswith("Installed"):
            raise CutOff

    with pytest.raises(CutOff):
        make_venv(tmp_path / "venv", ["a"], cut)
    assert (tmp_path / "venv" / "bin" / "python").exists()

    make_venv(tmp_path / "venv", ["a"], silent)
    assert (tmp_path / "venv" / MARKER).exists()
    assert len(log.read_text().splitlines()) == 4


def test_a_rebuild_that_was_cut_off_does_not_leave_the_old_marker(tmp_path: Path, log: Path) -> None:
    make_venv(tmp_path / "venv", ["a"], silent)
    Path(f"{log}.fail").touch()

    with pytest.raises(InterpreterError):
        make_venv(tmp_path / "venv", ["b"], silent)

    assert not (tmp_path / "venv" / MARKER).exists()


def test_a_failed_installation_shows_the_installer_s_last_words(tmp_path: Path, log: Path) -> None:
    Path(f"{log}.fail").touch()

    with pytest.raises(InterpreterError) as caught:
        make_venv(tmp_path / "venv", ["nope"], silent)

    assert caught.value.code == "dependencies_failed"
    assert caught.value.message == "Cannot install the project's dependencies (nope)."
    assert caught.value.detail == "Installed nope\nno such package"
    assert caught.value.hint is not None
    assert "pyproject.toml" in caught.value.hint


def test_without_uv_pip_installs_what_the_project_can_then_import(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = tmp_path / "tiny-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("tiny.py", "WORD = 'here'\n")
        archive.writestr("tiny-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n")
        archive.writestr("tiny-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr("tiny-1.0.dist-info/RECORD", "")
    (tmp_path / "pyproject.toml").write_text(f'[project]\ndependencies = ["tiny @ {wheel.as_uri()}"]\n')
    monkeypatch.setenv("PATH", str(tmp_path))

    chosen = choose_interpreter(tmp_path, None, silent)

    assert chosen.path == tmp_path / ".celld" / "venv" / "bin" / "python"
    assert chosen.source == ".celld/venv, made from pyproject.toml"
    command = [str(chosen.path), *chosen.arguments, "-c", "import tiny; print(tiny.WORD)"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "here\n"
