"""Slots and lines, without anything that runs in them."""

from __future__ import annotations

from runtime.host.slots import Slots
from runtime.store import Key


def keys(ids: str, workflow: str = "wf") -> list[Key]:
    return [Key(workflow, id) for id in ids]


def ids(found: object) -> str:
    return "".join(key.id for key in found)  # type: ignore[attr-defined]


def slots(limit: int | None) -> Slots:
    made = Slots()
    assert made.declare([("wf", limit)]) == []
    return made


def test_without_a_limit_everybody_may_run() -> None:
    free = slots(None)

    assert ids(free.stand(keys("abc"), ())) == "abc"
    assert free.take(Key("wf", "d"), begun=False)
    assert not free.limited(Key("wf", "a"))
    assert list(free.leave(Key("wf", "a"))) == []


def test_the_first_get_the_slots_and_the_next_in_line_gets_what_is_left() -> None:
    two = slots(2)

    assert ids(two.stand(keys("abcd"), ())) == "ab"
    assert [two.waits(key) for key in keys("abcd")] == [False, False, True, True]
    assert ids(two.leave(Key("wf", "b"))) == "c"
    assert ids(two.leave(Key("wf", "a"))) == "d"


def test_who_has_begun_goes_before_who_has_not_wherever_it_comes_in() -> None:
    one = slots(1)

    assert ids(one.stand(keys("abcd"), keys("cd"))) == "c"
    assert ids(one.leave(Key("wf", "c"))) == "d"
    assert not one.take(Key("wf", "e"), begun=True)
    assert ids(one.leave(Key("wf", "d"))) == "e"
    assert ids(one.leave(Key("wf", "e"))) == "a"


def test_who_stands_in_line_keeps_its_place_when_it_asks_again() -> None:
    one = slots(1)
    one.stand(keys("abc"), ())

    assert not one.take(Key("wf", "b"), begun=False)
    one.stand(keys("b"), ())

    assert ids(one.leave(Key("wf", "a"))) == "b"


def test_who_has_begun_meanwhile_moves_up() -> None:
    one = slots(1)
    one.stand(keys("abc"), ())

    assert not one.take(Key("wf", "c"), begun=True)

    assert [ids(one.leave(key)) for key in keys("acb")] == ["c", "b", ""]


def test_who_holds_a_slot_keeps_it() -> None:
    one = slots(1)
    one.stand(keys("ab"), ())

    assert one.take(Key("wf", "a"), begun=True)
    assert ids(one.stand(keys("a"), ())) == "a"
    assert ids(one.leave(Key("wf", "a"))) == "b"


def test_who_leaves_the_line_gives_nobody_a_slot() -> None:
    one = slots(1)
    one.stand(keys("abc"), ())

    assert ids(one.leave(Key("wf", "b"))) == ""
    assert ids(one.leave(Key("wf", "a"))) == "c"


def test_each_workflow_has_its_own_line() -> None:
    both = Slots()
    both.declare([("wf", 1), ("other", 1)])

    admitted = list(both.stand([*keys("ab"), *keys("ab", "other")], ()))

    assert admitted == [Key("wf", "a"), Key("other", "a")]
    assert list(both.leave(Key("other", "a"))) == [Key("other", "b")]


def test_a_higher_limit_lets_more_in_and_none_lets_everybody_in() -> None:
    slot = slots(1)
    slot.stand(keys("abcd"), ())

    assert ids(slot.declare([("wf", 2)])) == "b"
    assert ids(slot.declare([("wf", None)])) == "cd"
    assert not slot.limited(Key("wf", "a"))


def test_a_lower_limit_lets_nobody_in_until_there_is_room() -> None:
    slot = slots(2)
    slot.stand(keys("abc"), ())
    slot.declare([("wf", 1)])

    assert ids(slot.leave(Key("wf", "a"))) == ""
    assert ids(slot.leave(Key("wf", "b"))) == "c"
