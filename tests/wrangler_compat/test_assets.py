"""The ``assets`` of a configuration."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from wrangler_compat import ConfigError, Project, load_project
from wrangler_compat.assets import read_assets


def load(root: Path, **assets: Any) -> Project:
    config = {"name": "app", "main": "index.js", "compatibility_date": "2026-01-01", "assets": assets}
    (root / "wrangler.json").write_text(json.dumps(config))
    (root / "index.js").touch()
    return load_project(root, environ={})


def test_what_wrangler_reads_is_kept(tmp_path: Path) -> None:
    handling = {"html_handling": "none", "not_found_handling": "404-page", "run_worker_first": ["/api/*"]}

    assets = read_assets({"assets": {"directory": "./public", "binding": "FILES", **handling}}, tmp_path)

    assert assets is not None
    assert assets.directory == tmp_path / "public"
    assert assets.binding == "FILES"
    assert assets.handling == handling
    assert assets.control_files["headers"] == tmp_path / "public/_headers"


def test_no_assets_are_none(tmp_path: Path) -> None:
    assert read_assets({}, tmp_path) is None


def test_a_directory_is_needed(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as refused:
        load(tmp_path, binding="ASSETS")

    text = "The `assets` property in your configuration is missing the required `directory` property."
    assert refused.value.message == text


def test_the_directory_must_exist(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as refused:
        load(tmp_path, directory="./public")

    text = 'The directory specified by the "assets.directory" field in your configuration file does not exist:'
    assert refused.value.message == f"{text}\n{tmp_path / 'public'}"


def test_the_directory_must_be_one(tmp_path: Path) -> None:
    (tmp_path / "public").touch()

    with pytest.raises(ConfigError) as refused:
        load(tmp_path, directory="public")

    text = (
        'The path specified by the "assets.directory" field in your configuration file doesn\'t point to a directory:'
    )
    assert refused.value.message == f"{text}\n{tmp_path / 'public'}"


def test_a_worker_that_comes_first_and_cannot_reach_the_files_is_named(tmp_path: Path) -> None:
    (tmp_path / "public").mkdir()

    project = load(tmp_path, directory="public", run_worker_first=True)

    assert [warning.text for warning in project.warnings] == [
        "run_worker_first=true set without an assets binding: the Worker gets every request, but no asset."
    ]
