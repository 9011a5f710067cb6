"""The rows of the bench."""

from __future__ import annotations

from bench.rows.creates import BURST, CREATES
from bench.rows.edit import EDIT
from bench.rows.launch import LAUNCH
from bench.rows.recovery import KILL
from bench.rows.sleepers import IDLE, MANY_SLEEPERS, SLEEPERS, WARM
from bench.rows.steps import ONE_STEP, SEQUENTIAL, WIDE
from bench.rows.streams import STREAM
from bench.rows.types import Row

ROWS: tuple[Row, ...] = (
    LAUNCH,
    EDIT,
    ONE_STEP,
    SEQUENTIAL,
    WIDE,
    CREATES,
    BURST,
    KILL,
    IDLE,
    WARM,
    SLEEPERS,
    MANY_SLEEPERS,
    STREAM,
)
