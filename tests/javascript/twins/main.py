# The same as main.js, in Python; change both.
# mypy: ignore-errors

import asyncio
from urllib.parse import parse_qs, urlsplit

from workers import Response, WorkerEntrypoint, WorkflowEntrypoint

PATIENT = {"retries": {"limit": 3, "delay": 10, "backoff": "linear"}, "timeout": "5 seconds"}
ONCE = {"retries": {"limit": 0, "delay": 1}}


class Life(WorkflowEntrypoint):
    async def run(self, event, step):
        @step.do("first")
        async def first():
            return {"number": 2, "text": "naïve 🌍", "list": [1, True, "x", 2.5]}

        given = await first()

        def part(n):
            @step.do("part")
            async def work():
                return n * given["number"]

            return work()

        parts = await asyncio.gather(*(part(n) for n in (1, 2, 3)))

        @step.do("tried again", config=PATIENT)
        async def tried(ctx):
            if ctx["attempt"] < 3:
                raise RuntimeError("not yet")
            return ctx["attempt"]

        attempts = await tried()

        @step.do("outer")
        async def outer():
            @step.do("inner")
            async def inner():
                return 5

            return await inner() + 1

        nested = await outer()

        await step.sleep("nap", 20)
        go = await step.wait_for_event("wait", "go", timeout="1 minute")
        try:
            await step.wait_for_event("never", "never", timeout=20)
        except Exception:
            await step.sleep("after the wait", "10 milliseconds")

        @step.do("secret", config={"sensitive": "output"})
        async def secret():
            return "secret"

        await secret()
        return {"parts": parts, "attempts": attempts, "nested": nested, "go": go["payload"]}


class Undone(WorkflowEntrypoint):
    async def run(self, event, step):
        async def undo():
            pass

        for name in ("a", "b"):

            @step.do(name, rollback=undo, rollback_config=PATIENT)
            async def made():
                return 1

            await made()

        @step.do("bad", config=ONCE)
        async def bad():
            raise RuntimeError("bad")

        await bad()


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        asked = {name: values[0] for name, values in parse_qs(urlsplit(request.url).query).items()}
        workflow = self.env.LIFE if asked["workflow"] == "life" else self.env.UNDONE
        if request.method == "POST":
            await workflow.create({"id": asked["id"], "params": {"n": 1}})
        instance = await workflow.get(asked["id"])
        if "send" in asked:
            await instance.send_event({"type": "go", "payload": {"number": 7}})
        return Response.json({"status": (await instance.status())["status"]})
