// What the generated entry of a user's worker imports. It stands between the runtime and the user's classes: it gives
// console lines their place, keeps stacks (which do not survive RPC), and lets waiting code be woken.

import { DurableObject, WorkerEntrypoint, WorkflowEntrypoint } from "cloudflare:workers";

import { drained } from "./background.js";
import { nameLines } from "./console.js";
import { callScheduled } from "./cron.js";
import { handlersOf, wrapped } from "./handlers.js";
import { LocalRun, forget, wake } from "./local_run.js";
import { WorkflowStep } from "./local_step.js";
import { failureOf } from "./stacks.js";

/** A Workflow's class whose `run()` is given a step object that knows the run. */
export function wrapWorkflow(Workflow) {
  if (!extend(Workflow, WorkflowEntrypoint)) return Workflow;
  return named(
    class extends Workflow {
      async run(event, step, about) {
        if (about === undefined) return super.run(event, step); // somebody else than the bridge calls it
        const run = new LocalRun(step, about);
        return run.whole(() => super.run(event, new WorkflowStep(run)));
      }
    },
    Workflow.name,
  );
}

/** The default export, which also answers the bridge. `module` is the user's, and `worker` its own default export. */
export function wrapDefault(worker, module = {}) {
  return wrapped(worker, (question, request, ctx, scheduled) => {
    const answer = ANSWERS[question];
    if (answer === undefined) return new Response(`unknown question ${question}`, { status: 400 });
    return answered(answer, request, { module, worker, ctx, scheduled });
  });
}

// What the bridge asks. The header cannot come from outside: the bridge takes it off the requests of clients.
const ANSWERS = {
  wake: ({ run }) => wake(run),
  forget: ({ run }) => forget(run),
  failure: failureOf,
  exports: ({ name }, { module, worker }) => {
    if (name !== undefined) nameLines(name);
    return { workflows: workflowsOf(module), entrypoints: entrypointsOf(module), handlers: handlersOf(worker) };
  },
  scheduled: (asked, { ctx, scheduled }) => callScheduled(asked, ctx, scheduled),
  drain: drained,
};

async function answered(answer, request, about) {
  return Response.json((await answer(await request.json(), about)) ?? null);
}

function entrypointsOf(module) {
  const isOne = (value) => extend(value, WorkerEntrypoint) || extend(value, DurableObject);
  return Object.keys(module).filter((name) => name !== "default" && isOne(module[name]));
}

/** Its Workflow classes, the configured ones among them. */
function workflowsOf(module) {
  return Object.keys(module).filter((name) => extend(module[name], WorkflowEntrypoint));
}

function extend(value, Class) {
  return typeof value === "function" && value.prototype instanceof Class;
}

function named(Class, name) {
  Object.defineProperty(Class, "name", { value: name, configurable: true });
  return Class;
}
