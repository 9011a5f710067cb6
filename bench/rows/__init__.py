"""The rows of the bench."""

from __future__ import annotations

from bench.rows.creates import BURST, CREATES
from bench.rows.launch import LAUNCH
from bench.rows.recovery import KILL
from bench.rows.sleepers import IDLE, MANY_SLEEPERS, SLEEPERS
from bench.rows.steps import ONE_STEP, SEQUENTIAL, WIDE
from bench.rows.streams import STREAM
from bench.rows.types import Row

ROWS: tuple[Row, ...] = (
    LAUNCH,
    ONE_STEP,
    SEQUENTIAL,
    WIDE,
    CREATES,
    BURST,
    KILL,
    IDLE,
    SLEEPERS,
    MANY_SLEEPERS,
    STREAM,
)
