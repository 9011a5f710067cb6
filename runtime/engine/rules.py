"""What differs between targets, as data: limits, defaults and features. Every limit has its unit and its source."""

from __future__ import annotations

from dataclasses import dataclass

from .durations import DAY, HOUR, MINUTE, SECOND

MiB = 1 << 20
GiB = 1 << 30
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
    # ms, of a sleep and of an event wait. Documentation: limits, 365 days; its own unit "year" is a quarter day longer,
    # and whoever writes "1 year" means just that.
    max_sleep: int = 365 * DAY + DAY // 4
    min_event_timeout: int = SECOND  # ms; documentation: events and parameters. Shorter ones work here, with a warning
    max_result: int = MiB  # structured-clone bytes of a step's result; documentation: limits
    max_payload: int = MiB  # structured-clone bytes of params and of an event's payload; documentation: limits
    max_state: int = GiB  # characters of values and bytes of streams, per instance; documentation: limits (1 GB, paid)
    max_workflow_name: int = 64  # characters; documentation: limits
    max_instance_id: int = 100  # characters, of an id that create() takes; documentation: limits
    max_addressable_id: int = 271  # characters, of an id that delete takes: cron-made ones are longer (measured)
    max_step_name: int = 256  # UTF-16 units; documentation: limits
    max_event_type: int = 100  # characters; documentation: events and parameters
    max_batch: int = 100  # instances in one createBatch or deleteBatch; documentation: Workers API
    success_retention: int = 30 * DAY  # ms that a completed instance is kept; documentation: limits (paid)
    error_retention: int = 30 * DAY  # ms, of one that errored or was terminated; documentation: limits (paid)
    max_retention: int = 30 * DAY  # ms, of either; documentation: limits (paid)
    step_limit: int = 10_000  # do() calls in one execution of run(), unless limits.steps says otherwise; doc.: limits
    max_steps: int = 25_000  # the largest limits.steps that production takes; documentation: limits
    max_outside_await: int | None = None  # ms that an await outside a step may take; None: as long as it likes
    preserve_non_retryable: bool = True  # compatibility flag workflows_preserve_non_retryable_error_message

    # What the target has at all.
    rollback: bool = True  # steps may have rollback functions
    streams: bool = True  # a step's result may be a ReadableStream
    schedules: bool = True  # cron entries of a workflow create instances
    retention_config: bool = True  # retention of create() and a workflow's default_retention
    limits_config: bool = True  # a workflow's limits.steps
    concurrency_config: bool = True  # a workflow's concurrency.limit
    script_name: bool = True  # a binding to a workflow of another Worker
    workflow_exports: bool = True  # the workflows of `exports` are on ctx.exports; else they are bindings of env


CLOUDFLARE = Rules()
CELLD = Rules(
    target="celld",
    max_outside_await=MINUTE,
    rollback=False,
    streams=False,
    schedules=False,
    retention_config=False,
    limits_config=False,
    concurrency_config=False,
    script_name=False,
    workflow_exports=False,
)
TARGETS = {"cloudflare": CLOUDFLARE, "celld": CELLD}
