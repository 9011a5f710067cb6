"""The rest of the package `workers`: its names, its classes and what crosses to JavaScript."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import js
import pytest
import workers
from pyodide.ffi import jsnull
from workers import (
    Blob,
    DurableObject,
    File,
    FormData,
    Request,
    Response,
    WorkerEntrypoint,
    WorkflowEntrypoint,
    handler,
    import_from_javascript,
    python_from_rpc,
    python_to_rpc,
)

ROOT = Path(workers.__file__).parents[3]


def test_every_public_name_imports_in_an_isolated_interpreter() -> None:
    code = (
        f"import sys; sys.path[:0] = [{str(ROOT / 'workers_shim' / 'modules')!r}, {str(ROOT)!r}]\n"
        "from workers_shim import current\n"
        "current.host = type('Host', (), {'env': None})()\n"
        "import workers, workers.workflows, workers.asgi, asgi, js, pyodide.ffi, pyodide.http, pyodide.code\n"
        "import _pyodide_entrypoint_helper, _cloudflare_compat_flags\n"
        "from workers import *\n"
        "from js import *\n"
        "assert asgi is workers.asgi\n"
        "assert '_cloudflare' not in sys.modules\n"
    )

    subprocess.run([sys.executable, "-I", "-S", "-W", "error", "-c", code], check=True)


def test_an_entrypoint_keeps_what_it_is_given() -> None:
    class Mixin:
        def greet(self) -> str:
            return "hi"

    class Base(WorkerEntrypoint): ...

    class Default(Mixin, Base):
        def __init__(self, ctx: Any, env: Any) -> None:
            super().__init__(ctx, env)
            self.extra = 1

    class Flow(WorkflowEntrypoint): ...

    made = Default("ctx", "env")

    assert (made.ctx, made.env, made.extra, made.greet()) == ("ctx", "env", 1, "hi")
    assert (Flow("ctx", "env").ctx, Flow("ctx", "env").env) == ("ctx", "env")


def test_an_entrypoint_that_does_not_call_its_base_has_no_env() -> None:
    class Default(WorkerEntrypoint):
        def __init__(self, ctx: Any, env: Any) -> None:
            pass

    assert not hasattr(Default(None, None), "env")


def test_a_durable_object_can_be_defined_and_says_that_it_is_not_served() -> None:
    class Counter(DurableObject):
        def __init__(self, ctx: Any, env: Any) -> None:
            pass

    with pytest.raises(NotImplementedError, match="Counter: A Durable Object is not served by celld-py yet"):
        Counter(None, None)


def test_handler_wraps_a_javascript_request_and_drops_arguments() -> None:
    @handler
    def on_fetch(request: Any) -> Any:
        return type(request)

    assert on_fetch(js.Request.new("https://a.test"), None, None) is Request


def test_only_the_workers_module_comes_from_javascript(host: Any) -> None:
    host.env = object()

    assert import_from_javascript("cloudflare:workers").env is host.env
    with pytest.raises(ImportError, match="cloudflare:sockets"):
        import_from_javascript("cloudflare:sockets")


@pytest.mark.asyncio
async def test_blobs_and_files() -> None:
    blob = Blob(["a", b"b", Blob("c")], content_type="text/PLAIN")
    file = File("x", "n.txt", last_modified=5)

    assert (blob.size, blob.content_type, await blob.text()) == (3, "text/plain", "abc")
    assert await blob.slice(1, 2).bytes() == b"b"
    assert (file.name, file.last_modified, await file.bytes()) == ("n.txt", 5, b"x")
    assert blob.js_object.constructor.name == "Blob"


def test_a_form_is_a_mapping_whose_names_repeat() -> None:
    form = FormData({"a": "1"})
    form.append("a", "2")
    form["b"] = "3"

    assert form["a"] == "1"
    assert form.get_all("a") == ["1", "2"]
    assert list(form.items()) == [("a", "1"), ("a", "2"), ("b", "3")]
    form.delete("a")
    assert "a" not in form
    with pytest.raises(KeyError):
        form["a"]


def test_values_cross_as_objects_and_come_back() -> None:
    there = python_to_rpc({"a": [1, None], "when": {1: b"x"}})

    assert there.a[0] == 1
    assert python_from_rpc(there) == {"a": [1, None], "when": {"1": b"x"}}
    assert python_from_rpc(jsnull) is None
    with pytest.raises(TypeError, match="<class 'tuple'> cannot be sent over RPC"):
        python_to_rpc((1,))


@pytest.mark.parametrize("value", [Response("x"), Request("https://a.test"), Blob("x"), FormData({"a": "1"})])
def test_web_objects_cross_as_the_same_class(value: Any) -> None:
    there = python_to_rpc(value)

    assert there is value.js_object
    assert type(python_from_rpc(there)) is type(value)


def test_compatibility_flags_are_attributes(host: Any) -> None:
    import _cloudflare_compat_flags as flags

    assert flags.python_workflows_implicit_dependencies is True
    assert flags.nonsense is False


def test_the_private_helper_says_what_it_lacks(host: Any) -> None:
    import _pyodide_entrypoint_helper as helper

    assert helper.doAnImport("cloudflare:workers").env is None
    with pytest.raises(AttributeError, match="not served by celld-py yet"):
        _ = helper.something


def test_an_unknown_part_of_the_sdk_says_that_it_is_not_served() -> None:
    with pytest.raises(ImportError, match=r"workers\.gateway is not served by celld-py yet"):
        exec("from workers.gateway import BaseOptions")
