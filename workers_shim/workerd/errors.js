// Errors as the bridge meets them, and as they cross to the host.
//
// What arrives over RPC has been through workerd's own conversion: an error with a name of its own is an `Error` whose
// message begins with that name. That form is journalled, because it is the one that user code gets back.

import { errorOf } from "./unflatten.js";

const HUNG = "detected that your Worker's code had hung and would never generate a response";
const STUB = "RpcStub cannot be serialized in this context";
const FOR_RPC_ONLY = new Set(["ReadableStream", "WritableStream", "AbortSignal"]);

/** An error of the engine, as user code sees it after the hop. */
export function engineError(name, message) {
  return new Error(`${name}: ${message}`);
}

/** A received error as `ErrorData`. */
export function describe(error) {
  return error instanceof Error || error instanceof DOMException
    ? { name: String(error.name), message: String(error.message) }
    : { name: "Error", message: String(error) };
}

/** The error that user code gets for an `ErrorData`. */
export function revive(data) {
  return errorOf(data);
}

/** What Cloudflare's engine says of a value that it cannot keep, where no text of its own is for that. */
export function notCloned(error) {
  const what = FOR_RPC_ONLY.has(error.message) ? `${error.message} can only be serialized for RPC` : STUB;
  return new DOMException(`${what}.`, "DataCloneError");
}

/** Whether workerd ended code because it waits for nothing of its own. */
export function isHung(error) {
  return error instanceof Error && error.message.includes(HUNG);
}
