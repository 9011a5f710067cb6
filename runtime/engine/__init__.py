"""The durable execution engine: pure, event-sourced, without I/O.

An instance is its journal (`events`); `fold` gives its `State`; `decide` turns a command into events and effects;
`owed` tells what a just-opened instance needs. Clock, ids, disk and processes come in from outside, as arguments.
"""

from .apply import apply, fold
from .decide import decide
from .effects import Decision
from .events import Event, Retention, Schedule, decode, encode, kind_of
from .failures import Failure
from .owed import owed
from .retention import expires_at
from .rules import TARGETS, Rules
from .state import FINAL, Record, State, Status

__all__ = [
    "FINAL", "TARGETS", "Decision", "Event", "Failure", "Record", "Retention", "Rules", "Schedule", "State",
    "Status",
    "apply", "decide", "decode", "encode", "expires_at", "fold", "kind_of", "owed",
]  # fmt: skip
