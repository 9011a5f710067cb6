// A Hono app with a Workflow, as `create-hono` lays one out: the app is the default export.

import { Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import { stream } from "hono/streaming";

import type { Bindings } from "./workflow";

export { LetterWorkflow } from "./workflow";

const app = new Hono<{ Bindings: Bindings }>();

app.use("*", async (context, next) => {
  await next();
  context.header("x-served-by", "hono");
});

app.post("/letters", async (context) => {
  const { to } = await context.req.json<{ to: string }>();
  if (!to) throw new HTTPException(400, { message: "to whom?" });
  const { id } = await context.env.LETTERS.create({ params: { to } });
  return context.json({ id }, 201);
});

app.get("/letters/:id", async (context) => {
  const instance = await context.env.LETTERS.get(context.req.param("id"));
  return context.json(await instance.status());
});

app.get("/lines/:count", (context) =>
  stream(context, async (lines) => {
    for (let i = 0; i < Number(context.req.param("count")); i++) await lines.write(`line ${i}\n`);
  }),
);

app.get("/broken", () => {
  throw new Error("broken on purpose");
});

app.onError((error, context) => {
  if (error instanceof HTTPException) return error.getResponse();
  return context.json({ error: error.message }, 500);
});

export default app;
