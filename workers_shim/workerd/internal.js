// Questions to the entry of a user's worker (entry.js), which answers them in front of the user's own handler.

export const OURS = "celld-"; // so begin the headers that only host, bridge and entry may say to each other

/** The header of a question. It cannot come from outside: the bridge takes it off the requests of clients. */
export const INTERNAL = "celld-internal";

/** The user's worker that a request of the host is for. */
export function workerOf(request, env) {
  return env[env.WORKERS[request.headers.get("celld-worker")]];
}

/** Ask; gives the JSON of the answer. */
export async function ask(worker, question, asked = {}) {
  const headers = { [INTERNAL]: question };
  const response = await worker.fetch("http://celld/", { method: "POST", headers, body: JSON.stringify(asked) });
  return response.json();
}

/** What the entry keeps of an error that arrived here, its stack above all; undefined when it keeps nothing. */
export async function keptOf(worker, asked) {
  try {
    return (await ask(worker, "failure", asked)) ?? undefined;
  } catch {
    return undefined; // the module has lost its default export, or is stuck: the error is told without its stack
  }
}
