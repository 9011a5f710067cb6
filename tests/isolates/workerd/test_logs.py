from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from runtime.isolates.workerd.echo import Echo
from runtime.isolates.workerd.logs import MARK, Logs, Speaker
from runtime.isolates.workerd.stacks import Stacks


class Shouted:
    """Source maps that can be seen to have been applied."""

    def apply(self, stack: str) -> str:
        return stack.upper()

    def first(self, stack: str, inside: Path) -> tuple[Path, int] | None:
        return None


def logs(echo: Echo | None = None, *, loaded: bool = True, mapped: bool = False) -> Logs:
    stacks = Stacks(Shouted(), Path("/project")) if mapped else None

    def speaker(run: int | None, worker: str | None) -> Speaker:
        return Speaker(echo if run is not None else None, stacks)

    made = Logs(speaker, "front")
    if loaded:
        made.loaded()
    return made


def line(message: str, level: str = "log", **more: Any) -> str:
    return json.dumps({"timestamp": "1", "level": level, "message": message, **more})


def own(message: str, level: str = "error") -> str:
    return line(message, level, source="server.rs:1")


def mark(**place: Any) -> str:
    return line(MARK + json.dumps(place))


def texts(messages: list[dict[str, Any]]) -> list[str]:
    return [each["text"] for each in messages]


def test_the_level_decides_the_stream() -> None:
    told = logs().messages([line(level, level) for level in ("log", "info", "debug", "warn", "error")])
    assert [each["stream"] for each in told] == ["stdout", "stdout", "stdout", "stderr", "stderr"]


def test_a_text_of_several_lines_becomes_as_many_with_one_place() -> None:
    told = logs().messages([mark(r=1, s="a-1", a=2, c=1, v=0), line("one\n\ntwo"), line("elsewhere")])
    place = {"run": 1, "step": "a-1", "attempt": 2}
    assert told == [
        {"t": "log", "stream": "stdout", "text": "one", **place},
        {"t": "log", "stream": "stdout", "text": "", **place},
        {"t": "log", "stream": "stdout", "text": "two", **place},
        {"t": "log", "stream": "stdout", "text": "elsewhere"},
    ]


def test_what_only_looks_like_a_place_is_a_line_of_the_user() -> None:
    forged: list[dict[str, Any]] = [
        {"r": 1, "c": "many"},
        {"r": 1, "v": None},
        {"r": True},
        {"r": 1, "s": 2},
        {"r": 1, "a": "x"},
        {"w": 1},
        {"g": "deep"},
        {"told": 1},
        {"x": 1},
    ]
    reading = logs(Echo(calls=2, settlements=1))
    assert texts(reading.messages([mark(**each) for each in forged])) == [MARK + json.dumps(each) for each in forged]
    assert reading.messages([line("after")])[0]["text"] == "after"


def test_lines_in_groups_are_indented() -> None:
    told = logs().messages([mark(g=2), line("one\n\ntwo"), mark(r=1, g=1), line("in a run"), line("flat")])
    assert texts(told) == ["    one", "", "    two", "  in a run", "flat"]


def test_a_warning_of_ours_has_its_own_place_and_leaves_the_next_line_s_alone() -> None:
    told = logs().messages([mark(r=1, s="a-1", a=2, warning="careful"), mark(r=3), line("one")])
    assert told == [
        {"t": "log", "stream": "warning", "text": "careful", "run": 1, "step": "a-1", "attempt": 2},
        {"t": "log", "stream": "stdout", "text": "one", "run": 3},
    ]


def test_what_another_worker_s_fetch_throws_is_told_once_as_its_own() -> None:
    stack = "Error: x\n    at f (index.js:1:1)"
    uncaught = own(f"uncaught exception; source = Uncaught; stack = {stack}", "info")

    assert texts(logs().messages([mark(told=stack, w="behind"), uncaught])) == [
        "Uncaught in the Worker behind: Error: x",
        "    at f (index.js:1:1)",
    ]
    for place in ({}, {"w": "front"}):  # the host tells these with what they were thrown from
        assert logs().messages([mark(told=stack, **place), uncaught]) == []


def test_a_place_holds_for_the_next_line_also_when_that_comes_later() -> None:
    reading = logs()
    assert reading.messages([mark(r=1)]) == []
    assert reading.messages([line("late")])[0]["run"] == 1


def test_only_output_outside_steps_is_an_echo_until_all_is_repeated() -> None:
    reading = logs(Echo(calls=2, settlements=1))
    lines = [(1, 1, None), (2, 0, None), (2, 1, None), (0, 0, "a-1")]
    printed = [
        text
        for calls, settlements, step in lines
        for text in (mark(r=1, c=calls, v=settlements, **({"s": step} if step else {})), line(f"{calls} {settlements}"))
    ]
    assert texts(reading.messages(printed)) == ["2 1", "0 0"]


def test_the_echo_of_a_journal_counts_calls_at_top_level_and_results() -> None:
    journal = [["c", "do", "a", 1, 0], ["c", "do", "b", 1, 1], ["v", "do", "a", 1, "[1]"], ["l", "do", "c", 1]]
    assert Echo.of(journal) == Echo(calls=1, settlements=2)


def test_a_line_that_is_not_structured_is_shown_as_it_is() -> None:
    assert texts(logs().messages(["no json", '{"half": ', '{"level": 1}'])) == ["no json", '{"half": ', '{"level": 1}']


def test_what_looks_like_a_mark_of_ours_is_shown() -> None:
    assert texts(logs().messages([line(MARK), line(MARK + "[]"), line(MARK + '{"r": "x"}')])) == [
        MARK,
        MARK + "[]",
        MARK + '{"r": "x"}',
    ]


def test_what_workerd_says_of_a_run_that_it_ended_on_request_is_left_out() -> None:
    hung = "The code had hung and would never generate a response."
    assert texts(logs().messages([own(hung), line(hung)])) == [hung]


def test_an_uncaught_error_is_named_without_the_place_in_workerd() -> None:
    said = own("Uncaught exception: workerd/jsg/value.h:1456: failed: remote.jsg.TypeError: boo")
    assert texts(logs().messages([said])) == ["Uncaught TypeError: boo"]


def test_source_maps_are_applied() -> None:
    assert texts(logs(mapped=True).messages([line("at index.js:1:2")])) == ["AT INDEX.JS:1:2"]


def test_words_of_workerd_wait_until_it_is_known_whether_the_code_loads() -> None:
    reading = logs(loaded=False)
    assert texts(reading.messages([own("a warning"), line("from the top level")])) == ["from the top level"]
    assert reading.complaints == ["a warning"]
    assert texts(reading.loaded()) == ["a warning"]
    assert texts(reading.messages([own("later")])) == ["later"]
