"""Retries: the config's schema, its defaults, and the waits between attempts."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.engine import Failure
from runtime.engine import commands as cmd
from runtime.engine.effects import RunAttempt
from runtime.engine.events import Config
from runtime.engine.retries import MAX_DELAY, backoff, resolve_config
from runtime.engine.rules import CLOUDFLARE
from tests.engine.driver import BOOM, Instance, retries


def resolve(config: Any, delay_function: bool = False) -> Config | None:
    return resolve_config(config, delay_function=delay_function, rules=CLOUDFLARE)


def delays(instance: Instance, config: dict[str, Any]) -> list[int]:
    """How long the step waits after each failed attempt until it gives up."""
    step, waits = instance.do(config=config), []
    instance.failed(step)
    while not instance.record(step).settled:
        due = instance.state.next_due()
        assert due is not None
        waits.append(due - instance.now)
        instance.later(due - instance.now).ring()
        assert instance.last.effects == [RunAttempt(step, len(waits) + 1)]
        instance.failed(step)
    return waits


def test_c142_exponential_backoff_doubles(instance: Instance) -> None:
    assert delays(instance, retries(delay=50, backoff="exponential")) == [50, 100, 200]


def test_c143_linear_backoff_adds(instance: Instance) -> None:
    assert delays(instance, retries(delay=100, backoff="linear")) == [100, 200, 300]


def test_c144_constant_backoff_stays(instance: Instance) -> None:
    assert delays(instance, retries(delay=100, backoff="constant")) == [100, 100, 100]


def test_c145_without_a_backoff_the_delay_grows_exponentially() -> None:
    assert resolve({"retries": {"limit": 1, "delay": 5}}) == Config(1, 5, "exponential", "10 minutes")


def test_the_default_is_five_retries_from_ten_seconds_on(instance: Instance) -> None:
    step = instance.do()
    assert instance.record(step).config == Config(5, 10_000, "exponential", "10 minutes")
    instance.failed(step)
    assert instance.state.next_due() == instance.now + 10_000


def test_c126_a_config_is_kept_as_it_is_given() -> None:
    given = {"retries": {"limit": 3, "delay": "500 ms"}, "timeout": "5 minutes", "sensitive": "output"}
    assert resolve(given) == Config(3, "500 ms", "exponential", "5 minutes", "output")


def test_c137_limit_2_is_three_attempts_and_the_last_error_counts(instance: Instance) -> None:
    step = instance.do(config=retries(limit=2, delay=0))
    for n in (1, 2, 3):
        assert instance.record(step).attempt == n
        instance.failed(step, Failure("Error", f"boom {n}"))
    assert instance.record(step).error == Failure("Error", "boom 3")


def test_c138_limit_0_is_one_attempt(instance: Instance) -> None:
    step = instance.do(config=retries(limit=0))
    instance.failed(step)
    assert instance.record(step).settled and instance.record(step).attempt == 1


def test_a_delay_of_zero_retries_at_once_in_the_same_decision(instance: Instance) -> None:
    step = instance.do(config=retries(delay=0))
    instance.failed(step)
    assert instance.kinds == ["attempt_errored", "attempt_started"]
    assert instance.last.effects == [RunAttempt(step, 2)]


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(Failure("NonRetryableError", "no more"), id="with a message"),
        pytest.param(Failure("NonRetryableError", ""), id="with an empty message"),
        pytest.param(Failure("Error", "NonRetryableError: from afar"), id="c157 by its message only"),
    ],
)
def test_a4_c153_an_error_that_forbids_it_is_not_retried(instance: Instance, error: Failure) -> None:
    step = instance.do(config=retries(limit=5, delay=1))
    instance.failed(step, error)
    assert instance.kinds == ["attempt_errored", "step_errored"]
    assert instance.record(step).error == error
    instance.returned()
    assert instance.status() == "complete", "caught, it does not harm the workflow"


def test_c158_a_renamed_non_retryable_error_is_retried(instance: Instance) -> None:
    step = instance.do(config=retries())
    instance.failed(step, Failure("CustomName", "m"))
    assert not instance.record(step).settled


def test_c155_an_unhandled_non_retryable_error_keeps_its_message(instance: Instance) -> None:
    instance.raised(Failure("Error", "NonRetryableError: the reason"))
    assert instance.state.error == Failure("NonRetryableError", "the reason")


@pytest.mark.parametrize(
    "config",
    [
        pytest.param({"retries": {"delay": 1}}, id="c173 no limit"),
        pytest.param({"retries": {"limit": 1}}, id="c173 no delay"),
        pytest.param({"retries": {"limit": -1, "delay": 1}}, id="c174 negative limit"),
        pytest.param({"retries": {"limit": math.inf, "delay": 1}}, id="c174 infinite limit"),
        pytest.param({"retries": {"limit": True, "delay": 1}}, id="boolean limit"),
        pytest.param({"retries": {"limit": 10_001, "delay": 1}}, id="limit above 10,000"),
        pytest.param({"retries": {"limit": 10**400, "delay": 1}}, id="limit beyond a double"),
        pytest.param({"retries": {"limit": 1, "delay": -1}}, id="c174 negative delay"),
        pytest.param({"retries": {"limit": 1, "delay": 10**400}}, id="delay beyond a double"),
        pytest.param({"retries": {"limit": 1, "delay": "5s"}}, id="unreadable delay"),
        pytest.param({"retries": {"limit": 1, "delay": None}}, id="null delay"),
        pytest.param({"retries": {"limit": 1, "delay": 1, "backoff": "weird"}}, id="c174 backoff"),
        pytest.param({"retries": {"limit": 1, "delay": 1, "jitter": 1}}, id="c174 extra key in retries"),
        pytest.param({"retries": None}, id="null retries"),
        pytest.param({"retries": []}, id="retries as an array"),
        pytest.param({"extra": 1}, id="c174 extra key"),
        pytest.param({"timeout": 0}, id="c174 timeout 0"),
        pytest.param({"timeout": -1}, id="c174 timeout -1"),
        pytest.param({"timeout": "garbage"}, id="c174 timeout garbage"),
        pytest.param({"timeout": None}, id="null timeout"),
        pytest.param({"sensitive": True}, id="c174 sensitive true"),
        pytest.param({"sensitive": None}, id="null sensitive"),
        pytest.param([], id="an array"),
        pytest.param("fast", id="text"),
    ],
)
def test_configs_in_an_invalid_format(config: Any) -> None:
    assert resolve(config) is None


@pytest.mark.parametrize(
    "config",
    [
        pytest.param(None, id="c176 null"),
        pytest.param({}, id="empty"),
        pytest.param({"retries": {"limit": 1.5, "delay": 0}}, id="c175 limit 1.5"),
        pytest.param({"retries": {"limit": 10_000, "delay": 0}}, id="limit 10,000"),
        pytest.param({"timeout": "0 seconds"}, id="c175 timeout 0 seconds"),
        pytest.param({"timeout": "500"}, id="c175 timeout 500"),
        pytest.param({"timeout": "5 lightyears"}, id="c175 timeout 5 lightyears"),
    ],
)
def test_configs_in_a_valid_format(config: Any) -> None:
    assert resolve(config) is not None


def test_text_in_place_of_a_delay_function_is_no_delay_function() -> None:
    config = {"retries": {"limit": 1, "delay": "[dynamic]"}}
    assert resolve(config) is None
    assert resolve(config, delay_function=True) == Config(1, "[dynamic]", "exponential", "10 minutes")


def test_a_fractional_limit_is_rounded_up_to_attempts(instance: Instance) -> None:
    step = instance.do(config=retries(limit=1.5, delay=0))
    instance.failed(step)
    instance.failed(step)
    assert instance.record(step).settled and instance.record(step).attempt == 2


@given(
    st.floats(min_value=0, allow_nan=False),
    st.integers(min_value=1, max_value=10_001),
    st.sampled_from(["constant", "linear", "exponential"]),
)
def test_no_delay_is_beyond_what_the_journal_can_hold(base: float, attempt: int, kind: str) -> None:
    assert 0 <= backoff(Config(1, 1, kind, 1), base, attempt) <= MAX_DELAY


@pytest.mark.parametrize("delay", ["Infinity", "-Infinity", "1e308 years"])
def test_a_delay_without_end_survives_the_journal(instance: Instance, delay: str) -> None:
    step = instance.do(config=retries(delay=delay))
    instance.failed(step)
    assert instance.record(step).live or instance.state.next_due() is not None


def test_whole_numbers_in_a_config_are_still_whole_after_the_journal(instance: Instance) -> None:
    step = instance.do(config={**retries(limit=3, delay=100), "timeout": 5000})
    config = instance.crash().record(step).config
    assert config is not None
    assert [str(n) for n in (config.limit, config.delay, config.timeout)] == ["3", "100", "5000"]


def test_a_retry_is_taken_at_its_time_and_not_before(instance: Instance) -> None:
    step = instance.do(config=retries(delay=100))
    instance.failed(step)
    instance.later(99).ring()
    assert instance.kinds == []
    instance.later(1).ring()
    assert instance.kinds == ["attempt_started"]


def test_without_a_run_a_retry_waits_until_the_code_is_back(instance: Instance) -> None:
    step = instance.do(config=retries(delay=100))
    instance.failed(step)
    instance.tell(cmd.RunParked())
    instance.later(100).ring(run=False)
    assert instance.kinds == ["workflow_running"]
    assert instance.state.next_due(attempts=False) is None, "no timer can help it on"
    instance.start().do(config=retries(delay=100))
    assert instance.kinds == ["attempt_started"]
    assert instance.last.effects == [RunAttempt(step, 2)]


def test_a_retry_that_came_due_before_its_call_was_made_again_runs_when_it_is(instance: Instance) -> None:
    step = instance.do(config=retries(delay=100))
    instance.failed(step, BOOM)
    instance.crash().start().later(100).ring()
    assert instance.kinds == ["attempt_started"]
    instance.do(config=retries())
    assert instance.kinds == []
    assert instance.last.effects == [RunAttempt(step, 2)]
