// Bindings that user code does not see: this module comes before the user's, and takes them off `env`.

import { env } from "cloudflare:workers";

const OURS = "CELLD:"; // so begin their names
const services = new Map();

/** Take them off an `env`: the one to be imported, or, where the project's flags forbid that, a handler's. */
export function hide(env) {
  if (services.size > 0) return;
  for (const name of Object.keys(env)) {
    if (!name.startsWith(OURS)) continue;
    services.set(name.slice(OURS.length), env[name]);
    delete env[name];
  }
}

/** The bridge, which makes of values what RPC makes of them (hop.js). */
export function hop() {
  return services.get("hop");
}

/** The host, which takes the lines of runs (line.js). */
export function lines() {
  return services.get("lines");
}

/** The entrypoint of one of the worker's own Workflows, by the name of its class among the exports. */
export function workflow(name) {
  return services.get(`workflow:${name}`);
}

hide(env);
