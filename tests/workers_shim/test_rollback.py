"""What may be given as a step's undo function, and what it is called with."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from tests.workers_shim.conftest import StandIn
from workers_shim.errors import JsException
from workers_shim.rollback import undo_function
from workers_shim.values import JsDict

GIVEN = JsDict(ctx="C", error="E", output="O", stepName="a-1")


def positional_only(output: Any, error: Any, /, *, step_name: Any) -> Any:
    return output, error, step_name


def with_own_default(output: Any, times: int = 3) -> Any:
    return output, times


def everything(**given: Any) -> Any:
    return given


class Undo:
    def method(self, ctx: Any) -> Any:
        return ctx


@pytest.mark.parametrize(
    ("function", "result"),
    [
        (lambda: "nothing", "nothing"),
        (lambda ctx, error, output, step_name: (ctx, error, output, step_name), ("C", "E", "O", "a-1")),
        (lambda output, stepName: (output, stepName), ("O", "a-1")),
        (lambda error: error, "E"),
        (positional_only, ("O", "E", "a-1")),
        (with_own_default, ("O", 3)),
        (everything, {"ctx": "C", "error": "E", "output": "O", "step_name": "a-1"}),
        (lambda id=7: id, 7),
        (Undo().method, "C"),
        (partial(lambda id, output: (id, output), 7), (7, "O")),
    ],
)
def test_an_undo_function_gets_what_its_parameters_name(
    host: StandIn, function: Callable[..., Any], result: Any
) -> None:
    assert undo_function("a", function)(GIVEN) == result


def keyword_only(*, given: Any) -> Any:
    return given


def anything(*given: Any, **more: Any) -> Any:
    assert not more
    return given[0]


@pytest.mark.parametrize("function", [lambda given: given, lambda x, /: x, keyword_only, lambda _, n=1: _, anything])
def test_a_single_parameter_of_another_name_gets_the_whole(host: StandIn, function: Callable[..., Any]) -> None:
    assert undo_function("a", function)(GIVEN) is GIVEN


class Silent:
    __signature__ = 5  # as little use as what some builtins have

    def __call__(self, given: Any) -> Any:
        return given


def test_what_does_not_tell_its_parameters_gets_the_whole(host: StandIn) -> None:
    assert undo_function("a", Silent())(GIVEN) is GIVEN


def test_a_name_that_means_nothing_is_refused_when_the_step_is_called(host: StandIn) -> None:
    with pytest.raises(TypeError) as caught:
        undo_function("a", lambda output, reason: None)
    assert str(caught.value) == "Received unexpected parameter reason"
    assert "named ctx, error, output, step_name" in caught.value.__notes__[0]


@pytest.mark.parametrize("bad", ["x", 5, [], {}, None])
def test_c230_c231_a_rollback_that_is_no_function_is_refused_in_the_words_of_cloudflare(
    host: StandIn, bad: Any
) -> None:
    with pytest.raises(JsException) as caught:
        undo_function("n", bad)
    assert str(caught.value) == 'Error: WorkflowFatalError: Rollback for "n" must be a function'


def test_every_use_is_flagged_as_not_yet_in_cloudflares_sdk(host: StandIn) -> None:
    undo_function("a", lambda: None)
    (warning,) = host.warnings
    assert warning.startswith("rollback= of step.do is not part of Cloudflare's Python SDK yet")
