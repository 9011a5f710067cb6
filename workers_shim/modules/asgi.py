"""The old name of `workers.asgi`: importing it gives that same module."""

from __future__ import annotations

import sys

import workers.asgi

sys.modules[__name__] = workers.asgi
