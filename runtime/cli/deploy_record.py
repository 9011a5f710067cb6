"""Records a deploy that has succeeded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runtime.cli.terminal import Terminal
from wrangler_compat.code import step_outline
from wrangler_compat.projection import Deployable, Deployed, remember


def record(target: str, deployable: Deployable, config: Mapping[str, Any], terminal: Terminal) -> None:
    """Note what was deployed. That it cannot be noted does not make the deploy a failure."""
    deployed = Deployed(target, deployable.project.environment, config, step_outline(deployable.code))
    try:
        remember(deployable.root, deployed)
    except OSError as error:
        terminal.warning(f"This deploy could not be recorded: {error}.", "The next one cannot be compared with it.")
