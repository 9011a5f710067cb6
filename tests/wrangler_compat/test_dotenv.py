from __future__ import annotations

import pytest

from wrangler_compat import dotenv


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("A=1", {"A": "1"}),
        ("A = spaced out  ", {"A": "spaced out"}),
        ("export A=1", {"A": "1"}),
        ("A: yaml", {"A": "yaml"}),
        ("A=", {"A": ""}),
        ("A=\nB=2", {"A": "", "B": "2"}),
        ("A=x # comment", {"A": "x"}),
        ("A='x # y' # comment", {"A": "x # y"}),
        ('A="x#y"', {"A": "x#y"}),
        (r'A="one\ntwo"', {"A": "one\ntwo"}),
        (r"A='one\ntwo'", {"A": r"one\ntwo"}),
        (r"A=one\ntwo", {"A": r"one\ntwo"}),
        ('A="one\ntwo"\nB=3', {"A": "one\ntwo", "B": "3"}),
        ('A=`it\'s "both"`', {"A": 'it\'s "both"'}),
        ("A.b-c=1", {"A.b-c": "1"}),
        ("A=1\nA=2", {"A": "2"}),
        ("# comment\n\n  \nA=1", {"A": "1"}),
        ("\ufeffA=1\r\nB=2\r\n", {"A": "1", "B": "2"}),
        ('A="open', {"A": '"open'}),
        ("A=a=b", {"A": "a=b"}),
    ],
)
def test_values_are_read_as_dotenv_reads_them(text: str, values: dict[str, str]) -> None:
    variables = dotenv.parse(text)

    assert variables.values == values
    assert variables.unread == ()


def test_lines_that_are_no_entry_are_counted() -> None:
    variables = dotenv.parse("A=1\nnonsense here\n\nB=2\n=3")

    assert variables.values == {"A": "1", "B": "2"}
    assert variables.unread == (2, 5)


def test_references_are_replaced() -> None:
    text = "HOST=db\nURL=pg://${HOST}/$NAME\nNAME=shop\nPORT=${PORT_:-5432}\nPRICE=\\$5\nNONE=${MISSING}"

    assert dotenv.expand(dotenv.parse(text).values, {}) == {
        "HOST": "db",
        "URL": "pg://db/shop",
        "NAME": "shop",
        "PORT": "5432",
        "PRICE": "$5",
        "NONE": "",
    }


def test_the_surroundings_win_and_are_not_expanded() -> None:
    assert dotenv.expand({"A": "file", "B": "${A}"}, {"A": "$HOME"}) == {"A": "$HOME", "B": "$HOME"}
