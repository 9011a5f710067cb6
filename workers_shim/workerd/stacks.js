// Stacks of errors, which RPC does not carry: kept here until the bridge asks.

import { NonRetryableError } from "cloudflare:workflows";

import { told, warnOnce } from "./console.js";

const KEPT = 64;
const recent = [];

/** An error as data. Code may throw anything, and its getters may throw in turn. */
export function asData(error, inFetch = false) {
  try {
    told(error, inFetch);
    warnOfName(error);
    if (error instanceof Error || error instanceof DOMException) {
      return { name: String(error.name), message: String(error.message), stack: withCauses(error) };
    }
    return { name: "", message: String(error), stack: "" };
  } catch {
    return { name: "", message: "an error that cannot be read", stack: "" };
  }
}

/** Cloudflare knows the error by its name, which the constructor takes as its second argument. */
function warnOfName(error) {
  if (!(error instanceof NonRetryableError) || String(error.name).startsWith("NonRetryableError")) return;
  warnOnce(
    `A NonRetryableError with the name ${error.name} is retried, as on Cloudflare: ` +
      "only one that is called NonRetryableError ends a step. Leave its second argument out.",
  );
}

function withCauses(error) {
  const parts = [String(error.stack ?? "")];
  for (let cause = error.cause; cause instanceof Error && parts.length < 8; cause = cause.cause) {
    parts.push(`Caused by: ${cause.stack}`);
  }
  return parts.join("\n");
}

/** Keep an error that `fetch` threw. */
export function keepFailure(error) {
  recent.push(asData(error, true));
  if (recent.length > KEPT) recent.shift();
}

/** The newest kept error that has arrived elsewhere with this name and message. */
export function failureOf({ name, message }) {
  return recent.findLast((kept) => isSame(kept, name, message));
}

/** Whether a kept error arrives elsewhere with this name and message: custom names become part of the text. */
function isSame(kept, name, message) {
  return (
    (kept.name === name && kept.message === message) ||
    message === `${kept.name}: ${kept.message}` ||
    (kept.message === "" && message === kept.name) ||
    (kept.name === "" && message === kept.message)
  );
}
