"""Which calls give another value each time: clocks, random numbers, new ids."""

from __future__ import annotations

from wrangler_compat.code import Module, nodes

_CALLS = {
    # Python
    "time.time",
    "time.time_ns",
    "time.monotonic",
    "time.monotonic_ns",
    "time.perf_counter",
    "time.perf_counter_ns",
    "time.localtime",
    "time.gmtime",
    "datetime.datetime.now",
    "datetime.datetime.utcnow",
    "datetime.datetime.today",
    "datetime.date.today",
    "uuid.uuid1",
    "uuid.uuid4",
    "uuid.uuid7",
    "os.urandom",
    "os.getrandom",
    "js.Date.now",
    "js.Math.random",
    "js.performance.now",
    "js.crypto.randomUUID",
    "js.crypto.getRandomValues",
    # JavaScript
    "Date.now",
    "Math.random",
    "performance.now",
    "crypto.randomUUID",
    "crypto.getRandomValues",
    "uuid.v1",
    "uuid.v4",
    "uuid.v6",
    "uuid.v7",
    "nanoid.nanoid",
    *(
        f"{crypto}.{name}"
        for crypto in ("crypto", "node:crypto")
        for name in ("randomBytes", "randomInt", "randomUUID")
    ),
}
_SEEDED = {"seed", "Random", "setstate", "getstate"}  # of Python's random: nothing random comes out of these
_PACKAGES = {"random", "secrets"}  # of Python: every function of theirs


def is_changing(module: Module, node: nodes.Node) -> bool:
    """Whether a call gives another value when the code runs again."""
    if not isinstance(node, nodes.Call):
        return False
    dotted = module.names.dotted(node.callee)
    if dotted in _CALLS:
        return True
    package, _, name = dotted.partition(".")
    if module.language == "python":
        if dotted in ("js.Date.new", "js.Date"):
            return not node.args
        return package in _PACKAGES and bool(name) and name not in _SEEDED and not dotted.endswith("compare_digest")
    return dotted == "Date" and not node.args


def shown(module: Module, node: nodes.Node) -> str:
    """A call as a message shows it."""
    source = " ".join(module.source(node).split())
    return source if len(source) <= 40 else f"{source[:37]}..."
