"""Static files are served by workerd's own ``assets`` service, which decides as Cloudflare's does.

Its files are looked up at each request. What ``_headers``, ``_redirects`` and ``.assetsignore`` say is part of the
configuration, so a change of theirs needs a new process.
"""

from __future__ import annotations

from collections.abc import Iterator

from wrangler_compat.assets import Assets

from .capnp import Struct
from .json_text import json_text
from .plan import Worker

FILES_ONLY = "AssetWorker"  # the entrypoint of the service that never passes a request on to the worker


def service(worker: Worker) -> Iterator[Struct]:
    """The files of a worker, with the worker behind them."""
    if (assets := worker.assets) is not None:
        settings = {"path": str(assets.directory), "config": _settings(assets), "userWorker": worker.service}
        yield {"name": worker.front, "assets": settings}


def binding(worker: Worker) -> Iterator[Struct]:
    """The files on ``env``, where the project asks for them."""
    if (assets := worker.assets) is not None and assets.binding is not None:
        yield {"name": assets.binding, "service": {"name": worker.front, "entrypoint": FILES_ONLY}}


def _settings(assets: Assets) -> str:
    rules = {key: file.read_text("utf-8", "replace") for key, file in assets.control_files.items() if file.is_file()}
    return json_text({**assets.handling, **rules})
