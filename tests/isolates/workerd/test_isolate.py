from __future__ import annotations

import asyncio
import os
import signal
import textwrap
from pathlib import Path
from typing import Any

import pytest

from runtime.isolates.transport import Isolate
from runtime.isolates.workerd import isolate as module
from runtime.javascript.tools import Tools
from workers_shim.wire import devalue

from .world import WORKFLOW, Heard, Message, launch_of, request, running, settling, start, started, write

pytestmark = pytest.mark.asyncio


def workflow(code: str) -> str:
    return WORKFLOW.replace("CODE", textwrap.dedent(code))


# ------------------------------------------------------------------------------------------------------------- loading


async def test_loaded_says_what_the_code_offers(tools: Tools, tmp_path: Path) -> None:
    async with running(tools, tmp_path, workflow("")) as (isolate, heard):
        loaded = await heard.one("loaded")

        assert (loaded["workflows"], loaded["handlers"]) == (["It"], ["fetch"])
        assert loaded["code"]
        assert isolate.role == "both"
        assert not (tmp_path / "build" / "workerd.capnp").exists(), "it holds the secrets"


async def test_code_that_throws_at_its_top_level_is_load_failed_with_its_place(tools: Tools, tmp_path: Path) -> None:
    code = 'function early() {\n  throw new TypeError("too early");\n}\nearly();\n' + workflow("")
    heard = Heard()
    async with started(launch_of(tools, tmp_path / "build", [write(tmp_path / "app", code)]), heard) as isolate:
        failed = await heard.one("load_failed")
        await heard.until(lambda: heard.lost)

        assert failed["error"] == {"name": "TypeError", "message": "too early"}
        assert (failed["file"], failed["line"]) == ("index.js", 2)
        assert f"at early ({tmp_path / 'app' / 'index.js'}:2:9)" in failed["traceback"]
        assert await isolate.wait() == 1
        assert [each["t"] for each in heard.messages] == ["load_failed"]


async def test_a_workerd_that_cannot_be_started_is_load_failed(tools: Tools, tmp_path: Path) -> None:
    heard = Heard()
    broken = Tools(tmp_path / "no-workerd", tools.esbuild)
    async with started(launch_of(broken, tmp_path / "build", [write(tmp_path / "app", workflow(""))]), heard):
        failed = await heard.one("load_failed")
        await heard.until(lambda: heard.lost)

        assert "no-workerd" in failed["traceback"]


async def test_what_the_top_level_prints_is_shown(tools: Tools, tmp_path: Path) -> None:
    async with running(tools, tmp_path, 'console.log("at the top");\n' + workflow("")) as (_, heard):
        assert heard.printed() == ["at the top"]


# ---------------------------------------------------------------------------------------------------------------- runs


async def test_a_run_calls_its_steps_and_ends(tools: Tools, tmp_path: Path) -> None:
    code = """
        const first = await step.do("first", async () => ({ n: 1 }));
        await step.sleep("nap", "1 hour");
        return [first.n, event.payload];
    """
    async with running(tools, tmp_path, workflow(code)) as (isolate, heard):
        heard.answer = settling
        isolate.send(start(7, payload="given"), 7)
        done = await heard.one("done")

        said = [each["t"] for each in heard.messages if each.get("run") == 7]
        assert said == ["call", "ran", "call", "done"]
        assert devalue.parse(done["value"]) == [1, "given"]
        assert (await heard.one("ran"))["size"] == devalue.clone_size(devalue.stringify({"n": 1}))


async def test_a_released_run_stops_and_is_told_gone(tools: Tools, tmp_path: Path) -> None:
    code = 'await step.do("long", async () => { for (;;) { await scheduler.wait(1); console.log("tick"); } });'
    async with running(tools, tmp_path, workflow(code)) as (isolate, heard):
        heard.answer = settling
        isolate.send(start(1), 1)
        await heard.until(heard.printed)

        isolate.send({"t": "release", "run": 1}, 1)
        await heard.one("released", run=1)

        isolate.send(request(1))  # by its answer everything that was printed before has arrived
        await heard.until(lambda: 1 in heard.ended)
        ticks = len(heard.printed())
        isolate.send(request(2))
        await heard.until(lambda: 2 in heard.ended)
        assert len(heard.printed()) == ticks


async def test_a_run_that_is_released_at_once_is_told_gone(tools: Tools, tmp_path: Path) -> None:
    async with running(tools, tmp_path, workflow('await step.do("a", () => 1);')) as (isolate, heard):
        isolate.send(start(1), 1)
        isolate.send({"t": "release", "run": 1}, 1)

        await heard.one("released", run=1)
        assert not heard.all("call")


async def test_many_runs_at_once_all_end(tools: Tools, tmp_path: Path) -> None:
    code = 'for (let i = 0; i < 3; i++) await step.do("s", () => i);'
    async with running(tools, tmp_path, workflow(code)) as (isolate, heard):
        heard.answer = settling
        for run in range(1, 101):
            isolate.send(start(run), run)
        await heard.until(lambda: len(heard.all("done")) == 100)

        for run in range(1, 101):
            isolate.send({"t": "release", "run": run}, run)
        await heard.until(lambda: len(heard.all("released")) == 100)


async def test_results_of_one_turn_travel_in_texts_that_workerd_takes(tools: Tools, tmp_path: Path) -> None:
    code = """
        const all = await Promise.all(Array.from({ length: 40 }, (_, i) => step.waitForEvent(`w${i}`, { type: "t" })));
        return all.reduce((sum, each) => sum + each.length, 0);
    """
    async with running(tools, tmp_path, workflow(code)) as (isolate, heard):
        calls: list[Message] = []
        value = devalue.stringify("x" * 1_000_000)

        def answer(isolate: Isolate, message: Message) -> None:
            calls.extend([message] if message["t"] == "call" else [])
            for call in calls if len(calls) == 40 and message["t"] == "call" else ():
                isolate.send({"t": "ret", "run": 1, "call": call["call"], "value": value}, 1)

        heard.answer = answer
        isolate.send(start(1), 1)

        done = await heard.one("done")
        assert devalue.parse(done["value"]) == 40_000_000


async def test_an_error_of_a_step_has_its_stack_in_terms_of_the_sources(tools: Tools, tmp_path: Path) -> None:
    code = 'await step.do("bad", async () => {\n throw new RangeError("out of range");\n});'
    async with running(tools, tmp_path, workflow(code)) as (isolate, heard):
        heard.answer = settling
        isolate.send(start(1), 1)
        error = (await heard.one("ran"))["error"]

        assert error["message"].endswith("out of range")
        assert f"{tmp_path / 'app' / 'index.js'}:5:" in error["detail"]


async def test_a_run_whose_socket_breaks_is_told_lost(tools: Tools, tmp_path: Path) -> None:
    async with running(tools, tmp_path, workflow("")) as (isolate, heard):
        isolate.send(start(1, "unknown to the bridge"), 1)

        lost = await heard.one("lost", run=1)
        assert lost["reason"]
        isolate.send({"t": "release", "run": 1}, 1)
        await heard.one("released", run=1)


# ---------------------------------------------------------------------------------------------------------------- logs


async def test_output_has_its_run_step_and_attempt(tools: Tools, tmp_path: Path) -> None:
    code = """
        console.log("outside");
        await step.do("in", async () => { console.warn("first\\nsecond"); });
    """
    async with running(tools, tmp_path, workflow(code)) as (isolate, heard):
        heard.answer = settling
        isolate.send(start(3), 3)
        await heard.one("done")

        places = [
            {key: each.get(key) for key in ("stream", "text", "run", "step", "attempt")} for each in heard.all("log")
        ]
        assert places == [
            {"stream": "stdout", "text": "outside", "run": 3, "step": None, "attempt": None},
            {"stream": "stderr", "text": "first", "run": 3, "step": "in-1", "attempt": 1},
            {"stream": "stderr", "text": "second", "run": 3, "step": "in-1", "attempt": 1},
        ]


async def test_the_echo_of_a_replay_is_muted(tools: Tools, tmp_path: Path) -> None:
    code = 'console.log("before"); await step.do("a", () => 1); console.log("after a"); await step.do("b", () => 2);'
    async with running(tools, tmp_path, workflow(code)) as (isolate, heard):
        heard.answer = settling
        isolate.send(start(1, journal=[["c", "do", "a", 1, 0], ["v", "do", "a", 1, "[1]"]]), 1)
        await heard.one("done")

        assert heard.printed() == ["after a"]


async def test_code_that_prints_our_own_mark_is_shown_as_it_is(tools: Tools, tmp_path: Path) -> None:
    code = 'export default { fetch() { console.log("\\u0001celld {"); return new Response(""); } };'
    async with running(tools, tmp_path, code) as (isolate, heard):
        isolate.send(request(1))
        await heard.until(heard.printed)

        assert heard.printed() == ["\x01celld {"]


async def test_a_printed_error_has_the_places_of_the_sources(tools: Tools, tmp_path: Path) -> None:
    code = 'export default { fetch() { console.error(new Error("seen")); return new Response(""); } };'
    async with running(tools, tmp_path, code) as (isolate, heard):
        isolate.send(request(1))
        await heard.until(lambda: len(heard.printed()) > 1)

        assert heard.printed()[0] == "Error: seen"
        assert str(tmp_path / "app" / "index.js") + ":1:" in heard.printed()[1]


# ------------------------------------------------------------------------------------------------------------- binding


async def test_a_binding_asks_the_host_and_has_its_answer(tools: Tools, tmp_path: Path) -> None:
    code = workflow("").replace('new Response("it is served")', "it(...arguments)") + (
        "async function it(request, env) {"
        ' return Response.json([(await env.IT.create({ id: "one", params: { a: 1 } })).id, await bad(env)]); }'
        "const bad = (env) => env.IT.get('none').then(() => null, (error) => error.message);"
    )

    def answer(isolate: Isolate, message: Message) -> None:
        if message["t"] == "bind" and message["op"] == "create":
            isolate.send({"t": "bound", "id": message["id"], "value": devalue.stringify({"id": "one"})})
        elif message["t"] == "bind":
            error = {"name": "Error", "message": "instance.not_found"}
            isolate.send({"t": "bound", "id": message["id"], "error": error})

    async with running(tools, tmp_path, code) as (isolate, heard):
        heard.answer = answer
        isolate.send(request(1))
        await heard.until(lambda: 1 in heard.ended)

        assert bytes(heard.bodies[1]) == b'["one","instance.not_found"]'
        created = heard.all("bind", op="create")[0]
        assert created["workflow"] == "it"
        options: Any = devalue.parse(created["args"])[0]
        assert devalue.parse(options["params"]) == {"a": 1}


async def test_the_server_for_bindings_takes_nothing_without_the_token(tools: Tools, tmp_path: Path) -> None:
    async with running(tools, tmp_path, workflow("")) as (isolate, _):
        host, _, port = isolate.bindings.address.partition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(b"POST /bind HTTP/1.1\r\nHost: host\r\nContent-Length: 2\r\n\r\n{}")
        assert (await reader.readline()).startswith(b"HTTP/1.1 403 ")
        writer.close()


# ------------------------------------------------------------------------------------------------------ life and death


async def test_a_killed_workerd_is_told_lost_once_and_nothing_follows(tools: Tools, tmp_path: Path) -> None:
    code = 'await step.do("long", () => scheduler.wait(60_000));'
    async with running(tools, tmp_path, workflow(code)) as (isolate, heard):
        heard.answer = settling
        isolate.send(start(1), 1)
        await heard.one("call")

        os.kill(isolate.pid, signal.SIGKILL)
        await heard.until(lambda: heard.lost)

        assert isolate.lost
        assert await isolate.wait() == -signal.SIGKILL
        isolate.send({"t": "release", "run": 1}, 1)
        isolate.send({"t": "drain"})
        assert await isolate.pulse() is None
        assert heard.lost == 1
        assert not heard.all("lost") and not heard.all("released")


async def test_closing_ends_the_process_by_itself(tools: Tools, tmp_path: Path) -> None:
    async with running(tools, tmp_path, workflow('await step.do("a", () => 1);')) as (isolate, heard):
        isolate.send(start(1), 1)
        await heard.one("call")

        isolate.close()

        assert await isolate.wait() == 0
        assert heard.lost == 1


async def test_a_pulse_is_answered_unless_code_blocks(
    tools: Tools, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = (
        'export default { fetch(request) { if (request.url.endsWith("/block")) for (;;); return new Response(""); } };'
    )
    async with running(tools, tmp_path, code) as (isolate, _):
        assert await isolate.pulse() == {"blocked": 0}

        monkeypatch.setattr("runtime.isolates.workerd.isolate.PULSE_TIMEOUT", 0.2)
        isolate.send(request(1))
        while await isolate.pulse() is not None:
            await asyncio.sleep(0)
        assert not isolate.lost


async def test_drained_comes_after_responses_and_their_work_in_the_background(tools: Tools, tmp_path: Path) -> None:
    code = """
        export default { async fetch(request, env, ctx) {
          ctx.waitUntil(scheduler.wait(300).then(() => console.log("background")));
          await scheduler.wait(100);
          return new Response("done");
        } };
    """
    async with running(tools, tmp_path, code) as (isolate, heard):
        isolate.send(request(1))
        isolate.send({"t": "drain"})
        await heard.one("drained")

        assert 1 in heard.ended
        assert heard.printed() == ["background"]


async def test_drained_comes_after_a_scheduled_handler(tools: Tools, tmp_path: Path) -> None:
    code = """
        export default { async scheduled() {
          console.log("begun");
          await scheduler.wait(200);
          console.log("over");
        } };
    """
    async with running(tools, tmp_path, code) as (isolate, heard):
        handler = asyncio.ensure_future(isolate.scheduled("app", "* * * * *", 5))
        await heard.until(heard.printed)
        isolate.send({"t": "drain"})
        await heard.one("drained")

        assert heard.printed() == ["begun", "over"]
        assert (await handler)["outcome"] == "ok"


async def test_a_scheduled_handler_is_called_and_its_failure_told(tools: Tools, tmp_path: Path) -> None:
    code = """
        export default { scheduled(controller) {
          console.log(controller.cron, controller.scheduledTime);
          if (controller.cron === "bad") throw new Error("no");
        } };
    """
    async with running(tools, tmp_path, code) as (isolate, heard):
        fine = await isolate.scheduled("app", "* * * * *", 5)
        bad = await isolate.scheduled("app", "bad", 6)

        assert fine["outcome"] == "ok"
        assert heard.printed() == ["* * * * * 5", "bad 6"]
        assert bad["outcome"] == "exception"
        assert bad["error"]["message"] == "no"
        assert str(tmp_path / "app" / "index.js") in bad["stack"]


async def test_several_workers_run_in_one_process(tools: Tools, tmp_path: Path) -> None:
    one = write(tmp_path / "one", workflow('return "one";'))
    code = workflow('return "two";').replace("It extends", "Other extends")
    two = write(tmp_path / "two", code)
    heard = Heard()
    async with started(launch_of(tools, tmp_path / "build", [one, two]), heard) as isolate:
        loaded = await heard.one("loaded")
        assert loaded["workflows"] == ["It", "Other"]

        isolate.send(start(1, "it"), 1)
        isolate.send(start(2, "other"), 2)
        await heard.until(lambda: len(heard.all("done")) == 2)
        assert {each["run"]: devalue.parse(each["value"]) for each in heard.all("done")} == {1: "one", 2: "two"}


async def test_a_long_run_keeps_its_place_when_many_others_have_come_and_gone(
    tools: Tools, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LATE_SPEAKERS", 1)
    one = write(tmp_path / "one", workflow('await step.sleep("long", "1 hour"); console.error(new Error("seen"));'))
    two = write(tmp_path / "two", workflow("").replace("It extends", "Other extends"))
    heard = Heard()
    async with started(launch_of(tools, tmp_path / "build", [one, two]), heard) as isolate:
        await heard.one("loaded")
        isolate.send(start(1), 1)
        await heard.one("call", run=1)
        for run in (2, 3, 4):
            isolate.send(start(run, workflow="other"), run)
            await heard.one("done", run=run)
            isolate.send({"t": "release", "run": run}, run)
            await heard.one("released", run=run)
        isolate.send({"t": "ret", "run": 1, "call": 1, "value": "-1"}, 1)
        await heard.one("done", run=1)
        await heard.until(lambda: len(heard.printed()) > 1)

        assert f"{one / 'index.js'}:" in heard.printed()[1]
