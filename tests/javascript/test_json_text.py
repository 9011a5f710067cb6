"""What a configuration holds reaches the code as JSON."""

from __future__ import annotations

import datetime
import json

from runtime.javascript.json_text import json_text


def test_what_only_toml_has_becomes_what_javascript_makes_of_it() -> None:
    day = datetime.date(1979, 5, 27)
    value = {"when": {"day": day}, "numbers": [float("inf"), float("-inf"), float("nan"), 1.5, 2.0]}
    assert json_text(value) == '{"when":{"day":"1979-05-27"},"numbers":[null,null,null,1.5,2]}'


def test_a_lone_surrogate_reaches_the_code_as_the_configuration_has_it() -> None:
    assert json.loads(json_text(["\ud83d", "ä\U0001f600\u2028"])) == ["\ud83d", "ä\U0001f600\u2028"]
    json_text(["\ud83d"]).encode("utf-8")
