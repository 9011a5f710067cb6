from __future__ import annotations

import re
from pathlib import Path

import pyjson5
import pytest

from tests.wrangler_compat.reconcile.case import run
from tests.wrangler_compat.reconcile.odd import CODE, ODD

EXPECTED = {
    "Pipe": {"type": "workflow", "name": "pipe", "limits": {"steps": 7}, "schedules": ["0 3 * * *"]},
    "New": {"type": "workflow", "name": "new"},
}


@pytest.mark.parametrize("name", ODD)
def test_an_odd_configuration_is_edited_all_the_same(name: str, tmp_path: Path) -> None:
    text = ODD[name]

    found = run(tmp_path, text, CODE)

    assert not found.failed
    before, after = (pyjson5.decode(each.removeprefix("\ufeff"), maxdepth=200) for each in (text, found.result))
    exports = after.pop("exports")
    assert {key: exports[key] for key in EXPECTED} == EXPECTED
    for data in (before, after):
        data.pop("exports", None)
        data.pop("workflows", None)
    assert after == before
    assert run(tmp_path, found.result, CODE).splices == ()


@pytest.mark.parametrize("name", [name for name in ODD if name.endswith("every joint")])
def test_no_comment_is_lost(name: str, tmp_path: Path) -> None:
    result = run(tmp_path, ODD[name], CODE).result

    numbers = sorted(int(number) for number in re.findall(r"/[/*](\d+)", result))
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) == ODD[name].count("//") + ODD[name].count("/*")


def test_what_the_second_parser_cannot_read_is_left_alone(tmp_path: Path) -> None:
    text = '{ "main": "entry.py", "vars": { "half a character": "\\ud800" } }'

    found = run(tmp_path, text, CODE)

    assert (found.refused, found.result) == (True, text)


@pytest.mark.parametrize("newline", ["\r\n", "\r", "\n"])
def test_the_line_ends_of_the_file_are_used(newline: str, tmp_path: Path) -> None:
    found = run(tmp_path, f'{{{newline}  "main": "entry.py"{newline}}}{newline}', CODE)

    assert set(re.findall(r"\r\n|\r|\n", found.result)) == {newline}
