"""Events, waits and sleeps, as a workflow meets them."""

from __future__ import annotations

from tests.conformance.flow import Flow


def test_c205_a_wait_that_nobody_answers_ends_the_instance(flow: Flow) -> None:
    instance = flow('await step.wait_for_event("w", "go", timeout="1 hour")')
    flow.worker.clock.advance("1 hour")

    error = instance.status()["error"]
    assert error == {"name": "Error", "message": "WorkflowTimeoutError: Execution timed out after 3600000ms"}


def test_c207_an_event_goes_to_the_wait_that_is_there_and_not_to_one_that_timed_out(flow: Flow) -> None:
    instance = flow("""
        first = await step.wait_for_event("w1", "go", timeout="1 hour")
        try:
            await step.wait_for_event("w2", "go", timeout="1 hour")
        except JsException:
            pass
        third = await step.wait_for_event("w3", "go", timeout="1 hour")
        return [first["payload"], third["payload"]]
    """)
    instance.send_event({"type": "go", "payload": 1})
    flow.worker.clock.advance("1 hour")
    instance.send_event({"type": "go", "payload": 3})
    flow.worker.clock.advance(0)

    assert instance.status()["output"] == [1, 3]


def test_c208_the_first_of_a_wait_and_a_sleep_wins(flow: Flow) -> None:
    instance = flow("""
        wait = asyncio.ensure_future(step.wait_for_event("w", "go", timeout="2 hours"))
        sleep = asyncio.ensure_future(step.sleep("s", "1 hour"))
        done, _ = await asyncio.wait({wait, sleep}, return_when=asyncio.FIRST_COMPLETED)
        return "slept" if sleep in done else "waited"
    """)
    flow.worker.clock.advance("1 hour")

    assert instance.status()["output"] == "slept"


def test_c215_an_instance_goes_on_by_itself_after_a_restart(flow: Flow) -> None:
    instance = flow("""
        await step.sleep("s", "1 hour")
        return "awake"
    """)
    flow.worker.crash()
    flow.worker.clock.advance("1 hour")

    assert instance.status()["output"] == "awake"


def test_c216_an_event_after_a_restart_reaches_its_wait(flow: Flow) -> None:
    instance = flow('return (await step.wait_for_event("w", "go"))["payload"]')
    flow.worker.crash()
    instance.send_event({"type": "other"})
    instance.send_event({"type": "go", "payload": "here"})
    flow.worker.clock.advance(0)

    assert instance.status()["output"] == "here"


def test_c263_events_kept_over_a_pause_keep_their_order(flow: Flow) -> None:
    instance = flow("""
        await step.sleep("s", "1 hour")
        return [(await step.wait_for_event("w", "go"))["payload"] for _ in range(12)]
    """)
    for number in range(12):
        instance.send_event({"type": "go", "payload": number})
    instance.pause()
    instance.resume()
    flow.worker.clock.advance("1 hour")

    assert instance.status()["output"] == list(range(12))


def test_c271_a_wait_without_a_timeout_lasts_24_hours(flow: Flow) -> None:
    instance = flow('await step.wait_for_event("w", "go")')
    flow.worker.clock.advance("24 hours")

    error = instance.status()["error"]
    assert error == {"name": "Error", "message": "WorkflowTimeoutError: Execution timed out after 86400000ms"}
