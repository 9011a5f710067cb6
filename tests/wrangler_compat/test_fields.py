from __future__ import annotations

from typing import get_args

from wrangler_compat import checks, fields, shapes


def test_each_key_is_in_the_table_once() -> None:
    assert len(fields.BY_NAME) == len(fields.TABLE)


def test_each_shape_has_its_check() -> None:
    checked = {"any", *shapes.CHECKS, *checks._NAMED_CHECKS}

    assert checked == set(get_args(fields.Shape))


def test_every_kind_of_binding_is_a_key_of_the_table() -> None:
    assert set(fields.KINDS) <= fields.KNOWN
    assert {key.split(".")[0] for key in fields.BINDING_LISTS} <= fields.KNOWN
