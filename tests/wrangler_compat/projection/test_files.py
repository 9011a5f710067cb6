from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from wrangler_compat.projection import UnusableFiles, WorkerFiles, worker_files


def found(root: Path, *paths: str, main: str = "src/entry.py", config: Any = None, used: Any = ()) -> WorkerFiles:
    """What of these files makes the Worker."""
    for path in (main, *paths):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(path)
    return worker_files(root, root / main, [root / name for name in used], config or {})


def test_the_main_modules_folder_comes_along_with_all_that_is_below_it(tmp_path: Path) -> None:
    files = found(tmp_path, "src/page.py", "src/texts/hello.html", "README.md", "scripts/load.py").files

    assert sorted(files) == ["src/entry.py", "src/page.py", "src/texts/hello.html"]
    assert files["src/page.py"] == tmp_path / "src/page.py"


def test_tests_environments_and_what_tools_leave_behind_do_not(tmp_path: Path) -> None:
    left_out = [
        "wrangler.jsonc",
        "conftest.py",
        "test_entry.py",
        "entry_test.py",
        "tests/anything.py",
        "own_environment/pyvenv.cfg",
        "venv/bin/python",
        ".venv/pyvenv.cfg",
        "__pycache__/entry.pyc",
        ".celld/state/catalog.db",
        ".git/HEAD",
        "node_modules/a/index.js",
        "shop.egg-info/PKG-INFO",
    ]

    assert sorted(found(tmp_path, *left_out, "page.py", main="entry.py").files) == ["entry.py", "page.py"]


def test_secrets_stay_behind_and_are_named(tmp_path: Path) -> None:
    both = found(tmp_path, ".dev.vars", ".dev.vars.prod", ".env", ".env.local", "server.pem", "id.key", main="entry.py")

    assert sorted(both.files) == ["entry.py"]
    assert both.secrets == [".dev.vars", ".dev.vars.prod", ".env", ".env.local", "id.key", "server.pem"]


def test_what_names_and_holds_the_workers_packages_comes_along_as_it_is(tmp_path: Path) -> None:
    packages = ["python_modules/certifi/cacert.pem", "python_modules/lib/tests/helper.py"]

    files = found(tmp_path, "pyproject.toml", *packages).files

    assert sorted(files) == ["pyproject.toml", *packages, "src/entry.py"]


def test_a_module_that_the_code_imports_comes_along_wherever_it_is(tmp_path: Path) -> None:
    files = found(tmp_path, "src/tests/helpers.py", "src/tests/other.py", used=["src/tests/helpers.py"]).files

    assert sorted(files) == ["src/entry.py", "src/tests/helpers.py"]


def test_folders_and_files_that_the_configuration_names_come_along(tmp_path: Path) -> None:
    config = {
        "assets": {"directory": "./public"},
        "text_blobs": {"A": "texts/a.txt"},
        "d1_databases": [{"binding": "DB", "migrations_dir": "migrations"}],
    }

    files = found(
        tmp_path, "public/.well-known/x", "public/.env", "texts/a.txt", "migrations/1.sql", config=config
    ).files

    assert sorted(files) == ["migrations/1.sql", "public/.well-known/x", "src/entry.py", "texts/a.txt"]


@pytest.mark.parametrize("directory", ["./missing", "../outside", "/srv/public"])
def test_a_named_folder_that_cannot_come_along_is_an_error(tmp_path: Path, directory: str) -> None:
    with pytest.raises(UnusableFiles, match="is named in the configuration, but it is not in the project's folder"):
        found(tmp_path, config={"assets": {"directory": directory}})


def test_links_are_followed_but_not_in_circles(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "page.py").write_text("")
    (tmp_path / "src" / "shared").symlink_to(tmp_path / "shared")
    (tmp_path / "src" / "again").symlink_to(tmp_path / "src")

    assert sorted(found(tmp_path).files) == ["src/entry.py", "src/shared/page.py"]
