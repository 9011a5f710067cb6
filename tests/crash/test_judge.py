"""The judge of the crash harness finds what it is there to find."""

from __future__ import annotations

import itertools
from pathlib import Path
from random import Random

import pytest

from tests.crash.effects import Effect, EffectFile, Judge
from tests.crash.moments import BETWEEN_COMMIT_AND_EFFECT, FOLLOWS, JAVASCRIPT, PYTHON, Victims, named_points, plan
from tests.crash.orders import Order, Orders, Token, wrong_tokens

SEEN: dict[str, frozenset[str]] = {"a": frozenset(), "b": frozenset({"a"})}


def judged(*lines: str) -> list[str]:
    """What is wrong with lines such as ``a 1 start`` or ``a 1 end in 7``: step, attempt, phase and process."""
    effects = []
    for line in lines:
        step, attempt, phase, *process = line.split()
        effects.append(Effect("i", step, int(attempt), phase, int(process[1]) if process else 1))  # type: ignore[arg-type]
    return list(Judge(SEEN).violations(effects))


def test_an_undisturbed_life_is_right() -> None:
    assert judged("a 1 start", "a 1 end", "b 1 start", "b 1 end") == []


def test_a_step_may_run_again_while_nobody_has_its_result() -> None:
    assert judged("a 1 start", "a 1 end", "a 2 start in 2", "a 2 end in 2", "b 1 start in 2", "b 1 end in 2") == []


def test_an_attempt_may_be_cut_off_or_fail() -> None:
    assert judged("a 1 start", "a 2 start in 2", "a 2 fail in 2", "a 3 start in 2", "a 3 end in 2") == []


def test_an_attempt_may_be_lost_before_it_ran() -> None:
    assert judged("a 2 start", "a 2 end", "b 1 start", "b 1 end") == []


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        (("a 1 start", "a 1 end", "b 1 start", "a 2 start"), "ran again after later code had its result"),
        (("a 1 start", "a 1 start in 2"), "started twice"),
        (("a 2 start", "a 1 start in 2"), "came after attempt 2"),
        (("a 1 start", "a 2 start"), "attempt 1 had not ended in the same process"),
        (("a 1 start", "a 2 start in 2", "a 1 end"), "went on after attempt 2 had started"),
        (("a 1 start", "b 1 start"), "a had not ended"),
        (("a 1 start", "a 1 fail", "b 1 start"), "a had not ended"),
    ],
)
def test_what_may_not_be(lines: tuple[str, ...], problem: str) -> None:
    assert any(problem in text for text in judged(*lines))


@pytest.mark.parametrize("received", ["ab", "ac", "bc", "bd", "cd"])
def test_an_event_whose_answer_was_lost_may_be_missing(received: str) -> None:
    sent = [Token("a"), Token("b"), Token("c"), Token("d", acknowledged=True)]
    assert wrong_tokens(sent, list(received)) is None


@pytest.mark.parametrize(
    ("received", "problem"),
    [("aa", "delivered twice"), ("ba", "not sent at its place"), ("ac", "b was acknowledged and passed over")],
)
def test_events_that_were_delivered_wrongly(received: str, problem: str) -> None:
    sent = [Token("a"), Token("b", acknowledged=True), Token("c")]
    assert problem in (wrong_tokens(sent, list(received)) or "")


def test_a_deleted_instance_may_only_run_on_in_the_isolates_of_before(tmp_path: Path) -> None:
    file = EffectFile(tmp_path / "effects", last="z")
    line = '["i", "a", {attempt}, "start", {pid}]\n'
    file.path.write_text(line.format(attempt=1, pid=1))
    deleted_at = file.path.stat().st_size
    with file.path.open("a") as more:
        more.write(line.format(attempt=2, pid=1))
    file.read()
    assert file.undead("i", deleted_at) is None

    with file.path.open("a") as more:
        more.write(line.format(attempt=3, pid=2))
    file.read()
    assert file.undead("i", deleted_at) == "a ran after the instance was deleted"


def test_what_is_under_way_is_acknowledged_and_not_over() -> None:
    orders = Orders()
    acknowledged, asked, closed, deleted = (orders.new() for _ in range(4))
    acknowledged.created = closed.created = deleted.created = deleted.deleting = True
    assert asked not in orders.in_flight({closed.id})
    assert [order.id for order in orders.in_flight({closed.id})] == [acknowledged.id]


@pytest.mark.parametrize("victims", [PYTHON, JAVASCRIPT])
def test_a_plan_has_every_point_after_what_leads_to_it(victims: Victims) -> None:
    points = named_points()
    moments = plan(50, points, Random(1), victims)
    assert len(moments) >= 50
    assert {moment.point for moment in moments} >= set(points)
    assert {moment.victim for moment in moments if moment.point is None} == set(victims)
    assert {*FOLLOWS, *FOLLOWS.values(), *BETWEEN_COMMIT_AND_EFFECT} <= set(points)
    for before, moment in itertools.pairwise(moments):
        if moment.point in FOLLOWS:
            assert before.point == FOLLOWS[moment.point]


def test_orders_have_ids_of_their_own() -> None:
    orders = Orders()
    assert [orders.new().id, orders.new().id] == ["order-1", "order-2"]
    assert orders.all()[0] == Order("order-1", 1)
