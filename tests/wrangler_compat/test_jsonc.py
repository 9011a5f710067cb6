from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wrangler_compat import jsonc
from wrangler_compat.diagnostics import ConfigError, Position

FILE = Path("wrangler.jsonc")


def refused(text: str) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        jsonc.parse(text, FILE)
    return caught.value


def test_comments_trailing_commas_bom_and_crlf_are_read() -> None:
    text = (
        '\ufeff// head\r\n{\r\n  "url": "https://a.test//b", // not a comment inside\r\n'
        '  /* two\r\n lines */ "list": [1, 2,],\r\n}\r\n// tail'
    )

    document = jsonc.parse(text)

    assert document.data() == {"url": "https://a.test//b", "list": [1, 2]}
    assert [text[span.start : span.end] for span in document.comments] == [
        "// head",
        "// not a comment inside",
        "/* two\r\n lines */",
        "// tail",
    ]


def test_every_key_value_and_comma_has_its_span() -> None:
    text = '{ "a" : [10, "x"] , "b": null }'

    root = jsonc.parse(text).root

    assert isinstance(root, jsonc.ObjectNode)
    first, second = root.members
    assert text[first.key_span.start : first.key_span.end] == '"a"'
    assert text[first.value.span.start : first.value.span.end] == '[10, "x"]'
    assert first.comma == text.index(" , ") + 1
    assert second.comma is None
    assert isinstance(first.value, jsonc.ArrayNode)
    assert [text[item.value.span.start : item.value.span.end] for item in first.value.items] == ["10", '"x"']


def test_a_key_path_is_placed_at_its_value_or_the_nearest_thing_around_it() -> None:
    document = jsonc.parse('{\n  "workflows": [\n    { "name": "x" }\n  ]\n}')

    assert document.position(("workflows", 0, "name")) == Position(3, 15)
    assert document.position(("workflows", 0, "binding")) == Position(3, 5)
    assert document.position(("workflows", 7)) == Position(2, 16)
    assert document.position(()) == Position(1, 1)


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_columns_do_not_count_the_byte_order_mark_or_line_ends(line_end: str) -> None:
    document = jsonc.parse(f'\ufeff{{{line_end} "a": 1}}')

    assert document.position(()) == Position(1, 1)
    assert document.position(("a",)) == Position(2, 7)


def test_the_last_of_repeated_keys_counts_and_is_noted() -> None:
    document = jsonc.parse('{\n"vars": {\n"A": 1,\n"A": 2}}')

    assert document.data() == {"vars": {"A": 2}}
    assert [(note.text, note.line) for note in document.notes] == [
        ('"vars.A" is written twice; the last one counts.', 4)
    ]


def test_numbers_are_javascript_doubles() -> None:
    values = jsonc.parse("[1.0, 1e3, 1.5, 9007199254740993, 12345678901234567890, -0]").data()

    assert values == [1, 1000, 1.5, 9007199254740992, 12345678901234567000.0, 0]
    assert [type(value) for value in values] == [int, int, float, int, float, int]


@pytest.mark.parametrize(
    ("text", "message", "line", "column"),
    [
        ("", "The file is empty.", 1, 1),
        ("  // only\n", "The file is empty.", 2, 1),
        ("{'a': 1}", """Expected a key in double quotes or "}" but found "'".""", 1, 2),
        ("{a: 1}", 'Expected a key in double quotes or "}" but found "a".', 1, 2),
        ('{"a" 1}', 'Expected ":" after the key "a" but found "1".', 1, 6),
        ('{"a": }', 'Expected a value but found "}".', 1, 7),
        ('{"a": 1\n "b": 2}', 'Expected "," or "}" but found \'"\'.', 2, 2),
        ("[1 2]", 'Expected "," or "]" but found "2".', 1, 4),
        ("[1,,2]", 'Expected a value but found ",".', 1, 4),
        ("[,]", 'Expected a value but found ",".', 1, 2),
        ("[01]", 'Expected a value but found "01".', 1, 2),
        ("[+1]", 'Expected a value but found "+1".', 1, 2),
        ("[NaN]", 'Expected a value but found "NaN".', 1, 2),
        ("{}\n{}", 'Unexpected "{" after the end of the value.', 2, 1),
        ('{\n"a": [1', 'The "[" of line 2 is never closed.', 2, 8),
        ('{"a":', "The file ends where a value should be.", 1, 6),
        ('{"a": 1 /* x', "This comment is never closed.", 1, 9),
        ('{"a": "x\n"}', "This string has no closing quote.", 1, 7),
        ('{"a": "x', "This string has no closing quote.", 1, 7),
        ('["a\tb"]', "A string holds the raw control character \\u0009.", 1, 4),
        ('["a\\x41"]', "A string holds an escape that JSON does not know.", 1, 4),
        ('["\\u12"]', "A string holds an escape that JSON does not know.", 1, 4),
        ("{\xa0}", "Expected a key in double quotes or \"}\" but found '\\xa0'.", 1, 2),
    ],
)
def test_what_wrangler_would_not_read_is_refused_at_its_place(text: str, message: str, line: int, column: int) -> None:
    error = refused(text)

    assert (error.message, error.line, error.column) == (message, line, column)
    assert error.code == "config_syntax"
    assert error.file == FILE
    assert error.hint


def test_nesting_has_a_limit_and_does_not_exhaust_the_stack() -> None:
    assert "200 levels" in refused("[" * 100_000).message
    assert jsonc.parse("[" * 200 + "]" * 200).data()


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
        lambda values: st.lists(values, max_size=4) | st.dictionaries(st.text(), values, max_size=4),
        max_leaves=20,
    )
)
def test_plain_json_reads_as_the_standard_library_reads_it(value: object) -> None:
    assert jsonc.parse(json.dumps(value, indent=1)).data() == value
    assert jsonc.parse(json.dumps(value, ensure_ascii=False)).data() == value


@given(st.text(alphabet='{}[]",:/*\\ \nab01', max_size=30))
def test_any_text_is_read_or_refused_with_a_place(text: str) -> None:
    try:
        jsonc.parse(text)
    except ConfigError as error:
        assert error.line is not None
        assert error.column is not None
