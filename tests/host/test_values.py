from __future__ import annotations

import math
from typing import Any

import pytest

from runtime.engine.state import Received
from runtime.engine.views import Value
from runtime.host.values import NULL, build, json_shaped, plain, read, received_event
from workers_shim.wire import devalue
from workers_shim.wire.neutral import UNDEFINED, BigInt, Date, Map


@pytest.mark.parametrize(
    ("value", "taken"),
    [
        (None, None),
        (5, 5),
        ("5 seconds", "5 seconds"),
        (Date(1000), 1000),
        (BigInt(7), 7),
        ({"a": UNDEFINED, "b": [Date(1)]}, {"b": [1]}),
    ],
    ids=repr,
)
def test_the_engine_takes_values_in_a_plain_form(value: Any, taken: Any) -> None:
    assert read(devalue.stringify(value)) == taken


def test_undefined_is_no_number_to_the_engine() -> None:
    assert math.isnan(read("-1"))
    assert math.isnan(plain([UNDEFINED])[0])


def test_what_has_no_plain_form_stays_what_it_is() -> None:
    assert plain(Map([(1, 2)])) == Map([(1, 2)])


def test_null_is_read_without_parsing() -> None:
    assert read(NULL) is None


def test_values_of_users_are_put_into_answers_as_they_are() -> None:
    inner = devalue.stringify({"when": Date(0), "map": Map([("k", BigInt(1))])})

    built = devalue.parse(build({"output": Value(inner), "list": [Value("-1"), 1]}))

    assert built == {"output": {"when": Date(0), "map": Map([("k", BigInt(1))])}, "list": [UNDEFINED, 1]}


def test_status_shows_values_as_json_has_them() -> None:
    assert json_shaped(devalue.stringify({"a": BigInt(10), "b": UNDEFINED})) == {"a": "[BigInt(10)]"}


def test_a_received_event_has_payload_timestamp_and_type_in_this_order() -> None:
    text = received_event(Received(1, "go", '[{"a":1},5]', 1000))

    assert list(devalue.parse(text).items()) == [("payload", {"a": 5}), ("timestamp", Date(1000)), ("type", "go")]
