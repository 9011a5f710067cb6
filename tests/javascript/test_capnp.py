"""The text format of Cap'n Proto, as workerd reads it."""

from __future__ import annotations

from pathlib import Path

import pytest

from runtime.javascript.capnp import Embed, Value, Void, written


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("plain", '"plain"'),
        ('a "b" \\ c', r'"a \x22b\x22 \x5c c"'),
        ("\x00\n\x7f", r'"\x00\x0a\x7f"'),
        ("é 😀", '"é 😀"'),
        ("\ud800", '"\ufffd"'),  # has no UTF-8, in which the file is written
        (True, "true"),
        (False, "false"),
        (7, "7"),
        (Void(), "void"),
        (Embed(Path('/a "b"')), r'embed "/a \x22b\x22"'),
        ([], "[]"),
        ({}, "()"),
        ({"name": "a", "list": [{"b": 1}, {"b": 2}]}, '(name = "a", list = [(b = 1), (b = 2)])'),
    ],
)
def test_values_are_written(value: Value, text: str) -> None:
    assert written(value) == text
