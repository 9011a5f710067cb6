"""``python -m runtime.javascript`` installs workerd and esbuild ahead of the first start, as in a container image."""

from __future__ import annotations

import sys

from runtime.host.errors import CelldError

from .tools import find_tools


def main() -> int:
    """Say where the programs are, or why they cannot be had."""
    try:
        tools = find_tools(None, print)
    except CelldError as error:
        print(*(part for part in (error.message, error.detail, error.hint) if part), sep="\n", file=sys.stderr)
        return error.exit_code
    print(*tools, sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
