"""`env` and `ctx` (case 38)."""

from __future__ import annotations

import importlib
from typing import Any

import pytest
import workers

from workers_shim.env import Env, make_context

FLOW: Any = {"type": "workflow", "workflow": "orders"}


def test_variables_and_bindings_are_attributes() -> None:
    env = Env({"NAME": "x", "ON": True, "N": 3}, {"ORDERS": FLOW})

    assert (env.NAME, env.ON, env.N) == ("x", True, 3)
    assert env.ORDERS is env.ORDERS
    assert dir(env) == ["N", "NAME", "ON", "ORDERS"]


def test_a_missing_name_is_an_attribute_error_so_a_default_works() -> None:
    env = Env({}, {})

    with pytest.raises(AttributeError, match="KEY"):
        _ = env.KEY
    assert getattr(env, "KEY", "default") == "default"


def test_env_is_no_container() -> None:
    env: Any = Env({"X": "1"}, {})

    for use in (lambda: env["X"], lambda: len(env), lambda: iter(env), lambda: "X" in env):
        with pytest.raises(TypeError):
            use()


def test_a_json_variable_has_attributes_and_no_keys() -> None:
    conf: Any = Env({"CONF": {"a": {"b": [1, {"c": 2.0}]}, "none": None}}, {}).CONF

    assert conf.a.b[1].c == 2
    assert conf.to_py()["a"] == {"b": [1, {"c": 2}]}
    assert not conf.none
    with pytest.raises(TypeError):
        conf["a"]


def test_the_text_of_env_shows_no_secret() -> None:
    assert "hush" not in repr(Env({"SECRET": "hush"}, {}))


def test_workers_env_is_the_isolates_and_always_the_present_one(host: Any) -> None:
    host.env = Env({"A": "1"}, {})
    assert workers.env is host.env

    host.env = Env({"A": "2"}, {})
    assert importlib.import_module("workers").env.A == "2"


def test_patch_env_lasts_as_long_as_its_block(host: Any) -> None:
    host.env = Env({"A": "1"}, {})

    with workers.patch_env({"A": "2"}, B="3"):
        assert (workers.env.A, workers.env.B) == ("2", "3")

    assert workers.env.A == "1"
    assert not hasattr(workers.env, "B")


def test_exports_are_attributes_of_ctx(host: Any) -> None:
    ctx: Any = make_context({"Orders": FLOW})

    assert callable(ctx.exports.Orders.create)
    assert dir(ctx.exports) == ["Orders"]
    assert not hasattr(ctx.exports, "Other")


def test_before_their_date_there_are_no_exports_and_the_error_names_the_flag(host: Any) -> None:
    host.compatibility_date = "2025-11-16"

    with pytest.raises(AttributeError, match="'enable_ctx_exports'; this Worker has the date 2025-11-16"):
        _ = make_context({"Orders": FLOW}).exports

    host.compatibility_flags = ["enable_ctx_exports"]
    assert hasattr(make_context({"Orders": FLOW}).exports, "Orders")


@pytest.mark.asyncio
async def test_wait_until_hands_the_work_to_the_isolate(host: Any) -> None:
    async def work() -> str:
        return "done"

    ctx = make_context({})
    ctx.waitUntil(work())
    ctx.wait_until(work())
    workers.wait_until(work())
    ctx.passThroughOnException()

    assert [await task for task in host.work] == ["done", "done", "done"]
