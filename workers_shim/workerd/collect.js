// V8's garbage collector, which a flag puts here under this name. User code does not see it.

const { celldCollect: gc } = globalThis;

globalThis.celldCollect = undefined; // it cannot be deleted

/** Collect this isolate's garbage, as thoroughly as V8 does when memory runs out: the rest is given back too. */
export function collect() {
  gc({ type: "major", flavor: "last-resort" });
}
