"""The `pyodide` modules."""

from __future__ import annotations

from typing import Any

import js
import pyodide
import pytest
from pyodide.code import relaxed_call
from pyodide.ffi import (
    ConversionError,
    JsMap,
    JsProxy,
    create_once_callable,
    create_proxy,
    destroy_proxies,
    jsnull,
    run_sync,
    to_js,
)


def test_a_dict_becomes_a_map_unless_a_converter_is_given() -> None:
    made: Any = to_js({"a": {"b": 1}})

    assert isinstance(made, JsMap)
    assert made["a"]["b"] == 1
    assert made.to_py() == {"a": {"b": 1}}
    assert to_js({"a": {"b": 1}}, dict_converter=js.Object.fromEntries).a.b == 1


def test_sequences_become_arrays_and_bytes_a_copy() -> None:
    data = bytearray(b"ab")
    view = to_js(data)
    data[0] = 0

    assert to_js((1, [2.0, None])).to_py() == [1, [2, None]]
    assert view.to_bytes() == b"ab"
    assert to_js({1, 2}).to_py() == {1, 2}


def test_what_is_javascripts_or_simple_already_stays() -> None:
    made = js.Object.new()

    assert to_js(made) is made
    assert (to_js("x"), to_js(None), to_js(2.0), to_js(1.5)) == ("x", None, 2, 1.5)
    assert isinstance(to_js(2.0), int)


def test_other_objects_pass_as_themselves_or_by_the_default_converter() -> None:
    class Point:
        x = 1

    point = Point()

    assert to_js([point])[0] is point
    assert to_js([point], default_converter=lambda value, convert, remember: convert([value.x]))[0].to_py() == [1]
    with pytest.raises(ConversionError):
        to_js(point, create_pyproxies=False)


def test_depth_and_cycles() -> None:
    cycle: list[Any] = []
    cycle.append(cycle)

    made = to_js(cycle)

    assert made[0] is made
    assert to_js([[1]], depth=1)[0] == [1]


def test_a_proxy_behaves_as_what_it_wraps() -> None:
    proxy = create_proxy(lambda x: x + 1)

    assert proxy(1) == 2
    assert proxy.copy().unwrap()(2) == 3
    proxy.destroy()
    destroy_proxies([proxy, js.Object.new()])


def test_a_once_callable_is_called_once() -> None:
    once = create_once_callable(lambda: "x")

    assert once() == "x"
    with pytest.raises(RuntimeError, match="once"):
        once()


def test_null_is_false_and_not_none() -> None:
    assert not jsnull
    assert jsnull is not None
    assert isinstance(jsnull, JsProxy)


@pytest.mark.asyncio
async def test_run_sync_says_what_to_do_instead() -> None:
    async def work() -> None: ...

    with pytest.raises(RuntimeError, match="Make the function async"):
        run_sync(work())


def test_relaxed_call_drops_what_a_function_does_not_take() -> None:
    def one(a: int) -> int:
        return a

    def named(a: int, *, b: int = 0) -> tuple[int, int]:
        return a, b

    assert relaxed_call(one, 1, 2, 3) == 1
    assert relaxed_call(named, 1, 2, b=3, c=4) == (1, 3)
    assert relaxed_call(lambda *args: args, 1, 2) == (1, 2)
    assert relaxed_call(lambda: "none", 1) == "none"


def test_the_version_can_be_compared() -> None:
    assert tuple(int(part) for part in pyodide.__version__.split(".")) >= (0, 28)


def test_what_is_not_served_says_so() -> None:
    with pytest.raises(ImportError, match=r"pyodide\.webloop is not served by celld-py yet"):
        exec("import pyodide.webloop")
