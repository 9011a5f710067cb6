"""The isolate as a process: load, run, serve, report, end."""

from __future__ import annotations

import os
import time
from pathlib import Path
from textwrap import dedent

from tests.workers_shim.process import isolate, start_message
from tests.workers_shim.scripted_host import CONFIG, value


def worker(folder: Path, source: str, name: str = "src/entry.py") -> Path:
    main = folder / name
    main.parent.mkdir(parents=True, exist_ok=True)
    main.write_text(dedent(source))
    return main


def test_it_loads_and_tells_what_the_module_exports(tmp_path: Path) -> None:
    main = worker(
        tmp_path,
        """
        from workers import Response, WorkerEntrypoint, WorkflowEntrypoint

        class Default(WorkerEntrypoint): ...
        class Flow(WorkflowEntrypoint): ...
        class _Hidden(WorkflowEntrypoint): ...
        def on_scheduled(): ...
        """,
    )
    with isolate(main) as running:
        loaded = running.next("loaded", "load_failed")
        assert loaded["t"] == "loaded", loaded
        assert loaded["workflows"] == ["Flow"]
        assert loaded["entrypoints"] == ["Default"]
        assert loaded["handlers"] == ["on_scheduled"]


def test_a_workflow_of_two_steps_runs(tmp_path: Path) -> None:
    main = worker(
        tmp_path,
        """
        import time
        from workers import WorkflowEntrypoint

        class Flow(WorkflowEntrypoint):
            async def run(self, event, step):
                @step.do()
                async def one():
                    print("in step one")
                    return 1

                @step.do()
                async def two(one):
                    return one + 1

                await step.sleep("nap", "1 second")
                return [await two(), time.tzname[0], self.env.NAME]
        """,
    )
    with isolate(main, vars={"NAME": "shop"}) as running:
        running.next("loaded")
        running.send(start_message("Flow"))
        assert value(running.finish(1)) == [2, "UTC", "shop"]


def test_output_is_told_line_by_line_with_its_origin(tmp_path: Path) -> None:
    main = worker(
        tmp_path,
        """
        import sys
        from workers import WorkflowEntrypoint

        print("at import", end="")

        class Flow(WorkflowEntrypoint):
            async def run(self, event, step):
                print("outside\\nunfinished", end="")
                await step.do("s")(lambda: sys.stderr.buffer.write(b"in\\xff step") and None)()
        """,
    )
    with isolate(main) as running:
        assert running.next("log", "loaded") == {"t": "log", "stream": "stdout", "text": "at import"}
        running.send(start_message("Flow"))
        assert running.next("log") == {"t": "log", "stream": "stdout", "text": "outside", "run": 1}
        call = running.next("call")
        assert running.next("log") == {"t": "log", "stream": "stdout", "text": "unfinished", "run": 1}
        running.send({"t": "exec", "run": 1, "call": call["call"], "attempt": 3, "config": CONFIG})
        told = running.next("log", "ran")
        assert told == {
            "t": "log", "stream": "stderr", "text": "in\\xff step", "run": 1, "step": "s-1", "attempt": 3
        }  # fmt: skip


def test_a_syntax_error_is_reported_with_file_and_line(tmp_path: Path) -> None:
    main = worker(tmp_path, "x = 1\ny = = 2\n")
    with isolate(main) as running:
        failed = running.next("loaded", "load_failed")
        assert (failed["file"], failed["line"]) == (str(main), 2)
        assert "SyntaxError" in failed["traceback"]


def test_an_error_at_import_is_reported_where_the_users_code_is(tmp_path: Path) -> None:
    worker(tmp_path, "import json\n\ndef read():\n    return json.loads('{')\n", "src/lib.py")
    main = worker(tmp_path, "import lib\n\nlib.read()\n")
    with isolate(main) as running:
        failed = running.next("load_failed")
        assert (failed["file"], failed["line"]) == (str(tmp_path / "src/lib.py"), 4)


def test_import_by_the_folders_name_fails_with_a_hint(tmp_path: Path) -> None:
    worker(tmp_path, "x = 1\n", "src/lib.py")
    main = worker(tmp_path, "import src.lib\n")
    with isolate(main) as running:
        failed = running.next("load_failed")
        assert "No module named 'src'" in failed["traceback"]
        assert "`import x`, not `import src.x`" in failed["traceback"]


def test_a_request_is_served_and_its_body_comes_back(tmp_path: Path) -> None:
    main = worker(
        tmp_path,
        """
        from workers import Response, WorkerEntrypoint

        class Default(WorkerEntrypoint):
            async def fetch(self, request):
                return Response(await request.bytes(), status=201, headers={"x-method": request.method})
        """,
    )
    body = os.urandom(100_000)
    with isolate(main) as running:
        running.next("loaded")
        headers = [["content-length", str(len(body))]]
        running.send(
            {
                "t": "request",
                "id": 7,
                "method": "POST",
                "url": "http://a.test/x",
                "headers": headers,
                "http_version": "1.1",
            }
        )
        running.send_body(7, body)
        response = running.next("response", "request_failed")
        assert response.get("status") == 201, response
        assert ["x-method", "POST"] in response["headers"]
        assert running.body(7) == body


def test_a_worker_that_raises_is_reported_with_its_line(tmp_path: Path) -> None:
    main = worker(
        tmp_path,
        """
        from workers import WorkerEntrypoint

        class Default(WorkerEntrypoint):
            async def fetch(self, request):
                return 1 / 0
        """,
    )
    with isolate(main) as running:
        running.next("loaded")
        running.send(
            {"t": "request", "id": 1, "method": "GET", "url": "http://a.test/", "headers": [], "http_version": "1.1"}
        )
        failed = running.next("response", "request_failed")
        assert (failed["file"], failed["line"]) == (str(main), 6)
        assert failed["traceback"].endswith("ZeroDivisionError: division by zero")


def test_end_of_the_socket_ends_the_process(tmp_path: Path) -> None:
    main = worker(tmp_path, "import threading\nthreading.Thread(target=threading.Event().wait).start()\n")
    with isolate(main) as running:
        running.next("loaded")
        running.stream.close()
        assert running.process.wait(20) == 0


def test_end_of_the_watch_socket_ends_even_a_blocked_process(tmp_path: Path) -> None:
    main = worker(tmp_path, "import time\nprint('blocks')\nwhile True: time.sleep(1)\n")
    with isolate(main) as running:
        while "code" not in running.pulse():  # until the thread runs and the import is blocked
            pass
        running.watch.close()
        assert running.process.wait(20) == 0


def test_a_blocked_loop_shows_in_the_pulse_with_what_blocks_it(tmp_path: Path) -> None:
    main = worker(
        tmp_path,
        """
        import time
        from workers import WorkflowEntrypoint

        class Flow(WorkflowEntrypoint):
            async def run(self, event, step):
                await step.do("stuck")(stuck)()

        def stuck():
            while True:
                time.sleep(0.01)
        """,
    )
    with isolate(main) as running:
        running.next("loaded")
        assert running.pulse() == {"blocked": 0.0}
        running.send(start_message("Flow"))
        call = running.next("call")
        running.send({"t": "exec", "run": 1, "call": call["call"], "attempt": 2, "config": CONFIG})
        deadline = time.monotonic() + 20
        while "attempt" not in (pulse := running.pulse()):
            assert time.monotonic() < deadline
        assert (pulse["run"], pulse["call"], pulse["attempt"]) == (1, call["call"], 2)
        assert pulse["blocked"] > 0
        assert pulse["code"].startswith(f"{main}:")
        assert pulse["code"].endswith("in stuck")


def test_lone_surrogates_reach_the_host_as_replacement_characters_except_in_values(tmp_path: Path) -> None:
    main = worker(
        tmp_path,
        """
        import os
        from workers import WorkflowEntrypoint

        BAD = os.fsdecode(b"\\xff")

        class Flow(WorkflowEntrypoint):
            async def run(self, event, step):
                print("line", BAD)
                kept = await step.do("name " + BAD)(lambda: [BAD, {BAD: chr(0x1F600)}])()
                assert kept == [BAD, {BAD: chr(0x1F600)}]
                raise ValueError("error " + BAD)
        """,
    )
    with isolate(main) as running:
        running.next("loaded")
        running.send(start_message("Flow"))
        assert running.next("log")["text"] == "line \ufffd"
        call = running.next("call")
        assert call["name"] == "name \ufffd"
        running.send({"t": "exec", "run": 1, "call": call["call"], "attempt": 1, "config": CONFIG})
        ran = running.next("ran")
        assert value(ran) == ["\udcff", {"\udcff": "\U0001f600"}]
        running.send({"t": "ret", "run": 1, "call": call["call"], "value": ran["value"]})
        assert running.next("done")["error"]["message"].endswith("ValueError: error \ufffd")


def test_endless_output_of_blocked_code_is_told_in_pulses_of_bounded_size(tmp_path: Path) -> None:
    main = worker(
        tmp_path,
        """
        import os
        from workers import WorkflowEntrypoint

        class Flow(WorkflowEntrypoint):
            async def run(self, event, step):
                await step.do("endless")(endless)()

        def endless():
            while True:
                print("x" * 40, os.fsdecode(b"\\xff"))
        """,
    )
    with isolate(main) as running:
        running.next("loaded")
        running.send(start_message("Flow"))
        call = running.next("call")
        running.send({"t": "exec", "run": 1, "call": call["call"], "attempt": 1, "config": CONFIG})
        deadline = time.monotonic() + 20
        while "missing here" not in (log := running.pulse().get("log") or [{"text": ""}])[0]["text"]:
            assert time.monotonic() < deadline
        assert {line["text"] for line in log[1:]} == {"x" * 40 + " \ufffd"}
        assert len(log) * 40 < 256 * 1024
        running.watch.close()


def test_a_run_that_cannot_be_served_ends_and_the_others_live_on(tmp_path: Path) -> None:
    main = worker(
        tmp_path,
        """
        from workers import WorkflowEntrypoint

        class Flow(WorkflowEntrypoint):
            async def run(self, event, step):
                return await step.do("s")(lambda: "lives")()
        """,
    )
    with isolate(main) as running:
        running.next("loaded")
        running.send(start_message("Gone", 1), start_message("Flow", 2), start_message("Flow", 3))
        failed = running.next("done")
        assert failed["run"] == 1
        assert "exports no WorkflowEntrypoint class 'Gone'" in failed["error"]["message"]
        running.next("call")
        call = running.next("call")
        assert call["run"] == 3
        running.send({"t": "exec", "run": 2, "call": "what", "attempt": 1, "config": CONFIG})
        running.send({"t": "ret", "run": 2})
        failed = running.next("done")
        assert (failed["run"], failed["error"]["name"]) == (2, "PythonError")
        running.send({"t": "exec", "run": 3, "call": call["call"], "attempt": 1, "config": CONFIG})
        assert value(running.finish(3)) == "lives"
        running.send({"t": "release", "run": 1}, {"t": "release", "run": 2})
        assert [running.next("released")["run"] for _ in range(2)] == [1, 2]


UNDO = {
    "t": "undo",
    "run": 1,
    "name": "a",
    "nth": 1,
    "attempt": 2,
    "context": {},
    "error": {"name": "E", "message": ""},
}


def test_a_blocked_undo_function_shows_in_the_pulse_as_an_attempt_of_no_call(tmp_path: Path) -> None:
    main = worker(
        tmp_path,
        """
        import time
        from workers import WorkflowEntrypoint

        class Flow(WorkflowEntrypoint):
            async def run(self, event, step):
                await step.do("a", rollback=stuck)(lambda: None)()

        def stuck():
            while True:
                time.sleep(0.01)
        """,
    )
    with isolate(main) as running:
        running.next("loaded")
        running.send(start_message("Flow"))
        running.finish(1)
        running.send(UNDO)
        deadline = time.monotonic() + 20
        while "attempt" not in (pulse := running.pulse()):
            assert time.monotonic() < deadline
        assert (pulse["run"], pulse["attempt"], pulse["code"].endswith("in stuck")) == (1, 2, True)
        assert "call" not in pulse


def test_a_run_that_could_not_be_started_has_no_undo_functions(tmp_path: Path) -> None:
    main = worker(tmp_path, "")
    with isolate(main) as running:
        running.next("loaded")
        running.send({**start_message("Flow"), "undo": True}, UNDO)
        head = {"t": "undone", "run": 1, "name": "a", "nth": 1, "attempt": 2}
        assert running.next("undone") == {**head, "missing": True}
