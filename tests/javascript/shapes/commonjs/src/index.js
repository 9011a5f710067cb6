// A Worker that leans on Node: built-in modules with and without their prefix, and a CommonJS package that requires one.

import { WorkflowEntrypoint } from "cloudflare:workers";
import mime from "mime-types";
import { createHash } from "crypto";
import { EventEmitter, once } from "node:events";

export class Upload extends WorkflowEntrypoint {
  async run(event, step) {
    const type = await step.do("look", async () => mime.contentType(event.payload.name));
    const digest = await step.do("hash", async () => {
      return createHash("sha256").update(this.env.SALT).update(Buffer.from(event.payload.text)).digest("hex");
    });
    const said = await step.do("listen", async () => {
      const emitter = new EventEmitter();
      setTimeout(() => emitter.emit("said", "done"), 5);
      const [word] = await once(emitter, "said");
      return word;
    });
    return { type, digest, said };
  }
}

export default {
  async fetch(request, env) {
    const url = new URL(request.url);
    if (url.pathname === "/salt") return Response.json({ env: env.SALT, process: process.env.SALT });
    if (request.method === "POST") {
      const { id } = await env.UPLOADS.create({ params: await request.json() });
      return Response.json({ id }, { status: 201 });
    }
    return Response.json(await (await env.UPLOADS.get(url.searchParams.get("id"))).status());
  },
};
