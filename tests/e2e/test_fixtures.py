"""The fixtures, run by the real command: what their READMEs promise."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.dev import FIXTURES, Dev, dev, fixture
from tests.javascript.npm import with_packages

HOUR = 60 * 60 * 1000
DAY = 24 * HOUR


def complete(status: Any) -> bool:
    return bool(status["status"] == "complete")


def waiting(status: Any) -> bool:
    return bool(status["status"] == "waiting")


def mails(server: Dev) -> list[str]:
    return [line.partition("mail to ")[2] for line in server.lines if "mail to " in line]


def start(server: Dev, **form: str) -> str:
    """Start an instance, and give the address under which it can be looked at."""
    return str(server.json("/start", "POST", data=form)["look"])


@pytest.fixture
def copy(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[str], Path]:
    """Makes a copy of a fixture, with what a JavaScript one needs."""

    def made(name: str) -> Path:
        if not (FIXTURES / name / "pyproject.toml").exists():
            request.getfixturevalue("tools")
        return with_packages(fixture(name, tmp_path))

    return made


@pytest.fixture(params=["onboarding", "onboarding-ts"])
def onboarding(request: pytest.FixtureRequest, copy: Callable[[str], Path]) -> Path:
    """The workflow of a member's first week, in both languages."""
    return copy(request.param)


@pytest.mark.parametrize("name", sorted(path.name for path in FIXTURES.iterdir() if path.is_dir()))
def test_every_fixture_tells_its_routes_at_the_root(name: str, copy: Callable[[str], Path]) -> None:
    with dev(copy(name), "--no-watch") as server:
        page = server.get("/")

        assert page.status_code == 200
        assert page.headers["content-type"] == "text/html;charset=utf-8"
        assert "<h1>" in page.text and "/start" in page.text and "/look" in page.text
        assert server.get("/nowhere").status_code == 404


# ----------------------------------------------------------------------------------------------------------- onboarding


def test_onboarding_sleeps_and_takes_the_event_that_came_in_the_night(onboarding: Path) -> None:
    quick = ["--var", "FIRST_NIGHT:1 second", "--var", "VERIFY_WITHIN:1 hour"]
    with dev(onboarding, *quick) as server:
        assert server.json("/start", "POST", data={"name": "ada"}) == {"started": "ada"}
        assert server.json("/verify", "POST", data={"name": "ada"}) == {"verified": "ada"}

        done = server.until("/look?name=ada", complete)

        thanks = "Thank you for verifying with a click!"
        assert done["output"] == {"email": "ada@example.com", "verified": True, "last_mail": thanks}
        assert mails(server) == [
            "ada@example.com: Welcome! Please verify your address.",
            f"ada@example.com: {thanks}",
        ]


def test_onboarding_follows_up_on_who_did_not_verify(onboarding: Path) -> None:
    quick = ["--var", "FIRST_NIGHT:0", "--var", "VERIFY_WITHIN:1 second"]
    with dev(onboarding, *quick) as server:
        server.post("/start", data={"name": "ada"})

        done = server.until("/look?name=ada", complete)

        assert done["output"]["verified"] is False
        assert mails(server)[-1] == "ada@example.com: Are you still there?"


def test_onboarding_welcomes_nobody_twice(onboarding: Path) -> None:
    with dev(onboarding) as server:
        server.post("/start", data={"name": "ada"})

        again = server.post("/start", data={"name": "ada"})

        assert again.status_code == 409
        assert "already exists" in again.json()["error"]
        assert server.get("/look?name=grace").status_code == 409


def test_onboarding_takes_its_real_week_through_two_kills(onboarding: Path) -> None:
    with dev(onboarding, "--env", "production") as server:
        server.post("/start", data={"name": "ada"})
        server.until("/look?name=ada", waiting)

        server.kill()
        server.offset(23 * HOUR)
        server.start()
        assert waiting(server.json("/look?name=ada"))
        assert len(mails(server)) == 1

        server.kill()
        server.offset(7 * DAY + 2 * HOUR)
        server.start()

        # The night ended a while ago, and the week is counted from when its wait was first reached, which is now.
        server.until("/look?name=ada", waiting)
        server.post("/verify", data={"name": "ada"})
        assert server.until("/look?name=ada", complete)["output"]["verified"] is True
        assert len(mails(server)) == 2


# --------------------------------------------------------------------------------------------------------------- orders


def test_an_order_that_goes_well(tmp_path: Path) -> None:
    with dev(fixture("orders", tmp_path)) as server:
        look = start(server, item="book", card="good", courier="there")

        done = server.until(look, complete)

        assert done["output"] == {
            "state": "paid",
            "receipt": {"attempts": 1},
            "delivery": "courier",
            "customer": "regular",
        }


def test_a_bank_that_does_not_answer_is_asked_again(tmp_path: Path) -> None:
    with dev(fixture("orders", tmp_path)) as server:
        look = start(server, item="book", card="slow", courier="there")

        done = server.until(look, complete)

        assert done["output"]["receipt"] == {"attempts": 3}
        charges = [line for line in server.lines if "charging 12" in line]
        assert [line.partition("]")[0][-2:] for line in charges] == ["#1", "#2", "#3"]


def test_a_retry_comes_at_its_time_though_the_server_is_killed_before(tmp_path: Path) -> None:
    with dev(fixture("orders", tmp_path)) as server:
        look = start(server, item="book", card="slow", courier="there")
        server.printed("charge card-1 #2]")

        server.kill()
        server.start()

        assert server.until(look, complete)["output"]["receipt"] == {"attempts": 3}


def test_a_declined_card_is_not_tried_again_and_the_stock_is_released(tmp_path: Path) -> None:
    with dev(fixture("orders", tmp_path)) as server:
        look = start(server, item="lamp", card="declined", courier="there")

        done = server.until(look, complete)

        assert done["output"] == {"state": "declined", "reason": "The card was declined.", "customer": "new"}
        assert sum("charging" in line for line in server.lines) == 1
        assert sum("released" in line for line in server.lines) == 1


def test_a_step_that_fails_for_good_can_be_caught(tmp_path: Path) -> None:
    with dev(fixture("orders", tmp_path)) as server:
        look = start(server, item="lamp", card="good", courier="on strike")

        done = server.until(look, complete)

        assert done["output"]["delivery"] == "the customer picks it up"


def test_an_error_that_nobody_catches_ends_the_instance(tmp_path: Path) -> None:
    with dev(fixture("orders", tmp_path)) as server:
        look = start(server, item="ghost", card="good", courier="there")

        done = server.until(look, lambda status: status["status"] == "errored")

        assert done["error"] == {"name": "NonRetryableError", "message": "We do not sell ghost."}


# ------------------------------------------------------------------------------------------------------------------ dag


@pytest.mark.parametrize("options", [[], ["--env", "legacy"]], ids=["implicit", "legacy"])
def test_a_step_that_two_others_need_runs_once(options: list[str], tmp_path: Path) -> None:
    with dev(fixture("dag", tmp_path), *options) as server:
        look = start(server)

        done = server.until(look, complete)

        assert done["output"] == {"totals": {"book": 24, "lamp": 49}, "buyers": ["ada", "grace"], "attempt": 1}
        assert sum("reading the sales" in line for line in server.lines) == 1


# ---------------------------------------------------------------------------------------------------------------- media


def test_a_picture_is_published_in_three_sizes(copy: Callable[[str], Path]) -> None:
    with dev(copy("media"), "--no-watch") as server:
        look = start(server, title="sunset", review="passed")

        done = server.until(look, complete)

        sizes = {160: "16 kB", 80: "4 kB", 40: "1 kB"}
        copies = [{"place": f"sunset-{width}", "size": size} for width, size in sizes.items()]
        assert done["output"] == {"title": "sunset", "size": "256 kB", "copies": copies}


def test_what_was_published_of_a_refused_picture_is_taken_down(copy: Callable[[str], Path]) -> None:
    with dev(copy("media"), "--no-watch") as server:
        look = start(server, title="party", review="refused")

        done = server.until(look, lambda status: status["status"] == "errored")

        assert done["error"] == {"name": "NonRetryableError", "message": "party was refused."}
        taken = [line.partition("took down ")[2] for line in server.lines if "took down " in line]
        assert taken == ["party-40", "party-80", "party-160"]
