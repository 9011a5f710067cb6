// Scenarios of Workflows, and what is to be seen of each: GET / lists them, GET /play?scenario=NAME plays one.
//
// The answers hold no times, no generated ids and nothing else that differs from one play to the next, so two engines
// can be compared by them.

import { WorkerEntrypoint, WorkflowEntrypoint } from "cloudflare:workers";

import { describe } from "./describe.js";
import { notebook } from "./notes.js";
import { SCENARIOS } from "./scenarios/index.js";
import { Stage } from "./stage.js";

function play(workflow, event, step) {
  const { scenario, part = "main" } = event.payload;
  const note = notebook(event.instanceId);
  const parts = SCENARIOS[scenario]?.parts;
  if (parts === undefined) return note("payload", event.payload); // the scenario is about what is in it
  return parts[part]({ event, step, note, payload: event.payload, env: workflow.env });
}

export class Played extends WorkflowEntrypoint {
  run(event, step) {
    return play(this, event, step);
  }
}

export class Limited extends WorkflowEntrypoint {
  run(event, step) {
    return play(this, event, step);
  }
}

export class Exported extends WorkflowEntrypoint {
  run(event, step) {
    return play(this, event, step);
  }
}

export default class extends WorkerEntrypoint {
  async fetch(request) {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/") return Response.json(Object.keys(SCENARIOS));
    if (pathname !== "/play") return new Response(null, { status: 404 });
    const name = searchParams.get("scenario");
    const scenario = SCENARIOS[name];
    const bindings = { played: this.env.PLAYED, limited: this.env.LIMITED, exported: this.ctx.exports.Exported };
    const stage = new Stage(name, searchParams.get("take"), bindings, scenario.binding);
    return Response.json(stage.withoutTraces(await seen(scenario, stage)));
  }
}

async function seen(scenario, stage) {
  try {
    return await scenario.observe(stage);
  } catch (error) {
    return { failed: describe(error), at: error.stack };
  }
}
