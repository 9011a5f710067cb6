"""Leaves celld-py's own frames out of the report of a test that failed through no fault of theirs."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from types import FrameType, TracebackType

from runtime.host.errors import CelldError
from runtime.isolates.shared_process import JsException
from wrangler_compat import ConfigError

from .errors import OutcomeDiffers, WorkerTestError

# What a test is told by these is all in the text. Of another error that comes out of our code the way matters.
_TOLD = (WorkerTestError, OutcomeDiffers, JsException, ConfigError, CelldError)

_ROOT = Path(__file__).parents[2]
_OURS = tuple(f"{_ROOT / package}{os.sep}" for package in ("runtime", "workers_shim", "wrangler_compat"))
_PACKAGES = f"{os.sep}site-packages{os.sep}"
_STANDARD = tuple(sysconfig.get_path("stdlib") + os.sep + part for part in ("asyncio", "concurrent"))


def users(error: BaseException) -> TracebackType | None:
    """The error's traceback with the test's and the Worker's frames, or at least the last one."""
    whole = list(_entries(error.__traceback__))
    if not whole or (_is_ours(whole[-1]) and not isinstance(error, _TOLD)):
        return error.__traceback__
    kept = [entry for entry in whole if not _is_ours(entry)]
    if all(_PACKAGES in _file(entry) for entry in kept):  # those of pytest and its plugins
        kept = whole[-1:]
    shown: TracebackType | None = None
    for entry in reversed(kept):
        shown = TracebackType(shown, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return shown


def _entries(traceback: TracebackType | None) -> Iterator[TracebackType]:
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next


def _is_ours(entry: TracebackType) -> bool:
    return _file(entry).startswith((*_OURS, *_STANDARD))


def _file(entry: TracebackType) -> str:
    return entry.tb_frame.f_code.co_filename


def caller() -> str:
    """The file and line of the code that called into this package."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_OURS):
        frame = frame.f_back
    return "an unknown place" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"
