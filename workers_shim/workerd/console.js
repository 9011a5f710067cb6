// Whose output a console line is. workerd prints lines without their origin; so before each line of a run's code a line
// of ours says which run, step and attempt it belongs to, and how far the run had come.

import { AsyncLocalStorage } from "node:async_hooks";

import { depthOf, printingMethods } from "./console_methods.js";

const MARK = "\u0001celld ";
// Those that workerd prints. A mark without a line would be the next line's.
const METHODS = ["log", "info", "debug", "warn", "error"];

const scopes = new AsyncLocalStorage();
const requests = new AsyncLocalStorage();
const outside = {}; // what is of no run and no request

/** Run code of a run: `{run}` outside of steps, `{run, call, step, attempt}` inside of one. */
export function runInScope(scope, code) {
  return scopes.run(scope, code);
}

/** Run code of a request; the groups of its lines end with it. */
export function runInRequest(code) {
  return requests.run({}, code);
}

/** Where the code that runs now belongs; undefined when it is no run's. */
export function currentScope() {
  return scopes.getStore();
}

const mark = console.log.bind(console);

let worker; // the Worker's name, where there are several

/** The lines outside of runs say from now on whose they are. */
export function nameLines(name) {
  worker = name;
}

/** This error is told otherwise, so that workerd's own line about it is not to be; of a `fetch` the host knows whose. */
export function told(error, inFetch) {
  if (!(error instanceof Error)) return;
  mark(MARK + JSON.stringify({ told: String(error.stack), w: inFetch ? worker : undefined }));
}

/** Tell the developer something, once for each step of a run. */
export function warnOnce(text) {
  const scope = scopes.getStore();
  const said = warned.get(scope?.run) ?? new Set();
  if (scope?.step === undefined || said.has(scope.step)) return;
  warned.set(scope.run, said.add(scope.step));
  mark(MARK + JSON.stringify({ ...placeOf(scope), warning: text }));
}

const warned = new WeakMap(); // runs -> their steps

const originals = Object.fromEntries(METHODS.map((method) => [method, console[method]]));

function print(method, ...given) {
  const scope = scopes.getStore();
  const place = { ...(scope === undefined ? { w: worker } : placeOf(scope)), g: depthOf(groupOwners()) || undefined };
  const text = JSON.stringify(place);
  if (text !== "{}") mark(MARK + text);
  return Reflect.apply(originals[method], console, given);
}

/** Whose groups a line is in: those of the run, and those of the attempt in it; or those of the request. */
function groupOwners() {
  const scope = scopes.getStore();
  if (scope === undefined) return [requests.getStore() ?? outside];
  return scope.step === undefined ? [scope.run] : [scope.run, scope];
}

function replace(name, method) {
  Object.defineProperty(method, "name", { value: name });
  console[name] = method;
}

for (const method of METHODS) replace(method, (...given) => print(method, ...given));

const printing = printingMethods(print, {
  owner: () => scopes.getStore()?.run ?? outside,
  groupOwner: () => groupOwners().at(-1),
});
for (const [name, method] of Object.entries(printing)) {
  const original = console[name]; // tells an inspector
  replace(name, (...given) => {
    method(...given);
    return Reflect.apply(original, console, given);
  });
}

// Only an inspector hears of these otherwise.
addEventListener("unhandledrejection", ({ reason }) => console.error("Uncaught (in promise)", reason));

function placeOf({ run, step, attempt }) {
  return { r: run.number, s: step, a: attempt, c: run.made, v: run.settled };
}
