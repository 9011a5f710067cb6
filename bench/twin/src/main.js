// The same Worker as ../../worker/src/main.py, in JavaScript; change both.

import { WorkerEntrypoint, WorkflowEntrypoint } from "cloudflare:workers";

const BATCH = 100; // instances that one createBatch takes
const CHUNK = 64 * 1024;

// Trivial steps, one after another; tells when it ended, so that no polling blurs the figure.
export class Steps extends WorkflowEntrypoint {
  async run(event, step) {
    for (let i = 0; i < event.payload.n; i++) {
      await step.do(`s${i}`, async () => 1);
    }
    return { ended: Date.now() };
  }
}

// Steps whose side effect is a line in an append-only file. A Worker in workerd has no file system: it asks the
// bench to write the line.
export class Ticks extends WorkflowEntrypoint {
  async run(event, step) {
    for (let i = 0; i < event.payload.n; i++) {
      await step.do(`t${i}`, async () => {
        await (await fetch(event.payload.url, { method: "POST", body: `${i}\n` })).text();
      });
    }
  }
}

// Sleeps, as most instances do most of the time.
export class Sleeper extends WorkflowEntrypoint {
  async run(event, step) {
    await step.sleep("long", "30 days");
  }
}

// What the bench's client asks.
export default class extends WorkerEntrypoint {
  async fetch(request) {
    const url = new URL(request.url);
    const query = Object.fromEntries(url.searchParams);
    if (url.pathname === "/create") {
      const wanted = await request.json();
      const instance = await this.workflow(wanted.workflow).create({ id: wanted.id, params: wanted.params });
      return Response.json({ id: instance.id });
    }
    if (url.pathname === "/batch") return Response.json(await this.batch(await request.json()));
    if (url.pathname === "/status") {
      const instance = await this.workflow(query.workflow).get(query.id);
      const status = await instance.status();
      return Response.json({ status: status.status, output: status.output });
    }
    if (url.pathname === "/download") return new Response(chunks(Number(query.bytes)));
    if (url.pathname === "/upload") return Response.json({ bytes: await count(request.body) });
    return new Response("ok");
  }

  workflow(name) {
    return this.env[name.toUpperCase()];
  }

  async batch(wanted) {
    let made = 0;
    for (let first = 0; first < wanted.count; first += BATCH) {
      const instances = [];
      for (let i = first; i < Math.min(first + BATCH, wanted.count); i++) {
        instances.push({ id: `${wanted.prefix}${i}`, params: wanted.params });
      }
      made += (await this.workflow(wanted.workflow).createBatch(instances)).length;
    }
    return { made };
  }
}

// A stream that makes its next chunk when it is asked for it.
function chunks(size) {
  let left = size;
  return new ReadableStream({
    pull(controller) {
      controller.enqueue(new Uint8Array(Math.min(CHUNK, left)));
      left -= CHUNK;
      if (left <= 0) controller.close();
    },
  });
}

async function count(body) {
  let size = 0;
  for await (const chunk of body) size += chunk.byteLength;
  return size;
}
