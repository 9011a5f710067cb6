"""The lookup of a class for a target without workflow exports: `ctx.exports`, then `env`."""

from __future__ import annotations

import inspect
from types import SimpleNamespace
from typing import Any

import pytest
import workers

from workers_shim.exports_fallback import adopt

CREATES = SimpleNamespace(create=lambda: "created")
OTHER = SimpleNamespace(create=lambda: "another")


def made(exports: Any, env: dict[str, Any], bindings: dict[str, str] | None = None) -> Any:
    """An instance of an adopted entrypoint."""

    class Default(workers.WorkerEntrypoint):
        pass

    adopt({"Default": Default}, {} if bindings is None else bindings)
    return Default(SimpleNamespace(exports=exports, waitUntil=lambda: "waits"), SimpleNamespace(**env))


def test_what_ctx_exports_has_goes_before_env() -> None:
    worker = made(SimpleNamespace(Order=CREATES), {"Order": OTHER})

    assert worker.ctx.exports.Order is CREATES


def test_else_the_class_is_looked_up_on_env() -> None:
    worker = made(SimpleNamespace(), {"Order": CREATES})

    assert worker.ctx.exports.Order is CREATES


def test_without_ctx_exports_at_all_too() -> None:
    class Default(workers.WorkerEntrypoint):
        pass

    adopt({"Default": Default}, {})

    assert Default(object(), SimpleNamespace(Order=CREATES)).ctx.exports.Order is CREATES


def test_a_class_with_a_binding_of_another_name_is_found_under_that() -> None:
    worker = made(None, {"ORDER": CREATES}, {"Order": "ORDER"})

    assert worker.ctx.exports.Order is CREATES
    assert dir(worker.ctx.exports) == ["Order"]


def test_an_export_that_is_no_workflow_gives_way_to_env_only_when_env_has_the_name() -> None:
    entrypoint = SimpleNamespace(fetch=lambda: None)

    assert made(SimpleNamespace(Admin=entrypoint), {"Admin": CREATES}).ctx.exports.Admin is CREATES
    assert made(SimpleNamespace(Admin=entrypoint), {}).ctx.exports.Admin is entrypoint


def test_a_class_that_is_nowhere_is_an_error_that_names_both_places() -> None:
    worker = made(SimpleNamespace(), {}, {"Order": "ORDER"})

    with pytest.raises(AttributeError) as raised:
        _ = worker.ctx.exports.Order
    assert str(raised.value) == "There is no Workflow Order: ctx.exports has none, and env has no binding ORDER."
    assert not hasattr(worker.ctx.exports, "Gone")


def test_the_rest_of_ctx_is_the_platforms() -> None:
    worker = made(None, {})

    assert worker.ctx.waitUntil() == "waits"
    assert not hasattr(worker.ctx, "props")


def test_a_class_keeps_its_own_constructor_name_and_signature() -> None:
    class Order(workers.WorkflowEntrypoint):
        def __init__(self, ctx: Any, env: Any) -> None:
            super().__init__(ctx, env)
            self.found = ctx.exports.Order

    module = {"Order": Order, "WorkflowEntrypoint": workers.WorkflowEntrypoint, "json": inspect}
    adopt(module, {})

    assert module["Order"] is Order
    assert list(inspect.signature(Order).parameters) == ["ctx", "env"]
    assert Order(object(), SimpleNamespace(Order=CREATES)).found is CREATES
    assert "exports" not in vars(workers.WorkflowEntrypoint(object(), None))


def test_a_binding_is_the_one_that_the_class_has_as_its_own_env() -> None:
    class Order(workers.WorkflowEntrypoint):
        def __init__(self, ctx: Any, env: Any) -> None:
            super().__init__(ctx, SimpleNamespace(Order=OTHER))  # as Cloudflare's SDK wraps it

    adopt({"Order": Order}, {})

    assert Order(object(), SimpleNamespace(Order=CREATES)).ctx.exports.Order is OTHER


def test_a_base_class_that_is_exported_too_wraps_once() -> None:
    class Base(workers.WorkflowEntrypoint):
        def __init__(self, ctx: Any, env: Any) -> None:
            super().__init__(ctx, env)

    class Order(Base):
        pass

    adopt({"Base": Base, "Order": Order}, {})
    ctx = object()

    assert Order(ctx, SimpleNamespace()).ctx._ctx is ctx


def test_legacy_handlers_are_given_it_and_take_as_few_arguments_as_before() -> None:
    def on_scheduled(event: Any) -> Any:
        return event

    seen = SimpleNamespace()
    module: dict[str, Any] = {
        "on_fetch": lambda request, env, ctx: ctx.exports.Order,
        "on_scheduled": on_scheduled,
        "on_time": True,
        "other": seen,
    }
    adopt(module, {})

    assert module["on_fetch"]("request", SimpleNamespace(Order=CREATES), object()) is CREATES
    assert module["on_scheduled"]("event") == "event"
    assert list(inspect.signature(module["on_scheduled"]).parameters) == ["event"]
    assert module["on_time"] is True and module["other"] is seen
