from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from workers_shim.errors import (
    LONGEST,
    DataCloneError,
    JsException,
    NonRetryableError,
    add_detail,
    describe,
    over_rpc,
    revive,
    user_frame,
    user_traceback,
)
from workers_shim.values import encode
from workers_shim.wire.messages import ErrorData


def caught(function: Callable[[], Any]) -> Exception:
    try:
        function()
    except Exception as error:
        return error
    raise AssertionError("nothing was raised")


def raising(error: Exception) -> Callable[[], None]:
    def step() -> None:
        raise error

    return step


def through(error: Exception) -> Exception:
    return revive(describe(caught(raising(error))))


def test_a_js_exception_reads_as_in_javascript() -> None:
    error = JsException("RangeError", "too far", "at x.js:1")
    assert str(error) == "RangeError: too far"
    assert (error.name, error.message, error.stack) == ("RangeError", "too far", "at x.js:1")
    assert str(JsException("Error")) == "Error"


@pytest.mark.parametrize("kind", [TypeError, ValueError])
def test_a_type_error_or_value_error_comes_back_with_the_last_line(kind: type[Exception]) -> None:
    error = through(kind("t"))
    assert type(error) is kind
    assert str(error) == f"{kind.__name__}: t"
    assert isinstance(error.__cause__, JsException)
    assert error.__cause__.name == "PythonError"


@pytest.mark.parametrize(
    "raised", [KeyError("k"), RuntimeError("r"), TimeoutError(), ValueError("a\nb"), UnicodeError("u")], ids=repr
)
def test_other_errors_come_back_as_a_python_error_with_the_traceback(raised: Exception) -> None:
    error = through(raised)
    assert isinstance(error, JsException)
    assert error.name == "PythonError"
    assert error.message.startswith("Traceback (most recent call last):\n")
    assert type(raised).__name__ in error.message


def test_a_non_retryable_error_comes_back_as_itself() -> None:
    assert describe(NonRetryableError("nr")) == {"name": "NonRetryableError", "message": "nr"}
    assert type(through(NonRetryableError("nr"))) is NonRetryableError
    assert str(through(NonRetryableError("nr"))) == "nr"
    assert str(through(NonRetryableError())) == ""
    assert str(through(NonRetryableError("a\nb"))) == ""


def test_a_subclass_of_non_retryable_error_is_an_error_like_any_other() -> None:
    class Mine(NonRetryableError):
        pass

    assert describe(Mine("m"))["name"] == "PythonError"


def test_only_the_class_name_makes_an_error_non_retryable() -> None:
    lookalike = type("NonRetryableError", (Exception,), {})
    assert describe(lookalike("l")) == {"name": "NonRetryableError", "message": "l"}


@pytest.mark.parametrize(
    ("name", "message", "crossed"),
    [
        ("RangeError", "r", {"name": "RangeError", "message": "r"}),
        ("DataCloneError", "d", {"name": "DataCloneError", "message": "d"}),
        ("MyError", "m", {"name": "Error", "message": "MyError: m"}),
        ("MyError", "", {"name": "Error", "message": "MyError"}),
    ],
)
def test_js_exceptions_cross_as_over_rpc(name: str, message: str, crossed: ErrorData) -> None:
    assert over_rpc({"name": name, "message": message}) == crossed
    assert describe(JsException(name, message)) == crossed


def test_a_data_clone_error_is_a_js_exception_of_that_name() -> None:
    error = DataCloneError("no")
    assert isinstance(error, JsException)
    assert (error.name, str(error)) == ("DataCloneError", "DataCloneError: no")


@pytest.mark.parametrize(
    "data",
    [
        {"name": "PythonError", "message": "Traceback (most recent call last):\nTypeError: t"},
        {"name": "PythonError", "message": "Traceback (most recent call last):\nKeyError: 'k'"},
        {"name": "NonRetryableError", "message": "nr"},
        {"name": "Error", "message": "WorkflowTimeoutError: Execution timed out after 5ms"},
        {"name": "WorkflowTimeoutError", "message": "m"},
    ],
)
def test_an_error_raised_on_unchanged_is_described_as_what_it_was(data: ErrorData) -> None:
    assert describe(caught(raising(revive(data)))) == data


def test_the_traceback_shows_user_frames_only() -> None:
    async def step() -> None:
        encode({"a": (1,)})

    error = caught(lambda: asyncio.run(asyncio.wait_for(step(), 5)))
    text = user_traceback(error)
    assert __file__ in text
    assert "values.py" not in text
    assert "asyncio" not in text.replace("asyncio.run(asyncio.wait_for", "")
    frame = user_frame(error.__traceback__)
    assert frame is not None
    assert frame[0] == __file__


def test_causes_are_shown_without_our_frames_too() -> None:
    def step() -> None:
        try:
            encode(())
        except TypeError as error:
            raise KeyError("k") from error

    text = user_traceback(caught(step))
    assert "direct cause" in text
    assert "values.py" not in text
    assert text.endswith("KeyError: 'k'")


def test_the_place_inside_a_value_is_shown_without_changing_the_last_line() -> None:
    error = caught(lambda: encode({"items": [1, (2,)]}))
    text = user_traceback(error)
    assert text.splitlines()[-2:] == ["  at result.items[1]", "TypeError: <class 'tuple'> cannot be sent over RPC."]
    assert type(revive(describe(error))) is TypeError


def test_a_users_note_stays_where_python_puts_it() -> None:
    error = ValueError("v")
    error.add_note("mine")
    add_detail(error, "ours")
    assert user_traceback(error).splitlines() == ["  ours", "ValueError: v", "mine"]


def test_tracebacks_name_the_classes_as_on_cloudflare() -> None:
    assert user_traceback(DataCloneError("no")) == "pyodide.ffi.JsException: DataCloneError: no"
    assert user_traceback(NonRetryableError("n")) == "workers.workflows.NonRetryableError: n"


def test_groups_are_shown_whole() -> None:
    group = ExceptionGroup("both", [ValueError("a"), KeyError("b")])
    data = describe(caught(raising(group)))
    assert "ValueError: a" in data["message"]
    assert isinstance(revive(data), JsException)


def test_an_endless_message_is_cut_in_its_middle() -> None:
    text = describe(ValueError("a" * 3_000_000 + "!"))["message"]

    assert len(text) < LONGEST + 100
    assert "characters ...] aaa" in text
    assert text.endswith("a!")
    assert len(describe(NonRetryableError("n" * 3_000_000))["message"]) < LONGEST + 100
    assert len(describe(JsException("Error", "j" * 3_000_000))["message"]) < LONGEST + 100


def test_an_error_that_cannot_be_told_is_described_all_the_same() -> None:
    class Bad(NonRetryableError):
        __qualname__ = "NonRetryableError"

        def __str__(self) -> str:
            raise RuntimeError

    Bad.__name__ = "NonRetryableError"

    assert describe(Bad())["message"] == "<exception str() failed>"
