"""Edits of JSONC texts, each with the text before and after."""

from __future__ import annotations

from textwrap import dedent

import pytest

from wrangler_compat import jsonc
from wrangler_compat.edits import Carry, Drop, Export, Field, Operation, Reshape, outcome, spliced
from wrangler_compat.edits.jsonc_text import jsonc_splices

ITEM = ("workflows", 0)
TYPE = Field("type", "workflow")


def edited(text: str, *operations: Operation) -> str:
    document = jsonc.parse(text)
    result = spliced(text, jsonc_splices(document, operations))
    assert jsonc.parse(result).data() == outcome(document.data(), operations)
    return result


def move(name: str = "a", item: tuple[str, int] = ITEM, **settings: object) -> Export:
    fields = [Field(key, value, (*item, key)) for key, value in {"name": name, **settings}.items()]
    return Export(("exports", name.upper()), (TYPE, *fields), item)


NEW = Export(("exports", "A"), (TYPE, Field("name", "a")))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("{}", '{ "exports": { "A": { "type": "workflow", "name": "a" } } }'),
        ('{"x":1}', '{"x":1,"exports":{"A":{"type":"workflow","name":"a"}}}'),
        ('{ "x": 1, }', '{ "x": 1, "exports": { "A": { "type": "workflow", "name": "a" } }, }'),
        ('{ "x": 1 /* c */ }', '{ "x": 1, /* c */ "exports": { "A": { "type": "workflow", "name": "a" } } }'),
        ('{"exports":{}}', '{"exports":{"A":{"type":"workflow","name":"a"}}}'),
        ('{"exports":null}', '{"exports":{"A":{"type":"workflow","name":"a"}}}'),
        (
            '{\n\t"x": 1\n}',
            '{\n\t"x": 1,\n\t"exports": {\n\t\t"A": { "type": "workflow", "name": "a" }\n\t}\n}',
        ),
        (
            '{\n  "x": 1 // one\n  // last\n}\n',
            '{\n  "x": 1, // one\n  "exports": {\n    "A": { "type": "workflow", "name": "a" }\n  }\n  // last\n}\n',
        ),
        (
            '{\n  "exports": {\n    // none yet\n  }\n}',
            '{\n  "exports": {\n    "A": { "type": "workflow", "name": "a" }\n    // none yet\n  }\n}',
        ),
        (
            '{\n  "exports": {\n    "Z": {\n      "type": "worker"\n    }\n  }\n}',
            '{\n  "exports": {\n    "Z": {\n      "type": "worker"\n    },\n'
            '    "A": {\n      "type": "workflow",\n      "name": "a"\n    }\n  }\n}',
        ),
        (
            '{\n  "x": 1\n  , "y": 2\n}',
            '{\n  "x": 1\n  , "y": 2,\n  "exports": {\n    "A": { "type": "workflow", "name": "a" }\n  }\n}',
        ),
        ("{ // head\n}", '{ // head\n  "exports": {\n    "A": { "type": "workflow", "name": "a" }\n  }\n}'),
    ],
)
def test_a_new_entry_looks_like_the_rest_of_the_file(before: str, after: str) -> None:
    assert edited(before, NEW) == after


def test_comments_of_what_an_entry_loses_go_above_it_and_the_others_stay_with_their_keys() -> None:
    before = """\
    {
      "workflows": [
        // above
        {
          // the name
          "name": "a", // legacy
          // bound
          "binding": "B", /* used */
          "class_name": "A",

          // free

          "limits": { // inner
            "steps": 4 /* few */
          } // limited
        }, // behind
        { "name": "b" }
      ]
    }
    """
    after = """\
    {
      "workflows": [
        { "name": "b" }
      ],
      "exports": {
        // above
        // bound
        /* used */
        // free
        "A": {
          "type": "workflow",
          // the name
          "name": "a", // legacy
          "limits": { // inner
            "steps": 4 /* few */
          } // limited
        } // behind
      }
    }
    """

    assert edited(dedent(before), move(limits={"steps": 4})) == dedent(after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('[{"name":"a"},{"name":"b"}]', '[{"name":"b"}]'),
        ('[ {"name":"a"}, {"name":"b"} ]', '[ {"name":"b"} ]'),
        ('[\n  {"name":"a"},\n  {"name":"b"}\n]', '[\n  {"name":"b"}\n]'),
        ('[{"name":"a"},\n  {"name":"b"}]', '[\n  {"name":"b"}]'),
        ('[\n  {"name":"a"}\n  , {"name":"b"}\n]', '[\n  {"name":"b"}\n]'),
        ('[\n  {"name":"a"}, {"name":"b"}\n]', '[\n  {"name":"b"}\n]'),
        ('[\n  {"name":"a"},\n\n  // free\n\n  {"name":"b"}\n]', '[\n\n  // free\n\n  {"name":"b"}\n]'),
    ],
)
def test_the_first_item_goes_without_a_trace(before: str, after: str) -> None:
    result = edited(f'{{"exports": {{}}, "workflows": {before}}}', move())

    assert result.endswith(f'"workflows": {after}}}')


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('[{"name":"b"},{"name":"a"}]', '[{"name":"b"}]'),
        ('[ {"name":"b"}, {"name":"a"}, ]', '[ {"name":"b"}, ]'),
        ('[\n  {"name":"b"},\n  {"name":"a"}\n]', '[\n  {"name":"b"}\n]'),
        ('[\n  {"name":"b"}, // b\n\n  {"name":"a"}\n]', '[\n  {"name":"b"} // b\n]'),
        ('[\n  {"name":"b"},\n  {"name":"a"},\n]', '[\n  {"name":"b"},\n]'),
        ('[\n  {"name":"b"}\n  , {"name":"a"}\n]', '[\n  {"name":"b"}\n  \n]'),
    ],
)
def test_the_last_item_goes_with_the_comma_before_it(before: str, after: str) -> None:
    result = edited(f'{{"exports": {{}}, "workflows": {before}}}', move(item=("workflows", 1)))

    assert result.endswith(f'"workflows": {after}}}')


def test_the_list_goes_with_its_last_item_and_exports_take_its_place() -> None:
    drop = Drop(("workflows",), ("exports",))

    assert edited('{"workflows":[{"name":"a"}]}', move(), drop) == '{"exports":{"A":{"type":"workflow","name":"a"}}}'
    assert (
        edited('{ "x": 1, "workflows": [ { "name": "a" }, ], }', move(), drop)
        == '{ "x": 1, "exports": { "A": { "type": "workflow", "name": "a" } }, }'
    )


def test_a_comment_that_ends_its_line_opens_an_entry_of_one_line() -> None:
    text = '{"x":1,"workflows":[{"name":"a", // why\n"binding":"B"}]}'

    assert edited(text, move(), Drop(("workflows",), ("exports",))).count("// why\n") == 1


def test_a_reshaped_list_keeps_the_items_that_stay_with_their_comments() -> None:
    text = '{ "l": [\n  "a", // first\n  "b", // second\n  "c" // third\n] }'

    assert edited(text, Reshape(("l",), ["a", "c"])) == '{ // second\n"l": [\n  "a", // first\n  "c" // third\n] }'


@pytest.mark.parametrize(
    ("before", "value", "after"),
    [
        ('["a"]', ["a", "b"], '["a", "b"]'),
        ('["a", "b"]', ["b"], '["b"]'),
        ('["a", "b"]', ["a", "x"], '["a", "x"]'),
        ('["a", "b"]', ["x", "y", "z"], '["x", "y", "z"]'),
        ("[]", ["a"], '["a"]'),
        ('"a"', ["a"], '["a"]'),
        ('["a"]', "a", '"a"'),
        ("1", True, "true"),
        ("{ }", {"steps": 5}, '{ "steps": 5 }'),
        ('{"a":{"b":1, "c" : 2}}', {"a": {"b": 1, "c": 3}}, '{"a":{"b":1, "c" : 3}}'),
    ],
)
def test_a_value_changes_where_it_differs(before: str, value: object, after: str) -> None:
    assert edited(f'{{ "v": {before} }}', Reshape(("v",), value)) == f'{{ "v": {after} }}'


def test_a_carried_member_takes_its_comments_along() -> None:
    text = '{\n  "from": {\n    // many\n    "a": 1, // one\n    "b": 2\n  },\n  "to": {\n    "c": 3\n  }\n}'

    assert edited(text, Carry(("from", "a"), ("to", "a"), 1)) == (
        '{\n  "from": {\n    "b": 2\n  },\n  "to": {\n    "c": 3,\n    // many\n    "a": 1 // one\n  }\n}'
    )


def test_comments_of_a_dropped_member_go_above_another() -> None:
    text = '{\n  // why\n  "a": 1, /* so */\n  // b\n  "b": 2\n}'

    assert edited(text, Drop(("a",), ("b",))) == '{\n  // b\n  // why\n  /* so */\n  "b": 2\n}'
    assert edited('{ "a": 1 /* so */, "b": 2 }', Drop(("a",), ("b",))) == '{ /* so */ "b": 2 }'
