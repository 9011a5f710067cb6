"""What differs between targets, as data: limits, defaults and features. Every limit has its unit and its source."""

from __future__ import annotations

from dataclasses import dataclass

from .durations import DAY, HOUR, SECOND

MiB = 1 << 20
LOST_DELAY = SECOND  # ms; what a crash inside a delay function gives (measured)


@dataclass(frozen=True, slots=True)
class Rules:
    """A target's table. The defaults are Cloudflare's, as documented for production in November 2026."""

    target: str = "cloudflare"
    retry_limit: int = 5  # documentation: sleeping and retrying
    retry_delay: int = 10 * SECOND  # ms; documentation (the local engine has 1 s)
    retry_backoff: str = "exponential"
    step_timeout: str = "10 minutes"
    max_retries: int = 10_000  # documentation: limits
    event_timeout: int = 24 * HOUR  # ms; documentation: events and parameters
    max_sleep: int = 365 * DAY  # ms; documentation: limits
    max_result: int = MiB  # structured-clone bytes of a step's result
    max_payload: int = MiB  # structured-clone bytes of params and of an event's payload
    max_step_name: int = 256  # UTF-16 units
    max_event_type: int = 100  # characters
    step_limit: int = 10_000  # do() calls in one execution of run()
    preserve_non_retryable: bool = True  # compatibility flag workflows_preserve_non_retryable_error_message


CLOUDFLARE = Rules()
CELLD = Rules(target="celld")
TARGETS = {"cloudflare": CLOUDFLARE, "celld": CELLD}
