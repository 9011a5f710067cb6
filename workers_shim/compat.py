"""Compatibility flags: on by the date, or by name, or off by the name of their opposite."""

from __future__ import annotations

# The first compatibility date on which a flag is on by itself.
DEFAULT_FROM = {
    "python_workers_force_new_vendor_path": "2025-08-11",
    "python_no_global_handlers": "2025-08-14",
    "python_workflows": "2025-09-20",
    "python_workers_20250116": "2025-09-29",
    "python_dedicated_snapshot": "2025-10-16",
    "enable_ctx_exports": "2025-11-17",
    "python_check_rng_state": "2025-12-16",
    "python_request_headers_preserve_commas": "2026-02-17",
    "python_workflows_implicit_dependencies": "2026-02-25",
    "enable_python_external_sdk": "2026-04-21",
    "workflows_preserve_non_retryable_error_message": "2026-05-14",
    "python_process_pth_files": "2026-05-26",
    "python_workers_314": "2026-09-08",
}
_OFF = ("no_", "disable_")

# Not a flag of Cloudflare's: the host's word that the target has no workflow exports (`exports_fallback`).
EXPORTS_ON_ENV = "celld_exports_on_env"


class Flags(dict[str, bool]):
    """The flags of one Worker by name; one that is not in here is off."""

    def on(self, name: str) -> bool:
        """Whether the flag is on."""
        return self.get(name, False)


def flags_for(date: str, flags: list[str]) -> Flags:
    """The flags that a compatibility date and a list of flags switch on. The list wins over the date."""
    found = Flags({name: date >= since for name, since in DEFAULT_FROM.items()})
    for flag in flags:
        found[flag] = True
        for name in _opposites(flag):
            found[name] = False
    return found


def _opposites(flag: str) -> list[str]:
    """The flags that this one switches off: ``no_x`` and ``disable_x`` switch off ``x`` and ``enable_x``."""
    for prefix in _OFF:
        if flag.startswith(prefix):
            # A flag may have "no" in its own name, as python_no_global_handlers has; only a leading one is an opposite.
            name = flag.removeprefix(prefix)
            return [name, f"enable_{name}"]
    name = flag.removeprefix("enable_")
    return [f"{prefix}{name}" for prefix in _OFF]
