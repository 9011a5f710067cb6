// Requests of clients, and cron: from the host to the user's handlers and back.

import { OURS, ask, keptOf, workerOf } from "./internal.js";

const LONGEST = 4000; // characters of what a header tells; up to six bytes each

/** Pass a client's request on. What the Worker throws becomes a response that only the host reads. */
export async function relay(request, env) {
  const name = request.headers.get("celld-worker");
  const front = env[env.FRONTS[name] ?? env.WORKERS[name]];
  try {
    return without(await front.fetch(new Request(request, { headers: theirs(request), redirect: "manual" })));
  } catch (error) {
    const told = await failure(workerOf(request, env), error);
    if (request.method !== "HEAD") return Response.json(told, { status: 500, headers: { "celld-failure": "1" } });
    return new Response(null, { status: 500, headers: { "celld-failure": inHeader(told) } }); // it has no body
  }
}

/** What is told of a failure as a header's value: ASCII, and not too long for one. */
function inHeader({ error: { name, message }, stack }) {
  const told = { error: { name: name.slice(0, LONGEST), message: message.slice(0, LONGEST) }, stack: stack.slice(0, LONGEST) };
  const escaped = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(told).replace(/[\u007f-\uffff]/g, escaped);
}

/** Call the `scheduled` handler. */
export async function scheduled(request, env) {
  const worker = workerOf(request, env);
  try {
    return Response.json(await ask(worker, "scheduled", await request.json()));
  } catch (error) {
    return Response.json({ outcome: "exception", noRetry: false, ...(await failure(worker, error)) });
  }
}

/** What a handler threw: as the entry kept it, else as it arrived here. */
async function failure(worker, error) {
  const arrived = { name: error?.name ?? "Error", message: error?.message ?? String(error) };
  const kept = await keptOf(worker, arrived);
  const { name, message } = kept?.name ? kept : arrived;
  return { error: { name: String(name), message: String(message) }, stack: kept?.stack ?? "" };
}

function isOurs(name) {
  return name.startsWith(OURS);
}

/** The headers without those of ours: a client must not give orders, nor a Worker claim to have failed. */
function theirs({ headers }) {
  const kept = new Headers(headers);
  for (const name of [...headers.keys()].filter(isOurs)) kept.delete(name);
  return kept;
}

/** The response without headers of ours. It is passed on as it is where that is possible, WebSocket and all. */
function without(response) {
  if (![...response.headers.keys()].some(isOurs)) return response;
  const { body, status, statusText, webSocket } = response;
  return new Response(body, { status, statusText, webSocket, headers: theirs(response) });
}
