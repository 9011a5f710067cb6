// A call of the `scheduled` handler. The bridge has no other way to make one: the runtime's own method for it is
// experimental, and without it `scheduled` is an RPC call like any other, without controller and outcome.

import { counted } from "./background.js";
import { asData } from "./stacks.js";

/** Call the handler and wait for what it hands to `waitUntil`, which counts as a part of it; gives how that went. */
export async function callScheduled({ cron, scheduledTime }, ctx, handler) {
  const answer = { outcome: "ok", noRetry: false };
  const noRetry = () => void (answer.noRetry = true);
  const work = new Set();
  counted(ctx, (promise) => work.add(promise));
  try {
    if (handler === undefined) throw new Error("Handler does not export a scheduled() function.");
    await handler({ cron, scheduledTime, noRetry });
    for (const promise of work) await promise; // a set goes on to what is added meanwhile
  } catch (error) {
    const { name, message, stack } = asData(error);
    Object.assign(answer, { outcome: "exception", error: { name: name || "Error", message }, stack });
  }
  return answer;
}
