from __future__ import annotations

import datetime
import json
from pathlib import Path

import pytest

from wrangler_compat.lints import versions
from wrangler_compat.projection import Deployed, difference, last_projection, plain, record, remember
from wrangler_compat.projection.record import RECORD


def test_each_target_and_environment_has_its_own_last_projection(tmp_path: Path) -> None:
    remember(tmp_path, Deployed("celld", None, {"name": "a"}, {"Order": ["do:pay"]}))
    remember(tmp_path, Deployed("cloudflare", "prod", {"name": "b"}, {"Order": ["do:pay", "do:ship"]}))
    remember(tmp_path, Deployed("celld", None, {"name": "c"}, {"Order": []}))

    assert last_projection(tmp_path, "celld", None) == {"name": "c"}
    assert last_projection(tmp_path, "cloudflare", "prod") == {"name": "b"}
    assert last_projection(tmp_path, "cloudflare", None) is None
    assert json.loads((tmp_path / RECORD).read_text())["steps"] == {"Order": []}


@pytest.mark.parametrize("text", ["", "[]", "{", '{"projections": 5}', '{"projections": {"celld": 1}}'])
def test_a_damaged_record_is_none_and_the_next_deploy_mends_it(tmp_path: Path, text: str) -> None:
    (tmp_path / RECORD).parent.mkdir()
    (tmp_path / RECORD).write_text(text)

    assert last_projection(tmp_path, "celld", None) is None
    remember(tmp_path, Deployed("celld", None, {"name": "a"}, {}))

    assert last_projection(tmp_path, "celld", None) == {"name": "a"}


def test_the_difference_is_a_unified_diff_and_empty_for_the_same() -> None:
    assert list(difference({"name": "a"}, {"name": "a"})) == []
    assert list(difference({"name": "a"}, {"name": "b"})) == [
        "--- last deploy",
        "+++ this deploy",
        "@@ -1,3 +1,3 @@",
        " {",
        '-  "name": "a"',
        '+  "name": "b"',
        " }",
    ]


def test_a_recorded_configuration_is_plain_json() -> None:
    assert plain({"vars": {"SINCE": datetime.date(2026, 1, 2), "N": 1.0}})["vars"]["N"] == 1
    json.dumps(plain({"vars": {"SINCE": datetime.date(2026, 1, 2)}}))


def test_check_looks_where_a_deploy_writes() -> None:
    assert (versions.RECORD, versions.STEPS) == (record.RECORD, record._STEPS)
