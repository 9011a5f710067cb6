"""The digest of the sources that are imported."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.workers_shim.process import isolate
from workers_shim.load import digest


def digest_of(project: Path) -> str:
    """What a fresh isolate says of the project's code."""
    with isolate(project / "src" / "main.py") as running:
        loaded = running.next("loaded", "load_failed")
        assert loaded["t"] == "loaded", loaded
        code: str = loaded["code"]
        return code


def write(project: Path, **files: str) -> Path:
    for name, text in files.items():
        path = project / "src" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return project


def test_the_same_sources_have_the_same_digest_wherever_they_are(tmp_path: Path) -> None:
    first = write(tmp_path / "first", main="import shop\n", shop="PRICE = 12\n")
    second = write(tmp_path / "second", main="import shop\n", shop="PRICE = 12\n")
    assert digest_of(first) == digest_of(first) == digest_of(second) != ""


def test_a_change_in_a_module_that_is_imported_changes_the_digest(tmp_path: Path) -> None:
    project = write(tmp_path, main="import shop\n", shop="PRICE = 12\n")
    before = digest_of(project)
    write(project, shop="PRICE = 13\n")
    assert digest_of(project) != before


def test_a_change_in_a_module_that_nobody_imports_does_not(tmp_path: Path) -> None:
    project = write(tmp_path, main="X = 1\n", shop="PRICE = 12\n")
    before = digest_of(project)
    write(project, shop="PRICE = 13\n")
    assert digest_of(project) == before


@pytest.fixture
def imported(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Puts a module that came from a file among the imported ones."""

    def put(file: Path, text: str = "X = 1\n", name: str = "one_of_the_project") -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        module = ModuleType(name)
        module.__file__ = str(file)
        monkeypatch.setitem(sys.modules, name, module)

    return put


def test_installed_packages_are_not_part_of_it_though_they_lie_in_the_project(tmp_path: Path, imported: Any) -> None:
    nothing = digest(str(tmp_path))
    imported(tmp_path / ".venv/lib/python3.12/site-packages/shop.py")
    assert digest(str(tmp_path)) == nothing
    imported(tmp_path / "shop.py")
    assert digest(str(tmp_path)) != nothing


def test_modules_beside_the_main_folder_are_part_of_it_when_they_lie_in_the_project(
    tmp_path: Path, imported: Any
) -> None:
    nothing = digest(str(tmp_path / "src"), str(tmp_path))
    imported(tmp_path / "lib" / "shop.py")
    assert digest(str(tmp_path / "src"), str(tmp_path)) != nothing
    assert digest(str(tmp_path / "src")) == nothing


def test_what_moves_from_one_file_to_the_next_is_a_change(tmp_path: Path, imported: Any) -> None:
    imported(tmp_path / "a.py", "x", "project_a")
    imported(tmp_path / "b.py", "yz", "project_b")
    before = digest(str(tmp_path))
    imported(tmp_path / "a.py", "xy", "project_a")
    imported(tmp_path / "b.py", "z", "project_b")
    assert digest(str(tmp_path)) != before


def test_a_source_that_is_gone_is_a_change_and_no_failure(tmp_path: Path, imported: Any) -> None:
    imported(tmp_path / "a.py")
    before = digest(str(tmp_path))
    (tmp_path / "a.py").unlink()
    assert digest(str(tmp_path)) != before


def test_a_lazy_module_is_not_imported_by_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Lazy(ModuleType):
        def __getattribute__(self, name: str) -> Any:
            raise AssertionError("it was looked into")

    monkeypatch.setitem(sys.modules, "lazy", Lazy("lazy"))
    monkeypatch.setitem(sys.modules, "no_module_at_all", object())
    digest(str(tmp_path))
