from __future__ import annotations

from pathlib import Path

import pytest

from wrangler_compat import toml
from wrangler_compat.diagnostics import ConfigError


def test_a_byte_order_mark_and_crlf_are_read() -> None:
    assert toml.parse('\ufeffname = "shop"\r\n[vars]\r\nA = 1\r\n') == {"name": "shop", "vars": {"A": 1}}


@pytest.mark.parametrize(
    ("text", "line"),
    [("name = shop", 1), ('name = "a"\nmain = "b"\nname = "c"\n', 3), ('name = "a"\nmain =', 2)],
)
def test_a_mistake_is_placed(text: str, line: int) -> None:
    with pytest.raises(ConfigError, match="This is not TOML: ") as caught:
        toml.parse(text, Path("wrangler.toml"))

    assert caught.value.line == line
    assert caught.value.file == Path("wrangler.toml")
    assert caught.value.hint
    assert "(at" not in caught.value.message


def test_absurd_nesting_is_refused() -> None:
    with pytest.raises(ConfigError):
        toml.parse("a = " + "[" * 100_000)


def test_numbers_are_javascript_s() -> None:
    assert repr(toml.parse("a = 5.0\nb = 1.5\nc = [1e3]")) == "{'a': 5, 'b': 1.5, 'c': [1000]}"


def test_an_integer_that_javascript_cannot_hold_is_refused_with_its_place() -> None:
    with pytest.raises(ConfigError, match=r'The integer of "vars.A" is larger') as caught:
        toml.parse("[vars]\nA = 9007199254740993\n", Path("wrangler.toml"))

    assert caught.value.where == "wrangler.toml:2:5"
