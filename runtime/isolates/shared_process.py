"""What an isolate in the host's process takes of that process, and how all of it is given back.

A Worker's imports come first on ``sys.path``, its modules are in ``sys.modules``, its output is muted during a replay,
and the shim has a few globals. One isolate at a time can have these.
"""

from __future__ import annotations

import asyncio
import importlib
import inspect
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, TextIO, cast

from workers_shim import current, errors, in_order, values, well_formed
from workers_shim.errors import JsException, NonRetryableError
from workers_shim.load import MODULES
from workers_shim.wire.messages import ErrorData

__all__ = ["Borrowed", "JsException", "NonRetryableError", "Output", "error_data", "revived", "value_data"]

_TESTS = re.compile(r"(test_.*|.*_test|conftest)\.py")
_HOSTS = frozenset({"runtime", "workers_shim", "wrangler_compat", "pytest", "_pytest"})  # in use all the time
_PACKAGES = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")

Muted = Callable[[int], bool]


class Borrowed:
    """The process's modules, import path and globals, while a Worker has them."""

    def __init__(self, main: Path) -> None:
        self._folders = (MODULES, str(main.parent))
        self._tests = str(main.parent / "tests") + os.sep
        self._host = vars(current).get("host")
        self._path = list(sys.path)
        aside = {*self._loaded(), *self._of_same_name(), main.stem} & sys.modules.keys()
        self._aside = {name: sys.modules.pop(name) for name in aside}
        self._as_completed = asyncio.as_completed
        in_order.install()

    def forget(self) -> None:
        """Drop the Worker's modules, so that it is loaded afresh."""
        for name in self._loaded():
            del sys.modules[name]
        for folder in self._folders:
            if folder in sys.path:
                sys.path.remove(folder)
        importlib.invalidate_caches()

    def give_back(self) -> None:
        """Leave everything as it was."""
        self.forget()
        sys.path[:] = self._path
        sys.modules.update(self._aside)
        asyncio.as_completed = asyncio.tasks.as_completed = self._as_completed
        if self._host is not None:
            current.host = self._host
        elif hasattr(current, "host"):
            del current.host

    def _loaded(self) -> list[str]:
        """The modules that come from the Worker's folders. Tests that lie among its files are not its own."""
        return [name for name, module in list(sys.modules.items()) if any(map(self._is_ours, _files(module)))]

    def _of_same_name(self) -> list[str]:
        """Others' modules in whose stead the Worker's imports would find its own, as a test's ``helpers``."""
        own = {name for folder in self._folders for name in _offered(folder)} - sys.stdlib_module_names - _HOSTS
        return [name for name in list(sys.modules) if (first := name.partition(".")[0]) in own and not _is_test(first)]

    def _is_ours(self, file: str) -> bool:
        inside = any(file.startswith(folder + os.sep) for folder in self._folders)
        if not inside or file.startswith(self._tests) or any(part in file for part in _PACKAGES):
            return False
        return not _TESTS.fullmatch(os.path.basename(file))


def _offered(folder: str) -> Iterator[str]:
    """The names of modules and packages that can be imported from a folder. One without __init__.py yields to any."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if name := inspect.getmodulename(entry.name):
                yield name
            elif os.path.isfile(os.path.join(entry, "__init__.py")):
                yield entry.name


def _is_test(name: str) -> bool:
    """Whether a top-level module or package is the tests', which may lie among the Worker's files."""
    return name == "tests" or _TESTS.fullmatch(f"{name}.py") is not None


def _files(module: object) -> Iterable[str]:
    """Where a module came from. It is not asked itself: a lazy module would be imported by it."""
    if not isinstance(module, ModuleType):
        return []
    members = object.__getattribute__(module, "__dict__")
    file = members.get("__file__")
    if isinstance(file, str):
        return [file]
    # A package without __init__.py has only folders.
    return [os.path.join(str(folder), "__init__.py") for folder in members.get("__path__") or ()]


class Output:
    """Takes a standard stream's place while user code runs, and keeps the echo of replays back.

    It writes to whatever stands there at the moment, such as a test runner's capture.
    """

    def __init__(self, name: str, muted: Muted) -> None:
        self._name = name
        self._muted = muted
        self._beneath: TextIO | None = None

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """Be the interpreter's stream for a while."""
        self._beneath = getattr(sys, self._name)
        setattr(sys, self._name, cast(TextIO, self))
        try:
            yield
        finally:
            setattr(sys, self._name, self._beneath)
            self._beneath = None

    def write(self, text: str) -> int:
        """Write text unless it is an echo."""
        origin = current.ORIGIN.get()
        if origin is not None and origin[1] is None and self._muted(origin[0]):
            return len(text)
        return self._stream().write(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write texts one after another."""
        for line in lines:
            self.write(line)

    def _stream(self) -> TextIO:
        return self._beneath or cast(TextIO, getattr(sys, self._name))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream(), name)


# ------------------------------------------------------------- values and errors, as the Worker's code would make them


def value_data(value: Any) -> tuple[str, int]:
    """A value's devalue text and its size, as a step's result has them."""
    text, size = values.encode(value)
    return well_formed.encoded(text), size


def error_data(error: BaseException | Mapping[str, str]) -> dict[str, str]:
    """An exception that a step would raise, or a JavaScript error by its name and message, as the host hears of it."""
    if isinstance(error, BaseException):
        return dict(errors.report(error))  # type: ignore[arg-type]  # all its members are texts
    return dict(errors.over_rpc({"name": error["name"], "message": error["message"]}))  # type: ignore[arg-type]


def revived(error: ErrorData) -> Exception:
    """The exception that a Worker's code meets."""
    return errors.revive(error)
