"""All lints, in the order of the documentation."""

from __future__ import annotations

from wrangler_compat.lints import (
    attempts,
    awaiting,
    budget,
    configuration,
    declared,
    determinism,
    effects,
    events,
    failures,
    lengths,
    lunora,
    ordering,
    printing,
    results,
    starting,
    state,
    step_names,
    transactions,
    versions,
    waits,
)
from wrangler_compat.lints.lint import Lint

LINTS: tuple[Lint, ...] = (
    *determinism.LINTS,
    *ordering.LINTS,
    *effects.LINTS,
    *attempts.LINTS,
    *transactions.LINTS,
    *printing.LINTS,
    *awaiting.LINTS,
    *waits.LINTS,
    *state.LINTS,
    *step_names.LINTS,
    *results.LINTS,
    *events.LINTS,
    *lengths.LINTS,
    *failures.LINTS,
    *budget.LINTS,
    *starting.LINTS,
    *configuration.LINTS,
    *declared.LINTS,
    *versions.LINTS,
    *lunora.LINTS,
)
