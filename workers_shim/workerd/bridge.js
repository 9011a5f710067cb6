// The bridge: the one worker of ours in workerd. The host reaches the user's code through it (requests, runs, cron), and
// the user's code reaches the host (bindings). Its compatibility date is part of how it works: see errors.js.

import { collect } from "./collect.js";
import { INTERNAL, ask, workerOf } from "./internal.js";
import { relay, scheduled } from "./relay.js";

export { WorkflowBinding } from "./binding.js";
export { Hop } from "./hop.js";

// What the bridge throws, user code gets. It has no frames: a stack tells the developer where their own code failed, and
// by that the host knows which of the errors that workerd reports are the user's.
Error.stackTraceLimit = 0;

export default {
  async fetch(request, env) {
    if (request.headers.get("celld-token") !== env.TOKEN) return new Response("not for you", { status: 403 });
    switch (request.headers.get("celld-kind")) {
      case "request":
        return relay(request, env);
      case "run":
        return openRun(request, env);
      case "ping":
        return new Response("pong");
      case "worker":
        return Response.json(await ask(workerOf(request, env), "exports", nameOf(request, env)));
      case "scheduled":
        return scheduled(request, env);
      case "collect":
        return collectAll(env);
      case "drain":
        await ask(workerOf(request, env), "drain");
        return new Response("drained");
    }
    return new Response("unknown kind", { status: 400 });
  },
};

/** What tells a Worker its name, where its lines need it. */
function nameOf(request, env) {
  return Object.keys(env.WORKERS).length > 1 ? { name: request.headers.get("celld-worker") } : {};
}

/** Collect the garbage of the workers that have Workflows, and that of the bridge. */
async function collectAll(env) {
  const classes = new Map(Object.values(env.WORKFLOWS).map((found) => [found.user, found.class]));
  for (const name of classes.values()) await ask(env[name], "collect");
  collect();
  return new Response("collected");
}

/** Open the socket of a run, in the isolate of its code. */
function openRun(request, env) {
  const name = env.WORKFLOWS[request.headers.get("celld-workflow")]?.class;
  if (name === undefined) return new Response("no such Workflow", { status: 404 });
  return env[name].fetch("http://celld/", { headers: { upgrade: "websocket", [INTERNAL]: "run" } });
}
