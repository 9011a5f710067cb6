from __future__ import annotations

from pathlib import Path

import pytest

from wrangler_compat.diagnostics import Diagnostics
from wrangler_compat.local_vars import load_local, local_files


def write(root: Path, **files: str) -> None:
    for name, text in files.items():
        (root / ("." + name.replace("_", "."))).write_text(text)


def load(root: Path, environment: str | None = None, **environ: str) -> dict[str, str]:
    return load_local(root, environment, environ, False, Diagnostics(root))


def test_dev_vars_of_the_environment_replaces_the_general_one(tmp_path: Path) -> None:
    write(tmp_path, dev_vars="A=general\nB=general", dev_vars_staging="A=staging")

    assert load(tmp_path) == {"A": "general", "B": "general"}
    assert load(tmp_path, "staging") == {"A": "staging"}
    assert load(tmp_path, "prod") == {"A": "general", "B": "general"}


def test_dotenv_files_count_only_without_dev_vars(tmp_path: Path) -> None:
    write(tmp_path, env="A=env")
    assert load(tmp_path) == {"A": "env"}

    write(tmp_path, dev_vars="B=dev")
    assert load(tmp_path) == {"B": "dev"}


def test_later_dotenv_files_win(tmp_path: Path) -> None:
    write(
        tmp_path,
        env="A=1\nB=1\nC=1\nD=1",
        env_local="B=2\nC=2\nD=2",
        env_prod="C=3\nD=3",
        env_prod_local="D=4\nE=${A}",
    )

    assert load(tmp_path, "prod") == {"A": "1", "B": "2", "C": "3", "D": "4", "E": "1"}
    assert load(tmp_path) == {"A": "1", "B": "2", "C": "2", "D": "2"}


def test_dev_vars_are_not_expanded(tmp_path: Path) -> None:
    write(tmp_path, dev_vars="A=1\nB=${A}")

    assert load(tmp_path)["B"] == "${A}"


def test_dotenv_can_be_turned_off(tmp_path: Path) -> None:
    write(tmp_path, env="A=1")

    assert local_files(tmp_path, None, {"CLOUDFLARE_LOAD_DEV_VARS_FROM_DOT_ENV": "false"}) == ()
    assert load(tmp_path, CLOUDFLARE_LOAD_DEV_VARS_FROM_DOT_ENV="false") == {}


def test_the_process_environment_comes_in_by_request_and_wins(tmp_path: Path) -> None:
    write(tmp_path, env="A=file\nB=file")

    assert load(tmp_path, A="process") == {"A": "file", "B": "file"}
    assert load(tmp_path, A="process", CLOUDFLARE_INCLUDE_PROCESS_ENV="true") == {
        "A": "process",
        "B": "file",
        "CLOUDFLARE_INCLUDE_PROCESS_ENV": "true",
    }


@pytest.mark.parametrize("name", [".dev.vars", ".env"])
def test_an_unreadable_line_is_a_warning_with_its_number(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("A=1\noops\n")
    found = Diagnostics(tmp_path)

    assert load_local(tmp_path, None, {}, False, found) == {"A": "1"}
    assert [warning.text for warning in found.warnings] == [f"{name}:2 is not read: it is not KEY=value."]
