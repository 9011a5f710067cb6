"""What holds for all tests: nothing depends on how fast the machine is, and workerd comes from one place."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

from runtime.host.errors import CelldError
from runtime.javascript.system import CACHE_VARIABLE, cache_folder
from runtime.javascript.tools import Tools, find_tools

pytest_plugins = ["pytester"]

settings.register_profile("celld-py", deadline=None)
settings.load_profile("celld-py")

os.environ[CACHE_VARIABLE] = str(cache_folder())  # whatever HOME a test gives to the commands that it starts


@pytest.fixture(scope="session")
def tools() -> Tools:
    """workerd and esbuild; tests that need them are skipped where they cannot be had, and fail where they must be."""
    try:
        return find_tools(None, print)
    except CelldError as error:
        if os.environ.get("CELLD_PY_REQUIRE_WORKERD") == "1":
            raise
        pytest.skip(f"{error.message} {error.hint}")
