"""Instances for the engine's tests."""

from __future__ import annotations

import pytest

from tests.engine.driver import Instance


@pytest.fixture
def instance() -> Instance:
    """An instance whose first run has begun."""
    return Instance().start()
