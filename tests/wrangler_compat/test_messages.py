"""Every message of wrangler about workflows, exports and environments, by the table in ``messages/``."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.wrangler_compat.messages.rows import Message, Row, all_rows, toml_value
from wrangler_compat import ConfigError, Finding, diagnose, load_project
from wrangler_compat.code import read_code
from wrangler_compat.lints import check

ROWS = all_rows()
NEVER_SAID_BY_WRANGLER = {"unserved", "name_missing", "main_missing", "main_not_a_file", "secret_missing"}


def named(row: Row) -> str:
    return f"{row.group}: {row.case}"


def toml_rows() -> list[Row]:
    rows = []
    for row in ROWS:
        try:
            toml_value(row.config)
        except ValueError:
            continue
        rows.append(row)
    return rows


def findings(path: Path, env: str | None) -> list[Finding]:
    found = diagnose(path, env, {})
    return [each for each in found if each.level != "note" and each.code not in NEVER_SAID_BY_WRANGLER]


def verdict(found: list[Finding]) -> Counter[tuple[str, str, str, str | None]]:
    return Counter((each.level, each.message, each.phase, each.environment) for each in found)


def expected(row: Row) -> Counter[tuple[str, str, str, str | None]]:
    return Counter((each.level, each.text, each.phase, each.environment) for each in said_by_the_file(row))


def said_by_the_file(row: Row) -> list[Message]:
    """The messages of the configuration alone; those of the phase "bundle" need the code, and are lints."""
    return [message for message in row.says if message.phase != "bundle"]


@pytest.mark.parametrize("row", ROWS, ids=named)
def test_each_configuration_gets_its_messages_at_their_places_with_what_to_do(row: Row, tmp_path: Path) -> None:
    path = row.write(tmp_path)

    found = findings(path, row.env)

    assert verdict(found) == expected(row)
    assert all(each.hint for each in found)
    for message, finding in placed(row, found):
        assert finding.file == path
        value, _ = json.JSONDecoder().raw_decode(text_from(path, finding))
        assert value == value_at(row.data, message.at)


@pytest.mark.parametrize("row", toml_rows(), ids=named)
def test_the_same_in_toml(row: Row, tmp_path: Path) -> None:
    path = row.write(tmp_path, ".toml")

    found = findings(path, row.env)

    assert verdict(found) == expected(row)
    for message, finding in placed(row, found):
        begins = ("[", toml_value(value_at(row.data, message.at)), f"{message.at[-1]} = ")
        assert text_from(path, finding).startswith(begins)


@pytest.mark.parametrize("row", [row for row in ROWS if row.env is None], ids=named)
def test_a_run_starts_unless_wrangler_dev_or_the_server_would_refuse_it(row: Row, tmp_path: Path) -> None:
    path = row.write(tmp_path)
    stops = [each.text for each in said_by_the_file(row) if each.level == "error" and each.phase != "deploy"]
    warns = [each.text for each in said_by_the_file(row) if each.level == "warning" or each.phase == "deploy"]

    try:
        project = load_project(path, environ={})
    except ConfigError as error:
        assert [each.message for each in error.all if each.code not in NEVER_SAID_BY_WRANGLER] == stops
    else:
        assert not stops
        said = [each.text for each in project.warnings if each.code not in NEVER_SAID_BY_WRANGLER]
        assert sorted(said) == sorted(warns)


@pytest.mark.parametrize("row", [row for row in ROWS if row.said_at("bundle")], ids=named)
def test_a_class_that_is_not_exported_is_found_before_it_is_bundled(row: Row, tmp_path: Path) -> None:
    path = row.write(tmp_path)
    project = load_project(path, environ={})

    (found,) = [each for each in check(project, read_code(project.main, project.root)) if each.level == "error"]

    assert found.code == "export_class_missing"
    value, _ = json.JSONDecoder().raw_decode(text_from(path, found))
    assert value == value_at(row.data, row.says[0].at)


def test_every_row_was_compared_with_the_real_wrangler() -> None:
    assert [named(row) for row in ROWS if row.compared is None] == []


def placed(row: Row, found: list[Finding]) -> list[tuple[Message, Finding]]:
    by_text = {each.message: each for each in found}
    return [(message, by_text[message.text]) for message in said_by_the_file(row) if message.at]


def text_from(path: Path, found: Finding) -> str:
    assert found.line is not None and found.column is not None
    rest = path.read_text(encoding="utf-8").split("\n")[found.line - 1 :]
    return "\n".join([rest[0][found.column - 1 :], *rest[1:]])


def value_at(data: Any, path: tuple[str | int, ...]) -> Any:
    for part in path:
        data = data[part]
    return data
