"""docs/targets.md is what the table of rules says, and says all of it."""

from __future__ import annotations

from dataclasses import fields

from runtime.engine.rules import CELLD, CLOUDFLARE, TARGETS, Rules
from tests.targets.limits import DEFAULTS, LIMITS
from tests.targets.page import MEANINGS, PAGE, changed, page
from wrangler_compat import workflows
from wrangler_compat.workflows import is_workflow_name

NO_LIMITS = {"target", "preserve_non_retryable", *MEANINGS}  # the flag is the project's, not the target's


def test_the_page_is_what_the_rules_say() -> None:
    assert PAGE.read_text("utf-8") == page(), "write it anew: make docs"


def test_everything_that_celld_changes_is_explained() -> None:
    assert set(changed(CELLD)) == MEANINGS.keys()
    assert changed(CLOUDFLARE) == []


def test_every_limit_and_default_of_the_table_is_listed() -> None:
    listed = {limit.field for limit in (*LIMITS, *DEFAULTS) if limit.amount is None}
    assert listed == {field.name for field in fields(Rules)} - NO_LIMITS


def test_a_target_is_known_by_its_name() -> None:
    assert {name: rules.target for name, rules in TARGETS.items()} == {"cloudflare": "cloudflare", "celld": "celld"}


def test_the_configuration_is_read_with_the_same_limits() -> None:
    assert CLOUDFLARE.max_steps == workflows.MAX_STEPS
    assert is_workflow_name("x" * CLOUDFLARE.max_workflow_name)
    assert not is_workflow_name("x" * (CLOUDFLARE.max_workflow_name + 1))
