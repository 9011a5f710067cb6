"""What Workflows add to `workers`."""

from __future__ import annotations

from workers_shim.errors import NonRetryableError

__all__ = ["NonRetryableError"]
