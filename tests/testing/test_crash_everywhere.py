"""A crash after each commit: workflows that keep to the rules do not notice, and the others are told the line."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from runtime.testing import JsException, OutcomeDiffers, Worker, crash_everywhere

FIXTURES = Path(__file__).parents[2] / "fixtures"


@pytest.mark.parametrize(
    "order",
    [
        {"item": "lamp", "card": "good", "courier": "waiting"},
        {"item": "book", "card": "slow", "courier": "on strike"},
        {"item": "lamp", "card": "declined", "courier": "waiting"},
        {"item": "chair", "card": "good", "courier": "waiting"},
    ],
)
def test_orders_come_out_the_same_whenever_the_host_is_killed(order: dict[str, str]) -> None:
    def scenario(worker: Worker) -> None:
        worker.env.ORDERS.create(params=order)
        worker.clock.advance("1 hour")

    # The receipt tells how many attempts there were, and a crash costs the one that runs.
    report = crash_everywhere(FIXTURES / "orders", scenario, output=lambda order: {**order, "receipt": None})
    assert report.commits > 5
    assert report.ran_twice == []


@pytest.mark.parametrize("verified", [True, False])
def test_onboarding_comes_out_the_same_whenever_the_host_is_killed(verified: bool) -> None:
    def scenario(worker: Worker) -> None:
        instance = worker.env.ONBOARDING.create(id="ada", params={"email": "ada@example.com"})
        worker.clock.advance("2 days")
        if verified:
            instance.send_event(type="address-verified", payload={"with": "a click"})
        worker.clock.advance("7 days")

    report = crash_everywhere(FIXTURES / "onboarding", scenario, env="production")
    assert report.commits > 10
    assert "none" in str(report)


COUNTING = """
    from pathlib import Path
    from workers import WorkflowEntrypoint

    class Counting(WorkflowEntrypoint):
        async def run(self, event, step):
            path = Path(event["payload"]["path"])

            @step.do("first")
            async def first():
                path.with_suffix(".first").write_text("x")

            await first()
            self.note(path)
            await step.sleep("a while", "1 hour")
            return len(path.read_text())

        def note(self, path):
            with path.open("a") as log:
                log.write("x")
"""


def test_a_side_effect_outside_a_step_is_named_with_its_line(tmp_path: Path) -> None:
    log = tmp_path / "log"

    def scenario(worker: Worker) -> None:
        log.unlink(missing_ok=True)
        worker.env.COUNTING.create(params={"path": str(log)})
        worker.clock.advance("1 hour")

    with pytest.raises(OutcomeDiffers) as caught:
        crash_everywhere(lambda: Worker.inline(tmp_path / "project", COUNTING), scenario)
    told = str(caught.value)
    assert "changes the outcome" in told
    assert f'{tmp_path}/project/src/entry.py:19: with path.open("a") as log:' in told
    assert "first" not in told.partition("put it into a step")[2]


SENDING = """
    from workers import WorkflowEntrypoint

    class Sending(WorkflowEntrypoint):
        async def run(self, event, step):
            import outbox as sent
            sent.mails.append("outside")

            @step.do("send")
            async def send():
                sent.mails.append("inside")

            await send()
            await step.sleep("a while", "1 hour")
            return "sent"
"""


def test_a_change_that_only_the_test_can_observe_is_named_with_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outbox: Any = ModuleType("outbox")
    outbox.mails = []
    monkeypatch.setitem(sys.modules, "outbox", outbox)

    def scenario(worker: Worker) -> None:
        outbox.mails.clear()
        worker.env.SENDING.create()
        worker.clock.advance("1 hour")

    with pytest.raises(OutcomeDiffers) as caught:
        crash_everywhere(lambda: Worker.inline(tmp_path, SENDING), scenario, lambda: outbox.mails)
    told = str(caught.value)
    # Undisturbed, too, the code outside steps runs again: the instance leaves memory while it sleeps.
    assert "undisturbed: observed: ['outside', 'inside', 'outside']" in told
    assert "with crash:  observed: ['outside', 'outside', 'inside', 'outside']" in told
    assert f'{tmp_path}/src/entry.py:7: sent.mails.append("outside")  (changes what can be observed' in told
    assert "entry.py:11" not in told


OVERLAPPING = """
    import asyncio
    from workers import WorkflowEntrypoint

    class Overlapping(WorkflowEntrypoint):
        async def run(self, event, step):
            @step.do("long")
            async def long():
                await asyncio.sleep(0.05)
                return "long"

            @step.do("short")
            async def short():
                return "short"

            return await asyncio.gather(long(), short())
"""


def test_steps_whose_body_ran_twice_are_listed(tmp_path: Path) -> None:
    report = crash_everywhere(
        lambda: Worker.inline(tmp_path, OVERLAPPING), lambda worker: worker.env.OVERLAPPING.create()
    )
    assert report.ran_twice == ["overlapping: long-1"]


def test_a_scenario_that_fails_undisturbed_fails_as_it_is(tmp_path: Path) -> None:
    def scenario(worker: Worker) -> None:
        raise ValueError("of the test itself")

    with pytest.raises(ValueError, match="of the test itself"):
        crash_everywhere(lambda: Worker.inline(tmp_path, OVERLAPPING), scenario)


IN_A_STEP = """
    from workers import WorkflowEntrypoint

    seen = []

    class Remembering(WorkflowEntrypoint):
        async def run(self, event, step):
            @step.do("remember")
            async def remember():
                seen.append("it")
            await remember()
            await step.sleep("a while", "1 hour")
            return len(seen)
"""

OUTSIDE = """
    from workers import WorkflowEntrypoint

    runs = 0

    class Remembering(WorkflowEntrypoint):
        async def run(self, event, step):
            global runs
            runs += 1
            await step.sleep("a while", "1 hour")
            return runs
"""


@pytest.mark.parametrize(
    ("source", "line"),
    [
        (IN_A_STEP, """entry.py:10: seen.append("it")  (changes entry.seen: [] -> ['it'])"""),
        (OUTSIDE, "entry.py:9: runs += 1  (changes entry.runs: 0 -> 1)"),
    ],
)
def test_what_lives_in_memory_only_is_a_difference_and_named_with_its_line(
    tmp_path: Path, source: str, line: str
) -> None:

    def scenario(worker: Worker) -> None:
        worker.env.REMEMBERING.create()
        worker.clock.advance("1 hour")

    with pytest.raises(OutcomeDiffers) as caught:
        crash_everywhere(lambda: Worker.inline(tmp_path, source), scenario)
    told = str(caught.value).partition("A crash loses what is in memory")[2]
    assert line in told
    assert told.count("entry.py") == 1


def test_a_side_effect_outside_steps_that_changes_nothing_is_listed(tmp_path: Path) -> None:
    source = """
        from workers import WorkflowEntrypoint

        class Leaving(WorkflowEntrypoint):
            async def run(self, event, step):
                with open(event["payload"]["path"], "a") as file:
                    file.write("x")
                await step.sleep("a while", "1 second")
    """

    def scenario(worker: Worker) -> None:
        worker.env.LEAVING.create(params={"path": str(tmp_path / "file")})
        worker.clock.advance("1 second")

    report = crash_everywhere(lambda: Worker.inline(tmp_path, source), scenario)
    assert len(report.outside_steps) == 1
    assert 'entry.py:6: with open(event["payload"]["path"], "a") as file:' in str(report)


def test_what_the_scenario_does_itself_is_done_once_whenever_the_host_is_killed(tmp_path: Path) -> None:
    source = """
        from workers import WorkflowEntrypoint

        class Listening(WorkflowEntrypoint):
            async def run(self, event, step):
                heard = [(await step.wait_for_event("next", "word"))["payload"] for _ in range(2)]
                await step.sleep("rest", "1 day")
                return heard
    """

    def scenario(worker: Worker) -> None:
        flow = worker.env.LISTENING
        one, two = flow.create(id="one"), flow.create({"id": "two"})
        with pytest.raises(JsException, match="already exists"):
            flow.create(id="one")
        one.send_event(type="word", payload="a")
        one.pause()
        one.send_event(type="word", payload="b")
        one.resume()
        two.restart()
        two.terminate()
        three = flow.create(params={})
        three.delete()
        worker.clock.advance("1 day")
        assert [instance.id for instance in worker.instances] == ["one", "two"]

    report = crash_everywhere(lambda: Worker.inline(tmp_path, source), scenario)
    assert report.commits > 20
