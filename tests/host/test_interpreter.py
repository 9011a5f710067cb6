from __future__ import annotations

import platform
import subprocess
import sys
from pathlib import Path

import pytest

from runtime.host import interpreter
from runtime.host.errors import InterpreterError, ProjectError
from runtime.host.interpreter import Interpreter, choose_interpreter, implied_python, version_note


def silent(_: str) -> None:
    pass


def choose(root: Path, python: str | None = None) -> Interpreter:
    return choose_interpreter(root, python, silent)


def make_venv(folder: Path, settings: str | None = "version = 3.12.9\n") -> Path:
    """A folder that looks like a virtual environment; its Python is the one that runs the tests."""
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python").symlink_to(sys.executable)
    if settings is not None:
        (folder / "pyvenv.cfg").write_text(settings)
    return folder


def make_program(path: Path, script: str) -> Path:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a process was started")

    monkeypatch.setattr(subprocess, "Popen", refuse)


# ----------------------------------------------------------------------------------------------------- the order


@pytest.mark.usefixtures("no_process")
def test_a_project_without_dependencies_runs_on_our_own_python_without_our_packages(tmp_path: Path) -> None:
    chosen = choose(tmp_path)

    assert chosen.path == Path(sys.executable)
    assert chosen.version == platform.python_version()
    assert chosen.arguments == ("-I", "-S")
    assert "no dependencies" in chosen.source


def test_our_own_python_cannot_import_our_packages(tmp_path: Path) -> None:
    chosen = choose(tmp_path)

    command = [str(chosen.path), *chosen.arguments, "-c", "import msgspec"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert "ModuleNotFoundError" in result.stderr


@pytest.mark.usefixtures("no_process")
def test_the_project_s_environments_are_preferred_pywrangler_s_first(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\ndependencies = ["anything"]\n')
    venv = make_venv(tmp_path / ".venv")
    assert choose(tmp_path) == Interpreter(venv / "bin" / "python", "3.12.9", ("-I",), "the project's .venv")

    workers = make_venv(tmp_path / ".venv-workers")
    assert choose(tmp_path).path == workers / "bin" / "python"


@pytest.mark.usefixtures("no_process")
def test_the_option_wins_and_takes_an_interpreter_or_an_environment(tmp_path: Path) -> None:
    make_venv(tmp_path / ".venv")
    other = make_venv(tmp_path / "other", "version_info = 3.13.1.final.0\n")

    for python in (str(other), str(other / "bin" / "python")):
        chosen = choose(tmp_path, python)
        assert (chosen.path, chosen.version) == (other / "bin" / "python", "3.13.1")
        assert chosen.arguments == ("-I",)
        assert chosen.source == f"--python {python}"


def test_the_option_takes_a_command_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_program(tmp_path / "mypython", f'exec {sys.executable} "$@"')
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")

    chosen = choose(tmp_path, "mypython")

    assert (chosen.path, chosen.version) == (tmp_path / "mypython", platform.python_version())


def test_an_environment_that_does_not_state_its_version_is_asked(tmp_path: Path) -> None:
    make_venv(tmp_path / ".venv", "home = /usr\n")

    assert choose(tmp_path).version == platform.python_version()


# ----------------------------------------------------------------------------------------------------- refusals


@pytest.mark.usefixtures("no_process")
def test_an_old_python_is_refused(tmp_path: Path) -> None:
    make_venv(tmp_path / ".venv", "version = 3.10.4\n")

    with pytest.raises(InterpreterError) as caught:
        choose(tmp_path)

    python = tmp_path / ".venv" / "bin" / "python"
    assert caught.value.message == f"{python} is Python 3.10.4; Workers need 3.11 or newer here."
    assert caught.value.hint


@pytest.mark.usefixtures("no_process")
def test_an_environment_whose_python_is_gone_is_refused(tmp_path: Path) -> None:
    venv = make_venv(tmp_path / ".venv")
    (venv / "bin" / "python").unlink()
    with pytest.raises(InterpreterError, match="there is no bin/python in it"):
        choose(tmp_path)

    (venv / "bin" / "python").symlink_to(tmp_path / "uninstalled")
    with pytest.raises(InterpreterError, match="its Python is gone") as caught:
        choose(tmp_path)
    assert caught.value.hint == f"Delete {venv} and make it again, or pass --python."


@pytest.mark.parametrize("python", ["no-such-python", "./no/such/python"])
def test_an_interpreter_that_is_not_there_is_refused(tmp_path: Path, python: str) -> None:
    with pytest.raises(InterpreterError, match=f"--python {python}: there is no such interpreter"):
        choose(tmp_path, python)


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo hello", "it ended with exit code 0"),
        ("echo broken >&2; exit 3", "it ended with exit code 3"),
    ],
)
def test_a_program_that_is_no_python_is_refused(tmp_path: Path, script: str, reason: str) -> None:
    program = make_program(tmp_path / "python", script)

    with pytest.raises(InterpreterError) as caught:
        choose(tmp_path, str(program))

    assert caught.value.message == f"{program} is not a working Python: {reason}."
    assert caught.value.detail == ("broken" if "broken" in script else None)


def test_a_file_that_cannot_be_run_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello")

    with pytest.raises(InterpreterError, match="Permission denied"):
        choose(tmp_path, str(tmp_path / "notes.txt"))


def test_a_program_that_does_not_answer_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interpreter, "PROBE_TIMEOUT", 0.05)
    program = make_program(tmp_path / "python", "exec sleep 30")

    with pytest.raises(InterpreterError, match="it did not answer"):
        choose(tmp_path, str(program))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[project\n", "Expected"),
        ('[project]\ndependencies = "x"\n', "should be an array of strings"),
        ("[project]\ndependencies = [1]\n", "should be an array of strings"),
        ("project = 1\n", "should be an array of strings"),
        ('[project]\ndependencies = ["--index-url=http://x"]\n', "does not start with a package's name"),
    ],
)
def test_dependencies_that_cannot_be_read_are_refused(tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / "pyproject.toml").write_text(text)

    with pytest.raises(ProjectError, match=reason) as caught:
        choose(tmp_path)

    assert caught.value.code == "dependencies"
    assert str(tmp_path / "pyproject.toml") in caught.value.message


@pytest.mark.usefixtures("no_process")
def test_packages_of_cloudflare_s_tool_chain_are_left_out(tmp_path: Path) -> None:
    text = '[project]\ndependencies = ["workers-py>=1", "Workers_Runtime.SDK", "pyodide-py ; python_version > \'3\'"]\n'
    (tmp_path / "pyproject.toml").write_text(text)

    assert choose(tmp_path).arguments == ("-I", "-S")


# ---------------------------------------------------------------------------------------------- Cloudflare's Python


@pytest.mark.parametrize(
    ("date", "flags", "version"),
    [
        ("2025-09-28", (), "3.12"),
        ("2025-09-29", (), "3.13"),
        ("2026-09-08", (), "3.14"),
        ("2024-01-01", ("python_workers_20250116",), "3.13"),
        ("2024-01-01", ("python_workers_314",), "3.14"),
        ("2026-12-01", ("no_python_workers_314",), "3.13"),
    ],
)
def test_the_python_that_a_date_and_its_flags_imply(date: str, flags: tuple[str, ...], version: str) -> None:
    assert implied_python(date, flags) == version


def test_another_version_than_cloudflare_s_is_a_note() -> None:
    chosen = Interpreter(Path("python"), "3.12.9", (), "")

    assert version_note(chosen, "2025-01-01", ()) is None
    assert version_note(chosen, "2026-01-01", ()) == (
        "Cloudflare runs this Worker on Python 3.13 (compatibility date 2026-01-01); here it runs on 3.12.9."
    )
