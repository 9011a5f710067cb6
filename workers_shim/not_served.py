"""What happens when code imports a part of the platform that celld-py does not have."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

from workers_shim.web.errors import not_served


class _Refusal:
    """The last finder: a name that nobody has found in one of these packages is an ImportError that says why.

    It is a finder because ``from js import X`` replaces the text of an AttributeError by its own, but asks the finders
    for a submodule ``js.X`` first; so ``hasattr(js, "X")`` stays False and the import still explains itself.
    """

    def __init__(self) -> None:
        self.packages: set[str] = set()

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        package, _, rest = name.rpartition(".")
        if package not in self.packages or rest.startswith("_"):
            return None
        raise ImportError(not_served(name), name=name)


_refusal = _Refusal()


def explain_missing(package: str) -> None:
    """Let imports of unknown names from this package say that they are not served yet."""
    _refusal.packages.add(package)
    if _refusal not in sys.meta_path:
        sys.meta_path.append(_refusal)
