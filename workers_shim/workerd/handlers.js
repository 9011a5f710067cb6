// The default export of a user's worker, wrapped: it keeps the errors of its handlers, and answers the bridge in front
// of the user's own `fetch`.

import { WorkerEntrypoint, WorkflowEntrypoint } from "cloudflare:workers";

import { counted } from "./background.js";
import { runInRequest } from "./console.js";
import { hide } from "./hidden.js";
import { INTERNAL } from "./internal.js";
import { keepFailure } from "./stacks.js";

const NO_FETCH = "Handler does not export a fetch() function.";

/** The default export in place of `worker`. `answer(question, request, ctx, scheduled)` makes what the bridge gets. */
export function wrapped(worker, answer) {
  if (isEntrypoint(worker)) return wrappedClass(worker, answer);
  // Of any other function, and of what is no object, workerd makes a Worker without handlers.
  return wrappedObject(typeof worker === "object" && worker !== null ? worker : {}, answer);
}

function wrappedObject(handlers, answer) {
  const outside = Object.create(handlers);
  // Called on the object itself, which may have private fields.
  for (const name of methodsOf(handlers)) define(outside, name, (...given) => handlers[name](...given));
  define(outside, "fetch", (request, env, ctx) => {
    hide(env);
    const question = request.headers.get(INTERNAL);
    if (question === null) return kept(handlers, [request, env, counted(ctx)]);
    const { scheduled } = handlers;
    return answer(question, request, ctx, scheduled && ((controller) => handlers.scheduled(controller, env, ctx)));
  });
  return outside;
}

function wrappedClass(Worker, answer) {
  class Wrapped extends Worker {
    constructor(ctx, env) {
      hide(env);
      try {
        super(counted(ctx), env);
      } catch (error) {
        // So does every request that it is made for; but what the bridge asks is not the instance's to answer.
        const broken = brokenInstance(Wrapped.prototype, error);
        return Object.create(broken, { fetch: { value: fetchOf(broken, ctx, answer) } });
      }
      define(this, "fetch", fetchOf(this, ctx, answer)); // on the instance, where it may be a field of the user's class
    }
  }
  define(Wrapped, "name", Worker.name);
  return Wrapped;
}

function fetchOf(instance, ctx, answer) {
  const { fetch } = instance;
  const handlers = { fetch: fetch && ((request) => fetch.call(instance, request)) };
  return (request) => {
    const question = request.headers.get(INTERNAL);
    if (question === null) return kept(handlers, [request]);
    return answer(question, request, ctx, instance.scheduled && ((controller) => instance.scheduled(controller)));
  };
}

/** What stands for an instance whose constructor threw: every method throws that. */
function brokenInstance(prototype, error) {
  const broken = Object.create(prototype);
  for (const name of ["fetch", ...methodsOf(prototype)]) {
    define(broken, name, () => {
      throw error;
    });
  }
  return broken;
}

/** Call `fetch`; what it throws is kept for the bridge. */
async function kept(handlers, given) {
  try {
    if (typeof handlers.fetch !== "function") throw new Error(NO_FETCH);
    return await runInRequest(() => handlers.fetch(...given));
  } catch (error) {
    keepFailure(error);
    throw error;
  }
}

/** The methods of a default export, or of its class and those between it and the runtime's. */
export function handlersOf(worker) {
  if (isEntrypoint(worker)) return methodsOf(worker.prototype);
  return typeof worker === "object" && worker !== null ? methodsOf(worker) : [];
}

/** The methods that objects with this prototype have of the user. */
export function methodsOf(root) {
  const found = new Set();
  const ends = [Object.prototype, WorkerEntrypoint.prototype, WorkflowEntrypoint.prototype];
  for (let object = root; object && !ends.includes(object); object = Object.getPrototypeOf(object)) {
    const isPlain = Object.getPrototypeOf(object) === Object.prototype;
    for (const [name, { value, get }] of Object.entries(Object.getOwnPropertyDescriptors(object))) {
      // A namespace that was bundled has getters; a getter of a class may need more than is there by now.
      const method = get !== undefined && isPlain && object === root ? root[name] : value;
      if (typeof method === "function" && name !== "constructor") found.add(name);
    }
  }
  return [...found].sort();
}

function isEntrypoint(value) {
  return typeof value === "function" && value.prototype instanceof WorkerEntrypoint;
}

/** Put a property on an object, hidden as methods are. */
export function define(object, name, value) {
  Object.defineProperty(object, name, { value, configurable: true, writable: true });
}
