from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

import pytest

from wrangler_compat import ConfigError, Project, load_project

PYTHON: dict[str, Any] = {
    "name": "shop",
    "main": "entry.py",
    "compatibility_date": "2026-01-01",
    "compatibility_flags": ["python_workers"],
}


def python(**changes: object) -> dict[str, Any]:
    return {**PYTHON, **changes}


def without(*keys: str) -> dict[str, Any]:
    return {key: value for key, value in PYTHON.items() if key not in keys}


def write(root: Path, config: object, module: str = "entry.py") -> Path:
    """A project folder with this configuration, given as data or as text, and an empty module."""
    (root / "wrangler.json").write_text(config if isinstance(config, str) else json.dumps(config))
    (root / module).touch()
    return root


def load(root: Path, env: str | None = None, **environ: str) -> Project:
    return load_project(root, env, environ)


def refused(root: Path, env: str | None = None, **environ: str) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        load(root, env, **environ)
    return caught.value


def test_a_plain_project_is_read_without_a_word(tmp_path: Path) -> None:
    workflow = {"binding": "ORDER", "name": "order", "class_name": "Order"}

    project = load(write(tmp_path, python(vars={"A": "x", "B": {"c": [1]}}, workflows=[workflow])))

    assert project.root == tmp_path
    assert project.config_path == tmp_path / "wrangler.json"
    assert project.main == tmp_path / "entry.py"
    assert (project.name, project.language, project.environment) == ("shop", "python", None)
    assert project.compatibility_date == "2026-01-01"
    assert project.compatibility_flags == ("python_workers",)
    assert project.vars == {"A": "x", "B": {"c": [1]}}
    assert [(w.name, w.class_name, w.binding) for w in project.workflows] == [("order", "Order", "ORDER")]
    assert project.warnings == project.notes == ()


def test_main_is_relative_to_the_configuration_file(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    write(tmp_path, python(main="./src/../src/entry.py"), "src/entry.py")

    assert load(tmp_path / "src").main == tmp_path / "src" / "entry.py"


@pytest.mark.parametrize("name", ["worker.js", "worker.mjs", "worker.ts"])
def test_a_javascript_project_is_read_and_named_as_such(tmp_path: Path, name: str) -> None:
    project = load(write(tmp_path, {"name": "w", "main": name, "compatibility_date": "2026-01-01"}, name))

    assert project.language == "javascript"


# ------------------------------------------------------------------------------------ local variables and overrides


def test_local_variables_are_secrets_and_override_vars(tmp_path: Path) -> None:
    write(tmp_path, python(vars={"A": "file", "B": "file"}))
    (tmp_path / ".dev.vars").write_text("A=local\nKEY=secret\n")

    project = load(tmp_path)

    assert project.vars == {"A": "local", "B": "file", "KEY": "secret"}
    assert project.secrets == {"A", "KEY"}


def test_variables_of_the_command_line_win_and_are_no_secrets(tmp_path: Path) -> None:
    write(tmp_path, python(vars={"A": "file"}))
    (tmp_path / ".dev.vars").write_text("A=local\nB=local\n")

    project = load_project(tmp_path, None, {}, {"A": "given"})

    assert project.vars == {"A": "given", "B": "local"}
    assert project.secrets == {"B"}


def test_with_declared_secrets_only_those_and_overridden_vars_are_taken(tmp_path: Path) -> None:
    write(tmp_path, python(vars={"A": "file"}, secrets={"required": ["KEY", "LOST"]}))
    (tmp_path / ".dev.vars").write_text("A=local\nKEY=k\nOTHER=o\n")

    project = load(tmp_path)

    assert project.vars == {"A": "local", "KEY": "k"}
    assert [warning.text for warning in project.warnings] == ["secrets.required: env.LOST will be missing"]


def test_declared_secrets_may_come_from_the_process(tmp_path: Path) -> None:
    write(tmp_path, python(secrets={"required": ["KEY"]}))

    assert load(tmp_path, KEY="from the shell", OTHER="no").vars == {"KEY": "from the shell"}


# ---------------------------------------------------------------------------------------------- mistakes, each once


@pytest.mark.parametrize(
    ("files", "main"),
    [
        (["src/index.ts", "package.json"], "src/index.ts"),
        (["worker.js", "src/tool.py"], "worker.js"),
        (["package.json"], "src/index.ts"),
        (["src/main.py", "pyproject.toml", "package.json", "src/index.js"], "src/main.py"),
        ([], "src/entry.py"),
    ],
)
def test_the_hint_names_the_file_that_main_may_be(tmp_path: Path, files: list[str], main: str) -> None:
    write(tmp_path, {"name": "app"}, module="README.md")
    (tmp_path / "src").mkdir()
    for name in files:
        (tmp_path / name).touch()
    with pytest.raises(ConfigError) as caught:
        load(tmp_path)

    assert caught.value.hint == f'Add "main": "{main}" (the path is relative to the configuration file).'


@pytest.mark.parametrize(
    ("changes", "code", "message"),
    [
        ({"main": ""}, "main_missing", 'There is no "main": nothing says which file is the Worker.'),
        ({"main": 5}, "field_type", 'Expected "main" to be of type string but got 5.'),
        ({"main": "gone.py"}, "main_not_a_file", '"main" names {root}/gone.py, which does not exist.'),
        ({"main": "."}, "main_not_a_file", '"main" names {root}, which is a folder, not a file.'),
        ({"main": "entry.rb"}, "main_kind", '"main" names entry.rb, which is neither Python nor JavaScript.'),
        (
            {"compatibility_flags": []},
            "python_flag_missing",
            "The `python_workers` compatibility flag is required to use Python.",
        ),
        (
            {"compatibility_flags": "python_workers"},
            "field_type",
            'Expected "compatibility_flags" to be of type string array but got "python_workers".',
        ),
        (
            {"compatibility_date": "yesterday"},
            "compatibility_date",
            '"compatibility_date" field should be a valid ISO-8601 date (YYYY-MM-DD), but got "yesterday".',
        ),
        (
            {"compatibility_date": "2026-02-30"},
            "compatibility_date",
            '"compatibility_date" field should be a valid ISO-8601 date (YYYY-MM-DD), but got "2026-02-30".',
        ),
        (
            {"name": "My Shop"},
            "worker_name",
            'Expected "name" to be of type string, alphanumeric and lowercase with dashes only but got "My Shop".',
        ),
        ({"vars": ["A"]}, "field_type", 'The field "vars" should be an object but got ["A"].'),
        (
            {"secrets": {"required": "KEY"}},
            "field_type",
            'Expected "secrets.required" to be an array of strings but got "KEY"',
        ),
    ],
)
def test_a_mistake_is_one_clear_message(tmp_path: Path, changes: dict[str, object], code: str, message: str) -> None:
    (tmp_path / "entry.rb").touch()
    write(tmp_path, python(**changes))

    with pytest.raises(ConfigError) as caught:
        load_project(tmp_path, None, {}, today=datetime.date(2026, 12, 24))

    assert [(error.code, error.message) for error in caught.value.all] == [(code, message.format(root=tmp_path))]
    assert caught.value.file == tmp_path / "wrangler.json"


def test_all_mistakes_are_told_at_once_with_their_places(tmp_path: Path) -> None:
    write(tmp_path, '{\n"main": "gone.py",\n"vars": 3,\n"compatibility_flags": ["python_workers"]}')

    error = refused(tmp_path)

    assert [(each.code, each.line) for each in error.all] == [("field_type", 3), ("main_not_a_file", 2)]
    assert error.others[0].where == f"{tmp_path / 'wrangler.json'}:2:9"


def test_a_missing_flag_comes_with_the_line_to_add(tmp_path: Path) -> None:
    error = refused(write(tmp_path, python(compatibility_flags=[])))

    assert error.hint == 'Add "compatibility_flags": ["python_workers"].'


def test_an_unquoted_toml_date_is_told_to_be_quoted(tmp_path: Path) -> None:
    (tmp_path / "wrangler.toml").write_text('name = "a"\nmain = "a.js"\ncompatibility_date = 2026-01-01\n')
    (tmp_path / "a.js").touch()

    error = refused(tmp_path)

    assert error.message == 'Expected "compatibility_date" to be of type string but got "2026-01-01".'
    assert error.hint == "Put quotes around it."
    assert error.where == f"{tmp_path / 'wrangler.toml'}:3:22"


def test_a_syntax_error_has_file_line_and_column(tmp_path: Path) -> None:
    error = refused(write(tmp_path, '{\n  "name": shop\n}'))

    assert error.where == f"{tmp_path / 'wrangler.json'}:2:11"


def test_a_configuration_that_is_no_object_is_refused(tmp_path: Path) -> None:
    assert refused(write(tmp_path, "[]")).message == "The configuration should be an object."


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"\xff\xfe{\x00}\x00", "The file is UTF-16, not UTF-8."),
        (b'{"name": "caf\xe9"}', "The file is not UTF-8: byte 0xe9."),
    ],
)
def test_another_encoding_is_named(tmp_path: Path, raw: bytes, message: str) -> None:
    (tmp_path / "wrangler.json").write_bytes(raw)

    error = refused(tmp_path)

    assert error.message == message
    assert error.hint == "Save the file as UTF-8."


# ------------------------------------------------------------------------------------------------------- warnings


def test_a_missing_date_is_today_and_a_missing_name_is_worker(tmp_path: Path) -> None:
    write(tmp_path, without("compatibility_date", "name"))

    project = load_project(tmp_path, None, {}, today=datetime.date(2026, 12, 24))

    assert (project.name, project.compatibility_date) == ("worker", "2026-12-24")
    assert [(warning.text, warning.hint) for warning in project.warnings] == [
        ('There is no "name"; the Worker is called "worker".', 'Add "name": the deploy commands need it.'),
        (
            "There is no compatibility_date: today's (2026-12-24) is used, so behaviour changes with the days.",
            'Add "compatibility_date": "2026-12-24".',
        ),
    ]


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        (
            {"kv_namespaces": [{"binding": "CACHE"}, {"binding": "B"}]},
            "kv_namespaces (env.CACHE, env.B will be missing)",
        ),
        ({"d1_databases": [{"binding": "DB"}]}, "d1_databases (env.DB will be missing)"),
        (
            {"durable_objects": {"bindings": [{"name": "ROOM", "class_name": "Room"}]}},
            "durable_objects.bindings (env.ROOM will be missing)",
        ),
        ({"queues": {"producers": [{"binding": "Q", "queue": "q"}]}}, "queues.producers (env.Q will be missing)"),
        ({"queues": {"consumers": [{"queue": "q"}]}}, "queues.consumers (the queue handler will not be called)"),
        ({"services": [{"binding": "AUTH", "service": "auth"}]}, "services (env.AUTH will be missing)"),
        ({"ai": {"binding": "AI"}}, "ai (env.AI will be missing)"),
        ({"ratelimits": [{"name": "LIMIT"}]}, "ratelimits (env.LIMIT will be missing)"),
        ({"triggers": {"crons": ["* * * * *"]}}, "triggers.crons (the scheduled handler will not be called)"),
        (
            {"assets": {"directory": "public"}},
            "assets (static files are not served; every request goes to the Worker)",
        ),
        (
            {"build": {"command": "make"}},
            "build (the build command is not run; run it yourself before the Worker starts)",
        ),
        (
            {"exports": {"Room": {"type": "durable-object", "storage": "sqlite"}}},
            "exports.Room (the Durable Object class Room cannot be reached)",
        ),
        (
            {"exports": {"Api": {"type": "worker"}}},
            "exports.Api (the settings of the entrypoint Api are not applied)",
        ),
    ],
)
def test_what_is_not_served_is_named_with_its_consequence(
    tmp_path: Path, changes: dict[str, object], told: str
) -> None:
    project = load(write(tmp_path, python(**changes)))

    assert [each.text for each in project.warnings] == [f"Not served here: {told}"]
    assert told.startswith(str(project.warnings[0].key))


def test_all_that_is_not_served_is_one_line(tmp_path: Path) -> None:
    changes = {"kv_namespaces": [{"binding": "CACHE"}], "ai": {"binding": "AI"}, "alias": {"a": "b"}}

    project = load(write(tmp_path, python(**changes)))

    assert [each.text for each in project.warnings] == [
        "Not served here: ai (env.AI will be missing); kv_namespaces (env.CACHE will be missing); alias (modules are "
        "not renamed)"
    ]


def test_options_of_wrangler_s_server_come_with_ours(tmp_path: Path) -> None:
    project = load(write(tmp_path, python(dev={"port": 9000})))

    assert [(each.text, each.hint) for each in project.warnings] == [("dev.port: not read", "Pass --port 9000.")]


def test_keys_that_matter_at_deploy_only_and_empty_ones_are_no_warning(tmp_path: Path) -> None:
    project = load(
        write(
            tmp_path,
            python(
                observability={"enabled": True},
                routes=["a.test/*"],
                placement={"mode": "smart"},
                triggers={"crons": []},
                kv_namespaces=[],
                **{"$schema": "x"},
            ),
        )
    )

    assert project.warnings == ()


def test_an_unknown_key_comes_with_the_known_one_that_is_near(tmp_path: Path) -> None:
    project = load(write(tmp_path, python(workflow=[])))

    assert [(warning.text, warning.hint) for warning in project.warnings] == [
        ('Unexpected fields found in top-level field: "workflow"', 'Did you mean "workflows" instead of "workflow"?')
    ]


def test_a_repeated_key_is_a_warning(tmp_path: Path) -> None:
    text = json.dumps(PYTHON)[:-1] + ',\n"name": "other"}'

    project = load(write(tmp_path, text))

    assert project.name == "other"
    assert [(note.text, note.line) for note in project.warnings] == [
        ('"name" is written twice; the last one counts.', 2)
    ]


# -------------------------------------------------------------------------------------------- field report A12

A12_JSONC = (
    "\ufeff// the shop\r\n"
    "{\r\n"
    '  "name": "shop", /* keep\r\n     both lines */\r\n'
    '  "main": "entry.py",\r\n'
    '  "compatibility_date": "2026-01-01",\r\n'
    '  "compatibility_flags": ["python_workers",],\r\n'
    '  "vars": { "API": "https://prod.test//v1", },\r\n'
    '  "workflows": [{ "binding": "ORDER", "name": "order", "class_name": "Order" },],\r\n'
    '  "env": { "staging": { "vars": { "API": "https://staging.test//v1" } }, },\r\n'
    "}\r\n"
)
A12_TOML = """
name = "shop"
main = "entry.py"
compatibility_date = "2026-01-01"
compatibility_flags = ["python_workers"]

[vars]
API = "https://prod.test//v1" # a comment

[[workflows]]
binding = "ORDER"
name = "order"
class_name = "Order"

[env.staging.vars]
API = "https://staging.test//v1"
"""


@pytest.fixture(params=["wrangler.jsonc", "wrangler.json", "wrangler.toml"])
def a12(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    text = A12_TOML if request.param == "wrangler.toml" else A12_JSONC
    (tmp_path / request.param).write_text(text, "utf-8", newline="")
    (tmp_path / "entry.py").touch()
    return tmp_path


def test_a12_without_an_environment_the_top_level_holds(a12: Path) -> None:
    project = load(a12)

    assert project.name == "shop"
    assert project.vars == {"API": "https://prod.test//v1"}
    assert [workflow.binding for workflow in project.workflows] == ["ORDER"]
    assert project.warnings == ()


def test_a12_an_environment_inherits_no_binding_and_says_so(a12: Path) -> None:
    project = load(a12, "staging")

    assert project.name == "shop-staging"
    assert project.vars == {"API": "https://staging.test//v1"}
    assert project.workflows == ()
    assert [warning.text for warning in project.warnings] == [
        '"workflows" exists at the top level, but not on "env.staging".'
    ]


def test_a12_an_unknown_environment_is_an_error_that_lists_the_known_ones(a12: Path) -> None:
    error = refused(a12, "prod")

    assert error.code == "env_unknown"
    assert error.message == 'No environment found in configuration with name "prod".'
    assert error.hint is not None
    assert error.hint.endswith('The available configured environment names are: ["staging"]')


def test_a12_the_variable_chooses_the_environment_too(a12: Path) -> None:
    assert load(a12, CLOUDFLARE_ENV="staging").name == "shop-staging"
    assert refused(a12, CLOUDFLARE_ENV="prod").code == "env_unknown"
    assert load(a12, "staging", CLOUDFLARE_ENV="prod").name == "shop-staging"
    assert load(a12, "", CLOUDFLARE_ENV="staging").name == "shop"
