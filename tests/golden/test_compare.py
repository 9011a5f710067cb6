"""The comparison of traces finds what it is there to find."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.golden.agreement import judged
from tests.golden.compare import Verdict, differences, judge
from tests.golden.known import KINDS, Differences, known
from tests.golden.page import PAGE, page
from tests.golden.suites import Suite, Traces, ours


def paths(theirs: Any, our: Any) -> list[str]:
    return [difference.path for difference in differences(theirs, our)]


def takes(*traces: Traces) -> dict[str, Verdict]:
    """What is wrong in a suite of one trace {"a": 1} after these takes of it."""
    nothing = Differences({}, {"suite": {}})
    played = iter(traces)
    return judged(Suite("suite", Path(), {"a": 1}, lambda *_: None), nothing, lambda _: next(played))


@pytest.mark.parametrize(
    ("theirs", "our", "path"),
    [
        (1, 2, "$"),
        (1, True, "$"),
        ({"a": 1}, {"a": 2}, "$.a"),
        ({"a": 1}, {}, "$.a"),
        ({}, {"a b": 1}, '$["a b"]'),
        ([1, 2], [1, 3], "$[1]"),
        ([1, 2], [1], "$[1]"),
        ([1], [1, 2], "$[+1]"),
        ({"a": [{"b": None}]}, {"a": [{"b": 0}]}, "$.a[0].b"),
        (["run", "step"], ["run", "step", "step"], "$[+2]"),
        ([{"type": "b", "id": 1}], [{"type": "a", "id": 1}, {"type": "b", "id": 1}], "$[+0]"),
    ],
)
def test_a_difference_has_a_path(theirs: Any, our: Any, path: str) -> None:
    assert paths(theirs, our) == [path]


def test_entries_after_one_that_only_one_side_has_are_compared_with_their_likes() -> None:
    theirs = [{"type": "first"}, {"type": "last", "id": 2}]
    our = [{"type": "first"}, {"type": "more"}, {"type": "last", "id": 3}]
    assert paths(theirs, our) == ["$[+1]", "$[1].id"]


@pytest.mark.parametrize(
    ("theirs", "our"),
    [
        ({"log": [{"t": 10, "label": "a"}]}, {"log": [{"t": 20, "label": "a"}]}),
        ({"statuses": ["running", "complete"]}, {"statuses": ["complete"]}),
        (0.3422868428711907, 0.6011656396641871),
    ],
)
def test_times_and_random_numbers_are_no_difference(theirs: Any, our: Any) -> None:
    assert paths(theirs, our) == []


def test_what_is_known_is_right_and_what_has_vanished_is_not() -> None:
    known_paths = {"$.a": "reason", "$.list[*].id": "reason", "$.gone": "reason"}
    theirs = {"a": 1, "list": [{"id": 1}, {"id": 2}], "b": 1}
    verdict = judge(theirs, {"a": 2, "list": [{"id": 3}, {"id": 4}], "b": 2}, known_paths)
    assert [difference.path for difference in verdict.unlisted] == ["$.b"]
    assert verdict.vanished == ["$.gone"]
    assert not verdict.right


def test_what_shows_at_times_need_not_show() -> None:
    assert judge({"a": 1}, {"a": 1}, {"$.a": "reason"}, {"reason"}).right
    assert judge({"a": 1}, {"a": 2}, {"$.a": "reason"}, {"reason"}).right


def test_a_trace_that_agrees_in_one_of_its_takes_is_right() -> None:
    assert takes({"a": 2}, {"a": 1}) == {}


def test_a_trace_that_never_agrees_is_wrong() -> None:
    assert list(takes({"a": 2}, {"a": 3}, {"a": 4})) == ["a"]


def test_every_known_difference_has_a_reason_of_a_known_kind() -> None:
    data = known()
    used = {name for traces in data.suites.values() for paths in traces.values() for name in paths.values()}
    assert used == data.reasons.keys()
    assert {reason.kind for reason in data.reasons.values()} <= KINDS.keys()


def test_every_scenario_is_told_in_the_list() -> None:
    assert known().suites["recorded"].keys() == ours().theirs.keys()


def test_the_page_is_written_from_the_list() -> None:
    assert PAGE.read_text("utf-8") == page(known())
