"""What holds for all tests: nothing depends on how fast the machine is."""

from __future__ import annotations

from hypothesis import settings

pytest_plugins = ["pytester"]

settings.register_profile("celld-py", deadline=None)
settings.load_profile("celld-py")
