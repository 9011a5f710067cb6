"""On which sources an instance runs, and on which each of its calls was recorded."""

from __future__ import annotations

import pytest

from runtime.engine import commands as cmd
from runtime.engine import decode, fold
from runtime.engine.events import CodeChanged
from runtime.engine.state import Code
from runtime.engine.views import PUBLIC
from tests.engine.driver import NOW, Instance


@pytest.fixture
def instance() -> Instance:
    """An instance that has only been created."""
    return Instance()


def test_the_first_code_stands_in_the_event_of_the_start(instance: Instance) -> None:
    instance.tell(cmd.RunStarted("one"))
    assert instance.kinds == ["workflow_started", "workflow_running"]
    assert instance.state.code == "one"


def test_a_run_on_the_same_code_journals_nothing(instance: Instance) -> None:
    instance.tell(cmd.RunStarted("one"))
    instance.tell(cmd.RunStarted("one"))
    assert instance.kinds == []


def test_a_run_on_other_code_journals_the_change_with_what_else_the_run_begins_with(instance: Instance) -> None:
    instance.tell(cmd.RunStarted("one"))
    instance.sleep(1000)
    instance.tell(cmd.RunParked())
    instance.now += 500
    instance.tell(cmd.RunStarted("two"))
    assert instance.kinds == ["code_changed", "workflow_running"]
    assert instance.state.codes == [Code("one", NOW, 0), Code("two", NOW + 500, 1)]


def test_a_record_knows_on_which_code_it_was_made(instance: Instance) -> None:
    instance.tell(cmd.RunStarted("one"))
    first = instance.sleep(1000, "first")
    instance.tell(cmd.RunStarted("two"))
    second = instance.sleep(1000, "second")
    instance.tell(cmd.RunStarted("one"))
    third = instance.sleep(1000, "third")
    assert [instance.state.code_of(instance.record(step)) for step in (first, second, third)] == ["one", "two", "one"]
    assert instance.state.code == "one"


def test_code_that_is_not_known_is_no_change(instance: Instance) -> None:
    instance.tell(cmd.RunStarted("one"))
    instance.tell(cmd.RunStarted())
    assert instance.kinds == []
    assert instance.state.code == "one"


def test_journals_of_before_this_was_kept_still_decode() -> None:
    lines = [
        '{"kind":"created","at":1,"workflow":"wf","instance":"id","params":"{}"}',
        '{"kind":"workflow_queued","at":1}',
        '{"kind":"workflow_started","at":2}',
        '{"kind":"workflow_running","at":2}',
        '{"kind":"sleep_started","at":3,"step":1,"name":"s","nth":1,"duration":9,"due":12}',
    ]
    state = fold(map(decode, lines))
    assert (state.code, state.code_of(state.records[1])) == ("", "")

    state = fold([decode('{"kind":"code_changed","at":4,"code":"one"}')], state)
    assert (state.code, state.code_of(state.records[1])) == ("one", "")


def test_an_instance_that_begins_anew_begins_on_its_code(instance: Instance) -> None:
    instance.tell(cmd.RunStarted("one"))
    instance.tell(cmd.Restart())
    instance.tell(cmd.RunStarted("two"))
    assert instance.kinds == ["workflow_started", "workflow_running"]
    assert instance.state.code == "two"


def test_the_change_is_not_shown_to_programs() -> None:
    assert "code_changed" not in PUBLIC
    assert CodeChanged(at=1, code="one").code == "one"
