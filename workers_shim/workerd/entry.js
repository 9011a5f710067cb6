// What the generated entry of a user's worker imports. It stands between the runtime and the user's classes: it gives
// console lines their place, keeps stacks (which do not survive RPC), and lets waiting code be woken.

import { DurableObject, WorkerEntrypoint, WorkflowEntrypoint } from "cloudflare:workers";

import { drained } from "./background.js";
import { collect } from "./collect.js";
import { nameLines } from "./console.js";
import { callScheduled } from "./cron.js";
import { define, handlersOf, methodsOf, wrapped } from "./handlers.js";
import { hide } from "./hidden.js";
import { holdRun, live } from "./hold.js";
import { INTERNAL } from "./internal.js";
import { failureOf } from "./stacks.js";

/**
 * A Workflow's class, exported by this name, whose `run()` is given a step object that knows the run. The user's own
 * instance is made when `run()` is called, because the class also answers the bridge, which opens runs' sockets here.
 */
export function wrapWorkflow(Workflow, name) {
  if (!extend(Workflow, WorkflowEntrypoint)) return Workflow;
  class Wrapped extends Workflow {
    constructor(ctx, env) {
      hide(env);
      return Object.create(Wrapped.prototype, { make: { value: () => Reflect.construct(Workflow, [ctx, env]) } });
    }

    async run(event, step, number) {
      if (number === undefined) return this.make().run(event, step); // somebody else than the engine calls it
      await live(number, async (event, step) => this.make().run(event, step));
    }

    fetch(request) {
      switch (request.headers.get(INTERNAL)) {
        case "run":
          return holdRun(name);
        case "collect":
          collect();
          return Response.json(null);
      }
      return this.make().fetch(request);
    }
  }
  for (const method of methodsOf(Workflow.prototype)) {
    if (!Object.hasOwn(Wrapped.prototype, method)) define(Wrapped.prototype, method, passOn(method));
  }
  define(Wrapped, "name", Workflow.name);
  return Wrapped;
}

function passOn(name) {
  return function (...given) {
    return this.make()[name](...given);
  };
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
