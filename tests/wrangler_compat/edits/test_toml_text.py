"""Edits of TOML texts, each with the text before and after."""

from __future__ import annotations

import tomllib
from textwrap import dedent

import pytest

from wrangler_compat.edits import Carry, Drop, Export, Field, Operation, Reshape, outcome, spliced
from wrangler_compat.edits.errors import CannotEdit
from wrangler_compat.edits.toml_scan import scan
from wrangler_compat.edits.toml_text import toml_splices

TYPE = Field("type", "workflow")
NAME = Field("name", "a")
ITEM = ("workflows", 0)
GONE = Drop(("workflows",), ("exports",))


def edited(text: str, *operations: Operation) -> str:
    text = dedent(text)
    result = spliced(text, toml_splices(text, scan(text), operations))
    assert tomllib.loads(result) == outcome(tomllib.loads(text), operations)
    return result


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", '[exports.A]\ntype = "workflow"\nname = "a"\n'),
        ("x = 1\n", 'x = 1\n\n[exports.A]\ntype = "workflow"\nname = "a"\n'),
        ("x = 1", 'x = 1\n\n[exports.A]\ntype = "workflow"\nname = "a"\n'),
        ("[exports]\nB = {}\n", '[exports]\nB = {}\n\n[exports.A]\ntype = "workflow"\nname = "a"\n'),
        (
            '[exports.Z]\ntype = "worker" # z\n\n# v\n[vars]\n',
            '[exports.Z]\ntype = "worker" # z\n\n[exports.A]\ntype = "workflow"\nname = "a"\n\n# v\n[vars]\n',
        ),
    ],
)
def test_a_new_export_is_a_table_behind_the_others(before: str, after: str) -> None:
    assert edited(before, Export(("exports", "A"), (TYPE, NAME))) == after


def test_a_binding_becomes_an_export_where_it_stands() -> None:
    before = """\
    name = "shop"

    # the pipe
    [[workflows]] # legacy
    name = "a" # do not rename
    # bound
    binding = "ORDER" # here
    class_name = "A"
    schedules = ["0 3 * * *"]

    # tested
    [workflows.limits]
    steps = 20 # many

    # theirs
    [[workflows]]
    name = "b"
    binding = "B"
    class_name = "B"
    script_name = "other"
    """
    after = """\
    name = "shop"

    # the pipe
    # bound
    # here
    [exports.A] # legacy
    type = "workflow"
    name = "a" # do not rename
    schedules = ["0 3 * * *"]
    concurrency = { limit = 2 }

    # tested
    [exports.A.limits]
    steps = 30 # many

    # theirs
    [[workflows]]
    name = "b"
    binding = "B"
    class_name = "B"
    script_name = "other"
    """
    fields = (
        TYPE,
        Field("name", "a", (*ITEM, "name")),
        Field("limits", {"steps": 30}, (*ITEM, "limits")),
        Field("concurrency", {"limit": 2}),
        Field("schedules", ["0 3 * * *"], (*ITEM, "schedules")),
    )

    assert edited(before, Export(("exports", "A"), fields, ITEM)) == dedent(after)


def test_the_last_binding_takes_the_list_with_it() -> None:
    before = '[[workflows]]\nname = "a"\nbinding = "A"\nclass_name = "A"\n'
    fields = (TYPE, Field("name", "a", (*ITEM, "name")))

    result = edited(before, Export(("exports", "A"), fields, ITEM), GONE)

    assert result == '[exports.A]\ntype = "workflow"\nname = "a"\n'


def test_settings_leave_a_binding_that_stays() -> None:
    before = """\
    [[workflows]]
    name = "a"
    # few
    concurrency = { limit = 2 } # really
    binding = "A"
    class_name = "A"
    [workflows.limits]
    steps = 5

    [vars]
    """
    after = """\
    [[workflows]]
    name = "a"
    binding = "A"
    class_name = "A"
    [exports.A.limits]
    steps = 5

    [exports.A]
    type = "workflow"
    name = "a"
    # few
    concurrency = { limit = 2 } # really

    [vars]
    """
    fields = (
        TYPE,
        NAME,
        Field("limits", {"steps": 5}, (*ITEM, "limits")),
        Field("concurrency", {"limit": 2}, (*ITEM, "concurrency")),
    )

    assert edited(before, Export(("exports", "A"), fields)) == dedent(after)


@pytest.mark.parametrize(
    ("before", "value", "after"),
    [
        ("limits = { steps = 5 }", {"limits": {"steps": 6}}, "limits = { steps = 6 }"),
        ("limits = { steps = 5 } # c", {"limits": {"steps": 6, "x": 1}}, "limits = { steps = 6, x = 1 } # c"),
        ("limits.steps = 5", {"limits": {"steps": 6}}, "limits.steps = 6"),
        ("limits.steps = 5 # c", {"limits": {"steps": 5, "x": 1}}, "limits.steps = 5 # c\nlimits.x = 1"),
        ("[exports.A.limits]\nsteps = 5 # c", {"limits": {"steps": 6}}, "[exports.A.limits]\nsteps = 6 # c"),
        ('schedules = """a"""', {"schedules": ["a", "b"]}, 'schedules = ["a", "b"]'),
        ("# c", {"limits": {"steps": 6}}, "limits = { steps = 6 }\n# c"),
        ("[exports.A.limits]", {"limits": {"steps": 6}}, "[exports.A.limits]\nsteps = 6"),
    ],
)
def test_only_the_value_that_differs_is_written(before: str, value: dict[str, object], after: str) -> None:
    reshape = Reshape(("exports", "A"), {"type": "workflow", **value})

    result = edited(f'[exports.A]\ntype = "workflow"\n{before}\n', reshape)

    assert result == f'[exports.A]\ntype = "workflow"\n{after}\n'


def test_a_setting_is_carried_and_its_binding_dropped_with_the_comments_above_the_export() -> None:
    before = """\
    [exports.A]
    name = "a"

    # old
    [[workflows]] # list
    binding = "A" # gone
    # few
    concurrency = { limit = 2 }
    """
    after = """\
    # old
    # list
    # gone
    [exports.A]
    name = "a"
    # few
    concurrency = { limit = 2 }

    """
    carry = Carry((*ITEM, "concurrency"), ("exports", "A", "concurrency"), {"limit": 2})

    assert edited(before, carry, Drop(ITEM, ("exports", "A")), GONE) == dedent(after)


@pytest.mark.parametrize(
    ("text", "operation"),
    [
        ("exports = {}", Export(("exports", "A"), (TYPE, NAME))),
        ('workflows = [{ name = "a" }]', Export(("exports", "A"), (TYPE, Field("name", "a", (*ITEM, "name"))), ITEM)),
        ("exports.A = { x = 1 }", Drop(("exports", "A", "x"), ("exports", "A"))),
    ],
)
def test_inline_forms_are_refused(text: str, operation: Operation) -> None:
    with pytest.raises(CannotEdit):
        edited(text, operation)


def test_strings_and_comments_are_told_apart() -> None:
    text = "\n".join(
        [
            'a = "# no \\" # no" # one',
            "b = '# no' # two",
            'c = """',
            '# no \\""" # no',
            '""""',
            "\"quoted.key\" . 'other' = '''# no'''' # three",
            "d = [ # four",
            '  "]", # five',
            "]",
            '[ x . "y z" ] # six',
            'e = { f = "}", g = [1, 2] } # seven',
        ]
    )
    found = scan(text)

    assert [text[span.start : span.end] for span in found.comments] == [
        "# one",
        "# two",
        "# three",
        "# four",
        "# five",
        "# six",
        "# seven",
    ]
    assert [pair.path for table in found.tables for pair in table.pairs] == [
        ("a",),
        ("b",),
        ("c",),
        ("quoted.key", "other"),
        ("d",),
        ("x", "y z", "e"),
    ]
