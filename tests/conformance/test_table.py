"""docs/conformance.md is what the tests say, and says something of every case."""

from __future__ import annotations

from tests.conformance.agreement import CASES
from tests.conformance.table import PAGE, page, shown


def test_the_page_is_what_the_tests_say() -> None:
    assert PAGE.read_text("utf-8") == page(list(shown())), "write it anew: make docs"


def test_every_case_has_a_test() -> None:
    missing = CASES.keys() - {test.number for test in shown()}
    assert not missing, f"no test shows C{', C'.join(f'{number:03}' for number in sorted(missing))}"


def test_there_are_271_cases() -> None:
    assert list(CASES) == list(range(1, 272))


def test_no_test_carries_a_number_that_is_no_case() -> None:
    assert {test.number for test in shown()} <= CASES.keys()


def test_a_difference_has_its_reason() -> None:
    assert not [number for number, case in CASES.items() if case.agreement == "neither" and not case.why]
