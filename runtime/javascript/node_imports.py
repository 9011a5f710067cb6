"""Imports of Node.js modules: left to workerd where it has them, and named where it has not.

Follows what wrangler makes of them for each of its modes; where wrangler brings imitations from the package ``unenv``
for what workerd lacks, there is a stand-in here which loads, and says what it is when it is used.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

from .entry import SHIM
from .esbuild import Answer, Hook, Hooked, Request
from .node_builtins import BARE, DEFAULT_FROM, KNOWN, PREFIX, NodeBuiltins
from .separate import is_first_asked, plainly, refusal

_REQUIRED = "node-require"
_ABSENT = "node-absent"
_PREFIXED = f"^{PREFIX}.+"
_BARE = f"^(?:{'|'.join(map(re.escape, sorted(BARE)))})$"


def _of_the_shim(request: Request) -> Answer | None:
    """What stands around the user's code gets its flag from us, also where the project's flags do not bring it."""
    ours = request["importer"].startswith(f"{SHIM.as_posix()}/")
    return {"path": request["path"], "external": True} if ours else None


OUR_OWN = Hook(_PREFIXED, _of_the_shim)


class NodeImports:
    """What the imports of one build lead to; ``absent`` gathers the modules that are not there."""

    def __init__(self, modules: NodeBuiltins, root: Path) -> None:
        self._modules = modules
        self._root = root
        self.absent: dict[str, str] = {}  # by name: a file that imports it

    def resolving(self) -> Iterator[Hook]:
        """What esbuild has to ask about."""
        yield OUR_OWN
        yield Hook(_PREFIXED, self._with_prefix)
        if self._modules.mode == "v2":
            yield Hook(_BARE, self._resolve)

    def loading(self) -> Iterator[Hook]:
        """The modules that are made up here."""
        yield Hook(".*", self._load_required, _REQUIRED)
        yield Hook(".*", self._load_absent, _ABSENT)

    def warnings(self) -> Iterator[str]:
        """A sentence for each module that is missing."""
        for name, importer in self.absent.items():
            told = os.path.relpath(importer, self._root)
            yield f"{self._missing(name)} Code that uses it will fail; {told} imports it."

    def note(self, specifier: str) -> str | None:
        """What to say when esbuild did not find a module that Node.js has."""
        if specifier.removeprefix(PREFIX) not in BARE:
            return None
        told = f'The package "{specifier}" wasn\'t found on the file system but is built into node.'
        if self._modules.mode == "v1":
            advice = 'Prefix the module name with "node:" or update your compatibility_date to 2024-09-23 or later.'
        else:
            advice = 'Add the "nodejs_compat" compatibility flag to your project.'
        return f"{told}\n{advice}"

    def _with_prefix(self, request: Request) -> Hooked:
        if not is_first_asked(request):
            return None
        if self._modules.mode == "v2":
            return self._resolve(request)
        leads = yield plainly(request, request["path"])
        return self._resolve(request) if leads["errors"] else None  # a package may have such a name

    def _resolve(self, request: Request) -> Answer | None:
        if not is_first_asked(request):
            return None
        name = request["path"].removeprefix(PREFIX)
        if self._modules.has(name):
            required = request["kind"] == "require-call"
            return {"path": name, "namespace": _REQUIRED} if required else {"path": PREFIX + name, "external": True}
        if self._modules.mode == "v2" and name in KNOWN:
            self.absent.setdefault(name, request["importer"])
            return {"path": name, "namespace": _ABSENT}
        if request["kind"] == "import-statement":
            return refusal(f'No such module "{request["path"]}".', self._missing(name))
        self.absent.setdefault(name, request["importer"])
        return {"external": True}  # it fails when it comes to that, which the code may be ready for

    def _missing(self, name: str) -> str:
        since, mode = self._modules.since(name), self._modules.mode
        if name not in KNOWN:
            return f"{PREFIX}{name} does not exist."
        if mode in ("none", "als"):
            also = " (or nodejs_als, for AsyncLocalStorage alone)" if name == "async_hooks" else ""
            return (
                f'{PREFIX}{name} is built into node: add the "nodejs_compat" compatibility flag{also}, or a '
                f"compatibility_date of {DEFAULT_FROM} or later."
            )
        if since is None:
            return f"{PREFIX}{name} does not exist on Workers."
        return f"{PREFIX}{name} is there from compatibility_date {since} on; this project has {self._modules.date}."

    def _load_required(self, request: Request) -> Answer:
        """A module for ``require()``: the bundle is ES modules, in which only ``import`` reaches the runtime's."""
        module = json.dumps(PREFIX + request["path"])
        return {"contents": f"import builtin from {module};\nmodule.exports = builtin;\n".encode(), "loader": "js"}

    def _load_absent(self, request: Request) -> Answer:
        text = json.dumps(f"[{PREFIX}{request['path']}] {self._missing(request['path'])}")
        return {"contents": _STAND_IN.replace("TEXT", text).encode(), "loader": "js"}


# Whatever is asked of the module is a function that throws; a class may even extend it. What the language and bundlers
# look at by themselves is not there, or loading would already fail. The proxy is the prototype, since that is what
# esbuild keeps of an object when it makes an import's namespace of it.
_STAND_IN = """\
const absent = (name) => function () { throw new Error(`${TEXT} It is used here: ${name}.`); };
const known = new Map();
module.exports = Object.create(new Proxy({}, {
  get(_, name) {
    if (typeof name === "symbol" || name === "__esModule" || name === "then") return undefined;
    if (name === "default") return module.exports;
    if (!known.has(name)) known.set(name, absent(name));
    return known.get(name);
  },
}));
"""
