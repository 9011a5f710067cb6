from __future__ import annotations

from typing import Any

import pytest

from runtime.host.advice import advice


@pytest.mark.parametrize("timeout", [50, "0.9 seconds", 999])
def test_c209_a_timeout_under_a_second_works_and_the_developer_is_told(timeout: Any) -> None:
    assert list(advice("wait", "w", {"type": "go", "timeout": timeout})) == [
        f'step.wait_for_event("w"): the timeout {timeout!r} is under a second; Cloudflare refuses it in production.'
    ]


@pytest.mark.parametrize("timeout", [1000, "1 second", 0, None])
def test_a_longer_timeout_and_the_default_need_no_word(timeout: Any) -> None:
    assert list(advice("wait", "w", {"type": "go", "timeout": timeout})) == []
