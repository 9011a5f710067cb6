from __future__ import annotations

from pathlib import Path

import pytest

from wrangler_compat.diagnostics import ConfigError
from wrangler_compat.discover import find_config
from wrangler_compat.project import load_project


def touch(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    return path


def test_a_wrangler_json_in_a_parent_folder_beats_a_wrangler_jsonc_in_the_folder(tmp_path: Path) -> None:
    above = touch(tmp_path / "wrangler.json")
    touch(tmp_path / "app" / "wrangler.jsonc")

    found = find_config(tmp_path / "app")

    assert found.path == above
    assert [note.text for note in found.notes] == [
        f"app/ has no wrangler.json; the one above it is used: {above}",
        f"{tmp_path / 'app' / 'wrangler.jsonc'} is ignored, because {above} counts.",
    ]


def test_in_one_folder_json_counts_before_jsonc_before_toml(tmp_path: Path) -> None:
    toml = touch(tmp_path / "wrangler.toml")
    assert find_config(tmp_path).path == toml
    jsonc = touch(tmp_path / "wrangler.jsonc")
    assert find_config(tmp_path).path == jsonc
    json = touch(tmp_path / "wrangler.json")
    assert find_config(tmp_path).path == json


def test_a_file_is_taken_whatever_its_name(tmp_path: Path) -> None:
    touch(tmp_path / "wrangler.json")
    other = touch(tmp_path / "wrangler.test.jsonc")

    assert find_config(other).path == other


def test_a_relative_folder_is_searched_upwards_from_the_current_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = touch(tmp_path / "wrangler.toml")
    (tmp_path / "src").mkdir()
    monkeypatch.chdir(tmp_path / "src")

    assert find_config(Path()).path == config


def test_a_generated_configuration_is_named_because_it_is_not_followed(tmp_path: Path) -> None:
    touch(tmp_path / "wrangler.json")
    touch(tmp_path / ".wrangler" / "deploy" / "config.json")

    assert "is not followed" in find_config(tmp_path).notes[0].text


def test_no_configuration_is_an_error_that_names_the_folder(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        find_config(tmp_path)

    assert caught.value.code == "config_missing"
    assert str(tmp_path) in caught.value.message
    assert caught.value.hint is not None
    assert "celld-py dev" in caught.value.hint


@pytest.mark.parametrize(
    ("main", "flags"), [("src/index.ts", None), ("worker.js", None), ("src/entry.py", ["python_workers"])]
)
def test_without_a_configuration_one_is_proposed_that_runs_the_workers_file(
    tmp_path: Path, main: str, flags: list[str] | None
) -> None:
    folder = tmp_path / "My shop!"
    touch(folder / main)
    with pytest.raises(ConfigError) as caught:
        find_config(folder)

    assert caught.value.hint is not None
    told, _, proposed = caught.value.hint.partition("\n")
    assert told == f"If {main} is the Worker, put this into {folder / 'wrangler.jsonc'}:"
    (folder / "wrangler.jsonc").write_text(proposed)
    project = load_project(folder, environ={})
    assert (project.name, project.main, project.warnings) == ("my-shop", folder / main, ())
    assert project.resolved.get("compatibility_flags") == flags


def test_a_project_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        find_config(tmp_path / "nope")

    assert caught.value.code == "project_missing"


def test_a_code_file_is_not_a_configuration(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"entry\.py is not a configuration file") as caught:
        find_config(touch(tmp_path / "entry.py"))

    assert caught.value.code == "config_kind"


def test_a_folder_that_may_not_be_entered_is_an_error_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> bool:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "is_file", refuse)
    with pytest.raises(ConfigError, match=r"^Cannot look for the configuration: Permission denied\.$") as error:
        find_config(tmp_path)

    assert (error.value.code, error.value.file) == ("config_unreadable", tmp_path)
