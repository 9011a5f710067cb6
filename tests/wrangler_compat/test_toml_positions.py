from __future__ import annotations

import tomllib
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.wrangler_compat.messages.rows import as_toml, toml_value
from wrangler_compat.diagnostics import KeyPath
from wrangler_compat.toml_positions import TomlPositions

TEXT = '''# a comment = 1
name = "shop" # [x]
"quoted.key" = 'it''s'

[vars]
a.b = """
"x" # no comment
"]"""
list = [ 1, # one
  [ "]", { x = '}', "y" = 2 } ],
]

[[workflows]]
name = "first"
limits = { steps = 1_0 }

[[workflows]]
name = "second"

[workflows.limits]
steps = 0

[env.prod]
since = 2026-01-01 00:00:00

[[ env . prod . workflows ]]
name = "third"
'''.replace("'it''s'", "'it is'")


@pytest.mark.parametrize(
    ("path", "line", "column"),
    [
        (("name",), 2, 8),
        (("quoted.key",), 3, 16),
        (("vars",), 5, 1),
        (("vars", "a"), 6, 1),
        (("vars", "a", "b"), 6, 7),
        (("vars", "list"), 9, 8),
        (("vars", "list", 0), 9, 10),
        (("vars", "list", 1, 1, "y"), 10, 27),
        (("workflows",), 13, 1),
        (("workflows", 0), 13, 1),
        (("workflows", 0, "limits", "steps"), 15, 20),
        (("workflows", 1), 17, 1),
        (("workflows", 1, "limits"), 20, 1),
        (("workflows", 1, "limits", "steps"), 21, 9),
        (("env",), 23, 1),
        (("env", "prod", "since"), 24, 9),
        (("env", "prod", "workflows", 0, "name"), 27, 8),
    ],
)
def test_each_value_and_each_table_has_its_place(path: KeyPath, line: int, column: int) -> None:
    place = TomlPositions(TEXT).position(path)

    assert (place.line, place.column) == (line, column)


def test_what_is_not_there_is_where_the_nearest_enclosing_value_is() -> None:
    positions = TomlPositions(TEXT)

    assert positions.position(("workflows", 1, "limits", "gone", 3)) == positions.position(("workflows", 1, "limits"))
    assert positions.position(("gone",)).line == 1


KEYS = st.one_of(st.sampled_from(["name", "vars", "a-b", "a.b", "", "0"]), st.text(max_size=4))
PLAIN = st.one_of(
    st.booleans(), st.integers(-(2**53), 2**53), st.text(max_size=6), st.floats(allow_nan=False, width=16)
)
VALUES = st.recursive(
    PLAIN,
    lambda below: st.one_of(st.lists(below, max_size=3), st.dictionaries(KEYS, below, max_size=3)),
    max_leaves=8,
)


@given(st.dictionaries(KEYS, VALUES, max_size=4))
def test_every_value_of_any_text_is_found_where_it_is_written(data: dict[str, Any]) -> None:
    try:
        text = as_toml(data)
        read = tomllib.loads(text)
    except (ValueError, tomllib.TOMLDecodeError):
        return  # what the writer of these tests cannot write
    positions = TomlPositions(text)
    lines = text.split("\n")

    for path, value in leaves(read, ()):
        place = positions.position(path)
        rest = "\n".join([lines[place.line - 1][place.column - 1 :], *lines[place.line :]])
        assert rest.startswith(toml_value(value)), path


def leaves(value: Any, path: KeyPath) -> Iterator[tuple[KeyPath, Any]]:
    if isinstance(value, dict):
        for key, below in value.items():
            yield from leaves(below, (*path, key))
    elif isinstance(value, list):
        for index, below in enumerate(value):
            yield from leaves(below, (*path, index))
    else:
        yield path, value
