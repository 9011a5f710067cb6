"""What the cases share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.conformance.flow import Flow


@pytest.fixture
def flow(tmp_path: Path) -> Iterator[Flow]:
    """Start a workflow by its body: ``flow("return 1").status()``."""
    with ExitStack() as stack:
        yield Flow(tmp_path, stack)
