"""Printed lines that wait for the host."""

from __future__ import annotations

from typing import Any

import pytest

from workers_shim import logs
from workers_shim.logs import Logs


def line(text: str) -> dict[str, Any]:
    return {"t": "log", "stream": "stdout", "text": text}


def texts(taken: list[logs.Message]) -> list[str]:
    return [message["text"] for message in taken]


def test_lines_leave_in_the_order_in_which_they_came() -> None:
    waiting = Logs()

    assert [waiting.append(line(text)) for text in "abc"] == [True, False, False]
    assert waiting
    assert texts(waiting.take()) == ["a", "b", "c"]
    assert not waiting
    assert waiting.take() == []
    assert waiting.append(line("d"))


def test_no_more_are_taken_than_asked_for_but_one_at_least() -> None:
    waiting = Logs()
    for text in ("x" * 1000, "y" * 1000, "z" * 1000):
        waiting.append(line(text))

    assert [text[0] for text in texts(waiting.take(1))] == ["x"]
    assert [text[0] for text in texts(waiting.take(3000))] == ["y", "z"]


def test_escapes_count() -> None:
    waiting = Logs()
    for _ in range(2):
        waiting.append(line("\u20ac" * 1000))

    assert len(waiting.take(7000)) == 1


@pytest.mark.parametrize(("printed", "says"), [(5, "1 line of output is"), (2004, "2,000 lines of output are")])
def test_the_oldest_are_dropped_when_too_many_wait_and_their_number_is_told(
    monkeypatch: pytest.MonkeyPatch, printed: int, says: str
) -> None:
    monkeypatch.setattr(logs, "MOST", 4 * 300)
    waiting = Logs()
    for number in range(printed):
        waiting.append(line(str(number).ljust(300 - 256)))

    note, *rest = waiting.take()

    assert note == {"t": "log", "stream": "warning", "text": note["text"]}
    assert note["text"].startswith(f"{says} missing here")
    assert [int(text) for text in texts(rest)] == list(range(printed - 4, printed))
    assert waiting.take() == []
