"""A replay that does not fit: what is told, once, and what `--strict-replay` makes of it."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from runtime.cli.terminal import Terminal
from runtime.host.mismatch import Mismatches
from tests.host.fake_isolate import Code, FakeIsolate
from tests.host.virtual_clock import rest
from tests.host.world import Host
from workers_shim.wire.describe import describe

pytestmark = pytest.mark.asyncio

OLD, NEW = describe(("do", "old", 1)), describe(("do", "new", 1))
SAME = "The code is the same as then: look for time, randomness or a global outside steps."


def serve(host: Host, code: str) -> FakeIsolate:
    """An isolate has loaded sources with this digest."""
    isolate = FakeIsolate(host.dispatch)
    host.runs.serve(isolate, host.workflows, ("Wf",), code)
    return isolate


def misfits(code: Code, called: str = NEW) -> None:
    """The run calls something else than the history has."""
    where = {"file": "/app/src/main.py", "line": 12}
    code.isolate.says(code.message("mismatch", recorded=OLD, called=called, **where))


async def replaying(host: Host, then: str = "one", now: str = "one", **step: Any) -> Code:
    """A run that repeats on this code a step that was recorded on that one."""
    first = serve(host, then)
    code = await host.code(first)
    code.returns(code.do("old", **step))
    await rest()
    second = serve(host, now)
    first.dies()
    await rest()
    return second.codes("a")[-1]


async def test_it_says_what_was_recorded_what_was_called_and_where(host: Host) -> None:
    code = await replaying(host)
    misfits(code)
    told = host.err.getvalue()
    assert "warning: wf/a: the replay does not fit the history" in told
    assert f"the history has {OLD}\n" in told
    assert f"the code called {NEW}\n" in told
    assert "  at /app/src/main.py:12\n" in told
    assert "The run goes on as on Cloudflare" in told


@pytest.mark.parametrize(
    ("then", "now", "text"),
    [
        ("one", "one", SAME),
        ("one", "two", "The code has changed since then; the instance runs on the new one since 20"),
        ("", "two", "It is not known whether the code has changed since then."),
        ("one", "", SAME),
    ],
)
async def test_it_says_whether_the_code_has_changed_since(host: Host, then: str, now: str, text: str) -> None:
    misfits(await replaying(host, then, now))
    assert text in host.err.getvalue()


async def test_a_pair_is_told_once_and_again_when_the_code_has_changed(host: Host) -> None:
    isolate = serve(host, "one")
    code = await host.code(isolate)
    code.step("old")
    for digest, count in (("one", 1), ("one", 1), ("two", 2), ("two", 2)):
        await rest()
        after = serve(host, digest)
        isolate.dies()
        await rest()
        isolate = after
        misfits(isolate.codes("a")[-1])
        misfits(isolate.codes("a")[-1])
        assert host.err.getvalue().count("does not fit") == count
    misfits(isolate.codes("a")[-1], called="run() ended")
    assert host.err.getvalue().count("does not fit") == 3


async def test_programs_read_it_as_one_object(host: Host) -> None:
    isolate = serve(host, "one")
    code = await host.code(isolate)
    code.step("old")
    await rest()
    out = io.StringIO()
    mismatches = Mismatches(host.runs, Terminal.over(out, out, "json", {}))
    mismatches.happened(code.message("mismatch", recorded=OLD, called=NEW, file="/app/src/main.py", line=12))
    told = [json.loads(line) for line in out.getvalue().splitlines()]
    assert told[-1] == {
        "kind": "mismatch",
        "workflow": "wf",
        "instance": "a",
        "recorded": OLD,
        "called": NEW,
        "place": "/app/src/main.py:12",
        "code_changed": False,
    }


async def test_a_mismatch_of_a_run_that_has_left_memory_is_told_too(host: Host) -> None:
    code = await host.code(serve(host, "one"))
    code.done()
    await rest()
    misfits(code)
    assert f"the code called {NEW}\n" in host.err.getvalue()
    assert "It is not known whether the code has changed" in host.err.getvalue()


async def test_the_run_goes_on_unless_replays_are_strict(host: Host) -> None:
    code = await replaying(host)
    misfits(code)
    code.done()
    await rest()
    assert await host.status() == "complete"


async def strict(host: Host, **step: Any) -> Code:
    """A run that repeats a step, where a mismatch ends the instance."""
    host.dispatch.mismatches.strict = True
    return await replaying(host, **step)


async def test_a_strict_replay_ends_the_instance_with_an_error_that_says_all_of_it(host: Host) -> None:
    code = await strict(host)
    misfits(code)
    await rest()
    assert code.released
    assert await host.status() == "errored"
    error: Any = (await host.bind("status", "a"))["error"]
    assert error == {
        "name": "Error",
        "message": f"WorkflowFatalError: The replay does not fit the history, which has {OLD}; "
        f"the code called {NEW} at /app/src/main.py:12",
    }


async def test_what_the_code_does_after_a_strict_mismatch_is_not_heard(host: Host) -> None:
    code = await strict(host)
    mismatch = code.message("mismatch", recorded=OLD, called=NEW)
    code.isolate.says(mismatch, code.call("do", "new", None), code.message("done", value="[1]", size=1))
    await rest()
    assert await host.status() == "errored"
    assert code.execs == []


async def test_a_strict_mismatch_undoes_nothing(host: Host) -> None:
    misfits(await strict(host, rollback=True))
    await rest()
    assert await host.status() == "errored"
    assert not any(kind.startswith("rollback") for kind in await host.kinds())


async def test_a_mismatch_in_the_replay_for_a_rollback_does_not_say_that_it_ends_the_instance(host: Host) -> None:
    code = await strict(host, rollback=True)
    await host.bind("terminate", "a", {"rollback": True})
    misfits(code)
    await rest()
    assert await host.status() == "rollingBack"
    assert "ends here" not in host.err.getvalue()
    assert "a step that the code does not come to cannot be rolled back" in host.err.getvalue()


async def test_mismatches_told_are_not_remembered_for_ever(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runtime.host.mismatch.REMEMBERED", 2)
    code = await host.code(serve(host, "one"))
    for name in ("x", "y", "z", "x"):
        misfits(code, called=name)
    assert host.err.getvalue().count("does not fit") == 4
