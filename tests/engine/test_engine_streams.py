"""A step's result that is a stream: the engine knows its length, and whose it is."""

from __future__ import annotations

from runtime.engine import commands as cmd
from runtime.engine import fold
from runtime.engine.effects import AbortRun, Settle
from runtime.engine.failures import STORAGE_LIMIT, not_serialisable
from runtime.engine.rules import CELLD, Rules
from tests.engine.driver import Instance, retries

NAMED = '[["ReadableStream",1],{}]'  # what names a stream; the engine does not read it


def streamed(instance: Instance, step: int, size: int) -> None:
    """The step's callback returns a stream, and all of it is stored."""
    attempt = instance.record(step).attempt
    instance.tell(cmd.AttemptFinished(step, attempt, output=NAMED, stream=size))


def test_a_step_completes_with_a_stream(instance: Instance) -> None:
    step = instance.do("a")
    streamed(instance, step, 600_000)

    assert instance.kinds == ["attempt_completed", "step_completed"]
    assert instance.last.effects == [Settle(step)]
    assert (instance.record(step).output, instance.record(step).stream) == (NAMED, 600_000)


def test_an_empty_stream_is_one(instance: Instance) -> None:
    step = instance.do("a")
    streamed(instance, step, 0)

    assert instance.state.streams() == {(step, 1)}
    assert fold(instance.events).streams() == {(step, 1)}


def test_the_bytes_of_a_stream_count_against_the_storage_limit() -> None:
    instance = Instance(Rules(max_state=len("{}") + len(NAMED) + 1000)).start()
    streamed(instance, instance.do("a"), 1000)
    assert instance.state.stored == instance.rules.max_state

    instance.done(instance.do("b"), output="1")

    assert instance.state.error == STORAGE_LIMIT


def test_a_stream_that_exceeds_the_storage_limit_ends_the_instance() -> None:
    instance = Instance(Rules(max_state=1000)).start()
    streamed(instance, instance.do("a"), 1000)

    assert instance.kinds == ["attempt_errored", "step_errored", "workflow_errored"]
    assert (instance.state.error, instance.last.effects) == (STORAGE_LIMIT, [AbortRun()])


def test_a_target_without_streams_ends_the_instance_as_for_any_result_that_cannot_be_kept() -> None:
    instance = Instance(CELLD).start()
    streamed(instance, instance.do("a", config=retries(limit=5)), 10)

    assert instance.state.error == not_serialisable("a")
    assert instance.state.streams() == set()


def test_only_the_last_attempts_stream_is_the_steps(instance: Instance) -> None:
    step = instance.do("a", config=retries(delay=0))
    instance.tell(cmd.AttemptTimedOut(step, 1))
    instance.tell(cmd.AttemptFinished(step, 1, output=NAMED, stream=10))  # drained too late
    assert (instance.kinds, instance.state.streams()) == ([], set())

    streamed(instance, step, 20)

    assert instance.state.streams() == {(step, 2)}


def test_a_restart_forgets_the_streams_of_the_steps_that_it_forgets(instance: Instance) -> None:
    first, second = instance.do("a"), instance.do("b")
    streamed(instance, first, 1000)
    streamed(instance, second, 500)
    before = len("{}") + len(NAMED) + 1000

    instance.tell(cmd.Restart("b", partial=True))
    assert (instance.state.streams(), instance.state.stored) == ({(first, 1)}, before)

    instance.tell(cmd.Restart())
    assert (instance.state.streams(), instance.state.stored) == (set(), len("{}"))
