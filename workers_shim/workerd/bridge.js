// The bridge: the one worker of ours in workerd. The host reaches the user's code through it (requests, runs, cron), and
// the user's code reaches the host (bindings). Its compatibility date is part of how it works: see errors.js.

import { ask, workerOf } from "./internal.js";
import { relay, scheduled } from "./relay.js";
import { openRun } from "./run_socket.js";

export { WorkflowBinding } from "./binding.js";

export default {
  async fetch(request, env, ctx) {
    if (request.headers.get("celld-token") !== env.TOKEN) return new Response("not for you", { status: 403 });
    switch (request.headers.get("celld-kind")) {
      case "request":
        return relay(request, env);
      case "run":
        return openRun(env, ctx);
      case "ping":
        return new Response("pong");
      case "worker":
        return Response.json(await ask(workerOf(request, env), "exports", nameOf(request, env)));
      case "scheduled":
        return scheduled(request, env);
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
