// Work that handlers hand to `waitUntil`: a reload waits for it.

const LOOK = 20; // ms

let pending = 0; // promises that are not settled

/** A context whose `waitUntil` is heard of; `heard` is given each promise. */
export function counted(ctx, heard = () => {}) {
  const { waitUntil } = ctx;
  ctx.waitUntil = (work) => {
    const promise = Promise.resolve(work); // once: a query that only runs when it is waited for would run twice
    const over = () => void (pending -= 1);
    pending += 1;
    promise.then(over, over);
    heard(promise);
    return waitUntil.call(ctx, promise);
  };
  return ctx;
}

/** Wait until all of it is done. Another request's promises cannot be awaited in this one. */
export async function drained() {
  while (pending > 0) await scheduler.wait(LOOK);
}
