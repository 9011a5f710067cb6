"""Conformance cases that only JavaScript can show: what is thrown and returned there has no counterpart in Python."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.dev import Dev, dev
from tests.javascript.e2e.typescript import write_typescript

pytestmark = [pytest.mark.usefixtures("tools"), pytest.mark.timeout(120)]

CODE = """
import { RpcTarget, WorkflowEntrypoint, WorkflowEvent, WorkflowStep } from "cloudflare:workers";
import { NonRetryableError } from "cloudflare:workflows";

interface Env { ODD_FLOW: any }

class Target extends RpcTarget {}

const once = { retries: { limit: 0, delay: 0 } };
const twice = { retries: { limit: 1, delay: 0 } };
const seen = (attempt: () => Promise<any>) =>
  attempt().then(() => "fine", ({ name, message }) => `${name}: ${message}`);

const FLOWS: Record<string, (step: any) => any> = {
  "throws a text": () => { throw "plainstr"; },
  "throws an object": () => { throw { a: 1 }; },
  "returns a function": () => () => 1,
  "a step throws a text": (step) => seen(() => step.do("a", once, () => { throw "plain"; })),
  "a step returns a function": (step) => seen(() => step.do("a", () => () => 1)),
  "a step returns a nested function": (step) => seen(() => step.do("a", () => ({ deep: [() => 1] }))),
  "a step returns an RpcTarget": (step) => seen(() => step.do("a", () => new Target())),
  "a step returns a Response": (step) => seen(() => step.do("a", () => new Response("x"))),
  "a step throws a renamed error": (step) => seen(() => step.do("a", twice, ({ attempt }: any) => {
    throw new NonRetryableError(`no ${attempt}`, "Declined");
  })),
  "a step without a callback": (step) => seen(() => step.do("a")),
};

export class OddFlow extends WorkflowEntrypoint<Env> {
  async run(event: WorkflowEvent<string>, step: WorkflowStep) {
    return FLOWS[event.payload](step);
  }
}

export default {
  async fetch(request: Request, env: Env) {
    if (new URL(request.url).pathname !== "/function") return routes(request, env.ODD_FLOW);
    const instance = await env.ODD_FLOW.create({ params: "throws a text" });
    return new Response(await seen(() => instance.sendEvent({ type: "go", payload: () => 1 })));
  },
};
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dev]:
    with dev(write_typescript(tmp_path_factory.mktemp("odd"), CODE, "OddFlow"), "--no-watch") as server:
        yield server


def end(server: Dev, what: str) -> dict[str, Any]:
    """The status of an instance of this flow when it has ended."""
    id = server.json("/create", "POST", json=what)["id"]
    ended: dict[str, Any] = server.until(f"/status?id={id}", lambda seen: seen["status"] in ("complete", "errored"))
    return ended


def error(server: Dev, what: str) -> tuple[str, str]:
    ended = end(server, what)
    assert ended["status"] == "errored"
    return ended["error"]["name"], ended["error"]["message"]


def test_c052_what_is_thrown_may_be_a_text(server: Dev) -> None:
    assert error(server, "throws a text") == ("Error", "plainstr")


def test_c053_what_is_thrown_may_be_an_object_of_which_no_text_is_left(server: Dev) -> None:
    assert error(server, "throws an object") == ("Error", "#<Object>")


def test_c058_a_run_that_returns_a_function_ends_with_an_error(server: Dev) -> None:
    assert error(server, "returns a function") == ("DataCloneError", "RpcStub cannot be serialized in this context.")


def test_c099_a_function_is_no_payload(server: Dev) -> None:
    assert server.get("/function").text == "DataCloneError: RpcStub cannot be serialized in this context."


def test_c136_the_caller_of_a_step_that_throws_a_text_gets_an_error(server: Dev) -> None:
    assert end(server, "a step throws a text")["output"] == "Error: plain"


@pytest.mark.parametrize("what", ["a function", "a nested function", "an RpcTarget", "a Response"])
def test_c161_a_result_that_can_never_be_kept_ends_the_instance_whatever_its_code_would_catch(
    server: Dev, what: str
) -> None:
    ended = "The execution of the Workflow instance was terminated"
    text = f'{ended}, as the step "a" returned a value which is not serialisable'
    assert error(server, f"a step returns {what}") == ("WorkflowFatalError", text)


def test_c177_a_step_needs_a_callback(server: Dev) -> None:
    refused = 'Error: WorkflowFatalError: Step "a" requires a callback function'
    assert end(server, "a step without a callback")["output"] == refused


def test_a_non_retryable_error_with_another_name_is_retried_as_on_cloudflare_and_that_is_said(server: Dev) -> None:
    since = len(server.lines)
    assert end(server, "a step throws a renamed error")["output"] == "Error: Declined: no 2"
    warning = "step a-1: A NonRetryableError with the name Declined is retried, as on Cloudflare"
    server.printed("attempt 2 of", since=since)
    assert sum(warning in line for line in server.lines[since:]) == 1
