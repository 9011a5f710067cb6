"""workerd's reasons not to start, said in the terms of the configuration."""

from __future__ import annotations

import pytest

from runtime.javascript.refusals import explained


@pytest.mark.parametrize(
    ("message", "told"),
    [
        (
            'Worker "worker:app"\'s binding "SHOP" refers to service "worker:shop" with a named entrypoint "Prices", '
            'but "worker:shop" has no such named entrypoint.',
            'services: env.SHOP of the Worker "app" names the entrypoint Prices of the Worker "shop", which exports no '
            "such class.",
        ),
        (
            "service worker:app: Uncaught TypeError: x is not a function\n  at index.js:1:7",
            "Uncaught TypeError: x is not a function\n  at index.js:1:7",
        ),
        ("service assets:app: Found 1 invalid redirect rule(s)", "Found 1 invalid redirect rule(s)"),
        ("anything else", "anything else"),
    ],
)
def test_messages_lose_the_names_of_our_own_configuration(message: str, told: str) -> None:
    assert explained(message) == told
