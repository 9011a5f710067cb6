"""A Worker in the test's own process: what a test sees of it, and that it leaves nothing behind."""

from __future__ import annotations

import asyncio
import re
import sys
import types
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from runtime.testing import (
    JsException,
    NothingMoves,
    Worker,
    WorkerBusy,
    WorkerClosed,
    WorkerNotLoaded,
    WorkerTestError,
)
from workers_shim.load import MODULES
from wrangler_compat import ConfigError

GREETER = """
    from workers import Response, WorkerEntrypoint, WorkflowEntrypoint

    loaded = []

    class Greeter(WorkflowEntrypoint):
        async def run(self, event, step):
            print("outside")

            @step.do("greet")
            async def greet():
                print("inside")
                return f"Hello {event['payload']['name']}"

            greeting = await greet()
            await step.sleep("night", "1 day")
            answer = await step.wait_for_event("answer", "answer", timeout="2 days")
            return {"greeting": greeting, "answer": answer["payload"]}

    class Default(WorkerEntrypoint):
        async def fetch(self, request):
            if request.method == "POST":
                body = await request.json()
                instance = await self.env.GREETER.create(id=body["id"], params={"name": body["id"]})
                return Response.json({"id": instance.id}, status=201)
            return Response("ok", headers={"x-seen": request.url})
"""


@pytest.fixture
def greeter(tmp_path: Path) -> Any:
    with Worker.inline(tmp_path, GREETER) as worker:
        yield worker


def test_a_workflow_runs_until_it_waits(greeter: Worker) -> None:
    instance = greeter.env.GREETER.create(id="a", params={"name": "Ada"})
    assert instance.id == "a"
    assert instance.status()["status"] == "waiting"
    assert [entry["kind"] for entry in instance.journal()][-1] == "workflow_waiting"


def test_advancing_the_clock_moves_durable_time_only(greeter: Worker) -> None:
    instance = greeter.env.GREETER.create(params={"name": "Ada"})
    before = greeter.clock.now
    greeter.clock.advance("1 day")
    greeter.clock.advance(timedelta(hours=1))
    greeter.clock.advance(1_000)
    assert greeter.clock.now - before == timedelta(days=1, hours=1, seconds=1)
    instance.send_event(type="answer", payload=[1, 2])
    assert instance.status()["output"] == {"greeting": "Hello Ada", "answer": [1, 2]}


def test_the_clock_skips_to_whatever_is_due_next(greeter: Worker) -> None:
    instance = greeter.env.GREETER.create(params={"name": "Ada"})
    began = greeter.clock.now
    assert greeter.clock.skip_to_next() == began + timedelta(days=1)
    assert greeter.clock.skip_to_next() == began + timedelta(days=3)
    assert greeter.clock.skip_to_next() is None
    assert instance.status()["error"]["message"].endswith("Execution timed out after 172800000ms")


@pytest.mark.parametrize("wrong", [-1, "5s", float("nan"), "7 dayz", "5 min", None])
def test_a_duration_that_is_none_is_refused(greeter: Worker, wrong: Any) -> None:
    with pytest.raises(ValueError, match="is no duration"):
        greeter.clock.advance(wrong)


def test_errors_are_those_that_a_worker_sees(greeter: Worker) -> None:
    greeter.env.GREETER.create(id="a", params={"name": "Ada"})
    with pytest.raises(JsException, match="already exists"):
        greeter.env.GREETER.create(id="a")
    with pytest.raises(JsException, match=r"^Error: instance.not_found$"):
        greeter.env.GREETER.get("nobody")


def test_requests_go_through_the_worker(greeter: Worker) -> None:
    answer = greeter.fetch("/start", "POST", json={"id": "bob"})
    assert (answer.status_code, answer.json()) == (201, {"id": "bob"})
    assert greeter.env.GREETER.get("bob").status()["status"] == "waiting"
    other = greeter.fetch("/x?y=1")
    assert (other.text, other.headers["X-Seen"]) == ("ok", "http://localhost/x?y=1")


def test_a_variable_that_is_not_there_is_told_with_those_that_are(greeter: Worker) -> None:
    with pytest.raises(AttributeError, match=r"^env has no GRETER; it has .*GREETER"):
        greeter.env.GRETER.create()
    assert not hasattr(greeter.env, "GRETER")


def test_env_cannot_be_set_as_the_worker_would_not_see_it(greeter: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(AttributeError, match=r"vars="):
        monkeypatch.setattr(greeter.env, "GREETER", "fake")


def test_what_of_the_configuration_has_no_effect_is_said_once(tmp_path: Path) -> None:
    with Worker.inline(tmp_path, GREETER, config={"kv_namespaces": [{"binding": "KV", "id": "1"}]}) as worker:
        worker.crash()
        assert worker.said.count("kv_namespaces") == 1


def test_a_mistake_in_the_configuration_is_told_with_its_place_and_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        Worker.inline(tmp_path, GREETER, config={"main": "src/gone.py"})
    assert any("wrangler.json:" in note for note in caught.value.__notes__)
    with pytest.raises(ConfigError, match=r"There is no wrangler\.json") as caught:
        Worker.open(Path("/"))
    assert any("celld_py_project" in note for note in caught.value.__notes__)


def test_a_crash_keeps_what_is_committed_and_loads_the_code_afresh(greeter: Worker) -> None:
    instance = greeter.env.GREETER.create(params={"name": "Ada"})
    greeter.module.loaded.append("by the test")
    greeter.crash()
    assert greeter.module.loaded == []
    greeter.clock.advance("1 day")
    greeter.crash()
    instance.send_event(type="answer", payload="hi")
    assert instance.status()["output"] == {"greeting": "Hello Ada", "answer": "hi"}


def test_output_reaches_the_capture_and_a_replays_echo_does_not(
    greeter: Worker, capsys: pytest.CaptureFixture[str]
) -> None:
    greeter.env.GREETER.create(params={"name": "Ada"})
    assert capsys.readouterr().out == "outside\ninside\n"
    greeter.crash()
    greeter.clock.advance("1 day")
    assert capsys.readouterr().out == ""


HANGING = """
    import asyncio
    from workers import WorkflowEntrypoint

    left = []

    class Hanging(WorkflowEntrypoint):
        async def run(self, event, step):
            @step.do("hang", config={"retries": {"limit": 0, "delay": 0}, "timeout": "1 minute"})
            async def hang():
                try:
                    await asyncio.Event().wait()
                finally:
                    left.append("finally")

            try:
                await hang()
            except Exception as error:
                return str(error)
"""


def test_time_moves_on_for_a_callback_that_never_ends(tmp_path: Path) -> None:
    with Worker.inline(tmp_path, HANGING, patience=0.05) as worker:
        instance = worker.env.HANGING.create()
        assert instance.status()["status"] == "running"
        worker.clock.advance("1 minute")
        assert instance.status()["output"] == "Error: WorkflowTimeoutError: Execution timed out after 60000ms"
        assert worker.module.left == ["finally"]


def test_a_crash_runs_no_finally(tmp_path: Path) -> None:
    with Worker.inline(tmp_path, HANGING, patience=0.05) as worker:
        instance = worker.env.HANGING.create()
        left = worker.module.left
        worker.crash()
        assert left == []
        assert [e["kind"] for e in instance.journal() if e["kind"].startswith("attempt")] == [
            "attempt_started",
            "attempt_errored",
            "attempt_started",
        ]


def test_a_callback_that_takes_a_moment_is_waited_for(tmp_path: Path) -> None:
    source = """
        import asyncio
        from workers import WorkflowEntrypoint

        class Slow(WorkflowEntrypoint):
            async def run(self, event, step):
                @step.do("slow")
                async def slow():
                    await asyncio.sleep(0.02)
                    return await asyncio.to_thread(lambda: "done")
                return await slow()
    """
    with Worker.inline(tmp_path, source) as worker:
        assert worker.env.SLOW.create().status()["output"] == "done"


def test_code_that_awaits_again_and_again_is_not_waited_for_for_ever(tmp_path: Path) -> None:
    source = """
        import asyncio
        from workers import WorkflowEntrypoint

        class Polling(WorkflowEntrypoint):
            async def run(self, event, step):
                @step.do("poll", config={"retries": {"limit": 0, "delay": 0}, "timeout": "1 hour"})
                async def poll():
                    while True:
                        await asyncio.sleep(0.001)
                await poll()
    """
    with Worker.inline(tmp_path, source, patience=0.05) as worker:
        instance = worker.env.POLLING.create()
        worker.clock.advance("1 hour")
        assert instance.status()["error"]["message"] == "WorkflowTimeoutError: Execution timed out after 3600000ms"


def test_a_request_that_fails_is_answered_and_told_as_in_dev(tmp_path: Path) -> None:
    source = """
        from workers import WorkerEntrypoint

        class Default(WorkerEntrypoint):
            async def fetch(self, request):
                raise ValueError("of the worker")
    """
    with Worker.inline(tmp_path, source) as worker:
        answer = worker.fetch("/")
        assert answer.status_code == 500
        assert "ValueError: of the worker" in worker.said
        with pytest.raises(WorkerTestError, match="the Worker answered 500"):
            answer.raise_for_status()


def test_large_bodies_go_through_in_pieces_both_ways(tmp_path: Path) -> None:
    source = """
        from workers import Response, WorkerEntrypoint

        class Default(WorkerEntrypoint):
            async def fetch(self, request):
                return Response(await request.text() * 2)
    """
    with Worker.inline(tmp_path, source) as worker:
        assert worker.fetch("/", "POST", content="x" * 1_000_000).content == b"x" * 2_000_000


def test_what_a_request_leaves_behind_is_waited_for(tmp_path: Path) -> None:
    source = """
        import asyncio
        from workers import Response, WorkerEntrypoint

        done = []

        class Default(WorkerEntrypoint):
            async def fetch(self, request):
                self.ctx.waitUntil(self.later())
                return Response("early")

            async def later(self):
                await asyncio.sleep(0.01)
                done.append("late")
    """
    with Worker.inline(tmp_path, source) as worker:
        assert worker.fetch("/").text == "early"
        assert worker.module.done == ["late"]


def test_batches_pause_and_restart_work_as_in_a_worker(greeter: Worker) -> None:
    made = greeter.env.GREETER.create_batch(
        [{"id": "a", "params": {"name": "A"}}, {"id": "b", "params": {"name": "B"}}]
    )
    assert [one.id for one in made] == ["a", "b"]
    both = greeter.env.GREETER.create_batch(count=2, params={"name": "C"})
    assert (len(both["created"]), both["errors"]) == (2, [])
    first = made[0]
    first.pause()
    assert first.status()["status"] == "paused"
    first.resume()
    first.restart({"from": {"name": "greet"}})
    first.terminate()
    assert first.status()["status"] == "terminated"
    assert greeter.env.GREETER.delete_batch(["a", "zzz"])["deleted"] == [{"id": "a"}]
    assert greeter.env.GREETER.list()[0].id == "b"


SCHEDULED = {
    "workflows": [
        {"name": "nightly", "binding": "NIGHTLY", "class_name": "Nightly", "schedules": ["0 3 * * *", "0 4 * * *"]}
    ]
}


def test_schedules_fire_as_time_is_moved(tmp_path: Path) -> None:
    source = """
        from workers import WorkflowEntrypoint

        class Nightly(WorkflowEntrypoint):
            async def run(self, event, step):
                return event["schedule"]["cron"]
    """
    with Worker.inline(tmp_path, source, config=SCHEDULED, now=1_700_000_000_000, schedules=True) as worker:
        assert str(worker.clock.skip_to_next()) == "2023-11-15 03:00:00+00:00"
        worker.clock.advance("1 day")
        outputs = [instance.status()["output"] for instance in worker.instances]
        assert outputs == ["0 3 * * *", "0 4 * * *", "0 3 * * *"]


def test_replaying_every_step_shows_code_that_leans_on_memory(tmp_path: Path) -> None:
    source = """
        from workers import WorkflowEntrypoint

        runs = []

        class Leaning(WorkflowEntrypoint):
            async def run(self, event, step):
                runs.append("run")
                @step.do("one")
                async def one():
                    return 1
                await one()
                return len(runs)
    """
    with Worker.inline(tmp_path, source, replay_every_step=True) as worker:
        assert worker.env.LEANING.create().status()["output"] == 2


def test_a_subscription_replays_and_says_when_nothing_will_come(greeter: Worker) -> None:
    instance = greeter.env.GREETER.create(params={"name": "Ada"})
    events = instance.subscribe(filter=["sleep_started", "sleep_completed", "wait_started"])
    assert events.next()["value"]["type"] == "sleep_started"
    with pytest.raises(NothingMoves):
        events.next()
    greeter.clock.advance("1 day")
    assert events.next()["value"]["type"] == "sleep_completed"
    events.dispose()


@pytest.mark.asyncio
async def test_it_works_inside_a_test_with_a_loop_of_its_own(greeter: Worker) -> None:
    mine = asyncio.get_running_loop()
    instance = greeter.env.GREETER.create(params={"name": "Ada"})
    greeter.clock.advance("1 day")
    await asyncio.sleep(0)
    assert asyncio.get_running_loop() is mine
    assert instance.status()["status"] == "waiting"


# --------------------------------------------------------------------------------------------------- what it leaves


def test_one_worker_at_a_time(greeter: Worker, tmp_path: Path) -> None:
    with pytest.raises(WorkerBusy, match=rf"opened at {re.escape(__file__)}:\d+, is still under test"):
        Worker.inline(tmp_path / "other", GREETER)


def test_closing_gives_the_process_back(tmp_path: Path) -> None:
    before = list(sys.path), set(sys.modules), sys.stdout, asyncio.as_completed
    theirs = sys.modules["entry"] = type(sys)("entry")
    try:
        with Worker.inline(tmp_path, GREETER) as worker:
            assert sys.modules["entry"] is worker.module is not theirs
            worker.crash()
        assert sys.modules["entry"] is theirs
    finally:
        del sys.modules["entry"]
    mine = {name for name in set(sys.modules) - before[1] if not name.startswith(("runtime", "workers_shim"))}
    assert not mine & {"workers", "js", "pyodide", "pyodide.ffi", "asgi"}
    assert (list(sys.path), sys.stdout, asyncio.as_completed) == (before[0], before[2], before[3])
    with pytest.raises(WorkerClosed):
        worker.fetch("/")


def test_a_tests_module_and_a_workers_of_the_same_name_do_not_meet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = """
        import helpers
        from workers import Response, WorkerEntrypoint

        class Default(WorkerEntrypoint):
            async def fetch(self, request):
                return Response(helpers.OWNER)
    """
    (tmp_path / "src").mkdir()
    (tmp_path / "src/helpers.py").write_text("OWNER = 'the worker'")
    theirs = types.ModuleType("helpers")
    monkeypatch.setitem(sys.modules, "helpers", theirs)
    with Worker.inline(tmp_path, source) as worker:
        assert worker.fetch("/").text == "the worker"
        worker.crash()
        assert worker.fetch("/").text == "the worker"
    assert sys.modules["helpers"] is theirs


def test_code_that_does_not_load_is_told_with_its_traceback(tmp_path: Path) -> None:
    with pytest.raises(WorkerNotLoaded, match="no_such_module"):
        Worker.inline(tmp_path, "import no_such_module")
    with Worker.inline(tmp_path / "next", GREETER) as worker:
        assert worker.fetch("/").text == "ok"


def test_a_missing_class_is_named(tmp_path: Path) -> None:
    config = {"workflows": [{"name": "gone", "binding": "GONE", "class_name": "Gone"}]}
    with pytest.raises(WorkerNotLoaded, match=r"needs the class Gone\nentry\.py has Greeter"):
        Worker.inline(tmp_path, GREETER, config=config)


def test_the_timeline_tells_what_happened(greeter: Worker) -> None:
    greeter.env.GREETER.create(id="a", params={"name": "Ada"})
    greeter.clock.advance("1 day")
    told = greeter.timeline()
    assert "greeter/a" in told
    assert "step_completed 'greet-1' output=Hello Ada" in told
    assert "+1d 00:00:00.000  sleep_completed 'night-1'" in told


def test_the_timeline_shows_the_first_line_of_an_error_of_several(tmp_path: Path) -> None:
    source = """
        from workers import WorkflowEntrypoint

        class Failing(WorkflowEntrypoint):
            async def run(self, event, step):
                raise ValueError("1 mistake\\nname\\n  is missing\\n    See the manual")
    """
    with Worker.inline(tmp_path, source) as worker:
        worker.env.FAILING.create()
        assert "error=ValueError: 1 mistake" in worker.timeline()


def test_the_import_path_is_as_it_was_also_when_the_modules_of_workers_were_on_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path, MODULES])
    before = list(sys.path)

    Worker.inline(tmp_path, GREETER).close()

    assert sys.path == before
