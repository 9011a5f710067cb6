"""Undo functions as a Python Worker meets them, case by case of Cloudflare's behaviour. All cases share one server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.dev import dev, write_project
from tests.e2e.bodies import CODE, Server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server for all of these."""
    folder: Path = tmp_path_factory.mktemp("rollback")
    (folder / "notes").mkdir()
    project = write_project(folder, CODE, "Flow", vars={"FOLDER": str(folder / "notes")})
    with dev(project, "--no-watch") as running:
        yield Server(running)


SLEEPING = """
async def run(step):
    await step.do("a", rollback=undo_of("a"))(lambda: 1)()
    note("asleep")
    await step.sleep("nap", "1 hour")
"""

# -------------------------------------------------------------------------------------------------- terminate, delete


def test_c060_without_a_rollback_status_has_none(server: Server) -> None:
    told = server.start("async def run(step):\n    return 1")

    assert told.ends() == {"status": "complete", "output": 1, "error": None, "rollback": None}


def test_c076_terminate_with_rollback_undoes_and_then_ends_the_instance(server: Server) -> None:
    told = server.start(SLEEPING)
    told.until("waiting")

    told.do("terminate", rollback=True)

    assert told.ends() == {
        "status": "terminated",
        "output": None,
        "error": None,
        "rollback": {"outcome": "complete", "error": None},
    }
    types = told.types()
    assert types[types.index("rollback_started") :] == [
        "rollback_started",
        "rollback_step_started",
        "rollback_attempt_started",
        "rollback_attempt_completed",
        "rollback_step_completed",
        "rollback_completed",
        "workflow_terminated",
    ]
    assert told.notes == ["asleep", "undo a"]


def test_c077_the_undo_function_is_told_that_the_instance_is_terminated_and_what_the_step_gave(server: Server) -> None:
    told = server.start("""
        async def run(step):
            def undo(error, output):
                note(type(error).__name__, error.name, error.message, output)

            await step.do("a", rollback=undo)(lambda: {"id": 5})()
            await step.sleep("nap", "1 hour")
    """)
    told.until("waiting")

    told.do("terminate", rollback=True)

    told.ends()
    assert told.notes == [["JsException", "Error", "Instance terminated during rollback", {"id": 5}]]


def test_c079_plain_terminate_undoes_nothing(server: Server) -> None:
    told = server.start(SLEEPING)
    told.until("waiting")

    told.do("terminate")

    assert told.ends()["rollback"] is None
    assert told.undo_types() == [] and told.notes == ["asleep"]


def test_c106_delete_undoes_nothing(server: Server) -> None:
    told = server.start(SLEEPING)
    told.until("waiting")

    told.do("delete")

    assert told.notes == ["asleep"]


# ---------------------------------------------------------------------------------------- which, and in which order


def test_c220_steps_are_undone_in_reverse_order_and_the_error_stays(server: Server) -> None:
    told = server.start("""
        async def run(step):
            for name in "abc":
                await step.do(name, rollback=undo_of(name))(lambda: None)()
            raise ValueError("no stock")
    """)

    ended = told.ends()

    assert told.notes == ["undo c", "undo b", "undo a"]
    assert ended["status"] == "errored" and ended["error"]["message"].endswith("ValueError: no stock")


def test_c221_of_steps_side_by_side_the_one_that_started_last_is_undone_first(server: Server) -> None:
    told = server.start("""
        async def run(step):
            async def work(name):
                @step.do(name, rollback=undo_of(name))
                async def work():
                    if name == "first":
                        await opened("second has ended")
                await work()
                note(name)
            first, second = (asyncio.create_task(work(name)) for name in ("first", "second"))
            await second
            open(path + ".second has ended", "w").close()
            await first
            raise RuntimeError("no stock")
    """)

    told.ends()

    assert told.notes == ["second", "first", "undo second", "undo first"]


def test_c222_the_step_that_failed_is_undone_first_without_an_output(server: Server) -> None:
    told = server.start("""
        async def run(step):
            await step.do("a", rollback=undo_of("a"))(lambda: 1)()

            def fail():
                raise ValueError("no stock")

            once = {"retries": {"limit": 0, "delay": 0}}
            await step.do("b", config=once, rollback=lambda output: note("b", output))(fail)()
    """)

    told.ends()

    assert told.notes == [["b", None], "undo a"]


CAUGHT = """
async def run(step):
    def fail():
        raise RuntimeError("early")

    once = {"retries": {"limit": 0, "delay": 0}}
    try:
        await step.do("a", config=once, rollback=lambda error: note(str(error).splitlines()[-1]))(fail)()
    except Exception:
        note("caught")
"""


def test_c223_a_caught_error_undoes_nothing(server: Server) -> None:
    told = server.start(CAUGHT)

    assert told.ends()["status"] == "complete"
    assert told.notes == ["caught"] and told.undo_types() == []


def test_c224_when_the_run_fails_later_the_caught_step_is_undone_with_the_later_error(server: Server) -> None:
    told = server.start(CAUGHT + '    raise RuntimeError("later")\n')

    told.ends()

    assert told.notes == ["caught", "RuntimeError: later"]


def test_c225_a_non_retryable_error_is_undone_too(server: Server) -> None:
    told = server.start("""
        async def run(step):
            def undo(error):
                note(type(error).__name__, str(error))

            def fail():
                raise NonRetryableError("nn")

            await step.do("a", rollback=undo)(fail)()
    """)

    assert told.ends()["error"] == {"name": "NonRetryableError", "message": "nn"}
    assert told.notes == [["NonRetryableError", "nn"]]


def test_c235_a_step_that_still_runs_is_given_up_and_undone_without_an_output(server: Server) -> None:
    told = server.start("""
        async def run(step):
            async def work():
                note("works")
                await asyncio.sleep(3600)

            await step.do("a", rollback=lambda given: note("undo", given.output))(work)()
    """)
    told.noted("works")

    told.do("terminate", rollback=True)

    assert told.ends()["status"] == "terminated"
    assert told.notes == ["works", ["undo", None]]


def test_c238_a_run_that_succeeds_undoes_nothing(server: Server) -> None:
    told = server.start("""
        async def run(step):
            return await step.do("a", rollback=undo_of("a"))(lambda: 1)()
    """)

    assert told.ends()["status"] == "complete"
    assert told.notes == [] and told.undo_types() == []


# ------------------------------------------------------------------------------------- attempts, and what they get


def test_c226_the_first_undo_function_that_fails_for_good_ends_the_rollback(server: Server) -> None:
    told = server.start("""
        async def run(step):
            twice = {"retries": {"limit": 1, "delay": 10, "backoff": "constant"}}
            await step.do("a", rollback=undo_of("a"))(lambda: 1)()
            await step.do("b", rollback=undo_of("b", RuntimeError("undo")), rollback_config=twice)(lambda: 2)()
            await step.do("c", rollback=undo_of("c"))(lambda: 3)()
            raise NonRetryableError("no stock")
    """)

    ended = told.ends()

    assert told.notes == ["undo c", "undo b", "undo b"]
    assert ended["error"] == {"name": "NonRetryableError", "message": "no stock"}
    assert ended["rollback"]["outcome"] == "failed"
    assert ended["rollback"]["error"]["message"].endswith("RuntimeError: undo")
    assert told.undo_types()[-3:] == ["rollback_attempt_errored", "rollback_step_errored", "rollback_errored"]


def test_c227_an_undo_that_raises_non_retryable_error_has_one_attempt(server: Server) -> None:
    told = server.start("""
        async def run(step):
            await step.do("a", rollback=undo_of("a", NonRetryableError("no")))(lambda: 1)()
            raise RuntimeError("no stock")
    """)

    assert told.ends()["rollback"] == {"outcome": "failed", "error": {"name": "NonRetryableError", "message": "no"}}
    assert told.notes == ["undo a"]


def test_an_undo_that_outlives_its_timeout_is_cancelled(server: Server) -> None:
    told = server.start("""
        async def run(step):
            async def undo():
                try:
                    await asyncio.sleep(3600)
                except asyncio.CancelledError:
                    note("cancelled")
                    raise

            short = {"timeout": 50, "retries": {"limit": 0, "delay": 0}}
            await step.do("a", rollback=undo, rollback_config=short)(lambda: 1)()
            raise RuntimeError("no stock")
    """)

    text = "WorkflowTimeoutError: Execution timed out after 50ms"
    assert told.ends()["rollback"] == {"outcome": "failed", "error": {"name": "Error", "message": text}}
    told.noted("cancelled")


def test_c228_without_a_rollback_config_the_defaults_of_a_step_hold(server: Server) -> None:
    told = server.start("""
        async def run(step):
            await step.do("a", config={"timeout": "1 minute"}, rollback=undo_of("a"))(lambda: 1)()
            raise RuntimeError("no stock")
    """)
    told.ends()

    (started,) = [event for event in told.events() if event["type"] == "rollback_step_started"]

    retries = {"limit": 5, "delay": 10_000, "backoff": "exponential"}
    assert started["config"] == {"retries": retries, "timeout": "10 minutes"}


def test_c229_an_undo_function_gets_context_error_output_and_step_name(server: Server) -> None:
    told = server.start("""
        async def run(step):
            def undo(given):
                assert isinstance(given.error, Exception)
                note(sorted(given), given.ctx, str(given.error), given.output, given.stepName)

            once = {"retries": {"limit": 1, "delay": 5, "backoff": "constant"}, "timeout": "1 minute"}

            @step.do("a", config=once, rollback=undo)
            def work(ctx):
                if ctx.attempt == 1:
                    raise RuntimeError("not yet")
                return ["done"]

            await work()
            raise NonRetryableError("no stock")
    """)

    told.ends()

    config = {"retries": {"limit": 1, "delay": 5, "backoff": "constant"}, "timeout": "1 minute"}
    context = {"step": {"name": "a", "count": 1}, "attempt": 2, "config": config}
    assert told.notes == [[["ctx", "error", "output", "stepName"], context, "no stock", ["done"], "a-1"]]


# ------------------------------------------------------------------------------------------------------------- refused


def test_c230_c231_a_rollback_that_is_no_function_is_refused_and_the_run_may_go_on(server: Server) -> None:
    told = server.start("""
        async def run(step):
            texts = []
            for bad in ({"rollback": "x"}, {"rollback": 5}, {"rollback": []}, {"rollback_config": {}}):
                try:
                    await step.do("n", **bad)(lambda: 1)()
                except Exception as error:
                    texts.append(str(error))
            return texts
    """)

    assert told.ends()["output"] == ['Error: WorkflowFatalError: Rollback for "n" must be a function'] * 4


def test_c232_a_bad_rollback_config_is_refused_and_the_run_may_go_on(server: Server) -> None:
    told = server.start("""
        async def run(step):
            texts = []
            for bad in ({"timeout": 0}, {"retries": {"limit": -1, "delay": 1}}, "x", {"timeout": object()}):
                try:
                    await step.do("n", rollback=undo_of("n"), rollback_config=bad)(lambda: 1)()
                except Exception as error:
                    texts.append(str(error))
            return texts
    """)

    text = (
        'Error: WorkflowFatalError: Rollback config for "n" is in a invalid format. '
        "See https://developers.cloudflare.com/workflows/build/sleeping-and-retrying/"
    )
    assert told.ends()["output"] == [text] * 4
    assert "step_started" not in told.types()


def test_c233_a_step_called_in_an_undo_function_fails_there(server: Server) -> None:
    told = server.start("""
        async def run(step):
            async def undo():
                await step.do("in")(lambda: note("ran"))()

            once = {"retries": {"limit": 0, "delay": 0}}
            await step.do("a", rollback=undo, rollback_config=once)(lambda: 1)()
            raise RuntimeError("no stock")
    """)

    text = "WorkflowFatalError: Cannot execute steps during rollback phase"
    assert told.ends()["rollback"] == {"outcome": "failed", "error": {"name": "Error", "message": text}}
    assert told.notes == []
    assert told.types().count("step_started") == 1


def test_c234_a_step_that_the_code_no_longer_comes_to_cannot_be_undone(server: Server) -> None:
    told = server.start("""
        async def run(step):
            if not os.path.exists(path + ".changed"):
                await step.do("a", rollback=undo_of("a"))(lambda: 1)()
            await step.sleep("nap", "1 hour")
    """)
    told.until("waiting")
    told.do("pause")
    told.open("changed")

    told.do("terminate", rollback=True)

    assert told.ends() == {
        "status": "terminated",
        "output": None,
        "error": None,
        "rollback": {
            "outcome": "failed",
            "error": {"name": "RollbackMissing", "message": "Rollback function not available in registry"},
        },
    }
    assert told.undo_types()[-2:] == ["rollback_step_errored", "rollback_errored"]
    assert told.notes == []


# -------------------------------------------------------------------------------------------------------------- status


def test_c236_c237_status_is_running_during_a_rollback_and_tells_its_outcome_after_it(server: Server) -> None:
    told = server.start("""
        async def run(step):
            async def undo():
                note("undoes")
                await opened("gate")

            await step.do("a", rollback=undo)(lambda: 1)()
            raise NonRetryableError("no stock")
    """)
    told.noted("undoes")

    assert told.status() == {"status": "running", "output": None, "error": None, "rollback": None}
    told.open("gate")

    assert told.ends() == {
        "status": "errored",
        "output": None,
        "error": {"name": "NonRetryableError", "message": "no stock"},
        "rollback": {"outcome": "complete", "error": None},
    }
