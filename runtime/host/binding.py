"""The methods of ``env.MY_WORKFLOW`` and of its instances, for the isolates of every language."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable
from typing import Any

from runtime.engine import Decision, Failure
from runtime.engine import commands as cmd
from runtime.engine.views import failure, status
from runtime.store.types import Key
from workers_shim.wire import devalue
from workers_shim.wire.neutral import Undefined

from . import binding_rules as rules
from .binding_rules import Refused, not_found, workflow_error
from .instances import Instances, NotFound
from .new_instance import NewInstance
from .retention import asked_retention
from .subscriptions import Subscriptions
from .values import EMPTY_OBJECT, UNDEFINED, UNDEFINED_VALUE, build, json_shaped, plain

Arguments = list[Any]
_SHARED = ("params", "retention", "locationHint")


class Bindings:
    """Answers `bind` messages. Values of users stay text all the way to the journal."""

    def __init__(self, instances: Instances, subscriptions: Subscriptions, advise: Callable[[Key, str], None]) -> None:
        self._instances = instances
        self._advise = advise
        self._subscriptions = subscriptions
        self._operations: dict[str, Callable[[str, Arguments], Awaitable[Any]]] = {
            "create": self._create,
            "createBatch": self._create_batch,
            "get": self._get,
            "deleteBatch": self._delete_batch,
            "status": self._status,
            "pause": self._command(lambda options: cmd.Pause()),
            "resume": self._command(lambda options: cmd.Resume()),
            "terminate": self._command(_terminate),
            "restart": self._command(_restart),
            "sendEvent": self._send_event,
            "delete": self._delete,
            "next": self._next,
            "dispose": self._dispose,
        }

    async def call(self, workflow: str, operation: str, args: str, caller: object = None) -> str:
        """Perform one operation; gives devalue text, raises `Refused` with what user code is to see.

        Subscriptions last no longer than their ``caller``, whose end `lost` tells.
        """
        given = [None if isinstance(arg, Undefined) else plain(arg) for arg in devalue.parse(args)]
        try:
            if operation == "subscribe":
                answer = await self._subscribe(workflow, given, caller)
            else:
                answer = await self._operations[operation](workflow, given)
        except NotFound:
            raise not_found() from None
        return UNDEFINED_VALUE if answer is UNDEFINED else build(answer)

    # ----------------------------------------------------------------------------------------------------- create

    async def _create(self, workflow: str, args: Arguments) -> Any:
        options = args[0] if args and args[0] is not None else {}
        if not isinstance(options, dict):
            raise workflow_error(rules.INVALID_ARGUMENT)
        new = self._new(workflow, options)
        if not rules.is_id(new.id):
            raise workflow_error(rules.INVALID_ID)
        if await self._instances.create(workflow, [new]):
            raise rules.already_exists(new.id)
        return {"id": new.id}

    async def _create_batch(self, workflow: str, args: Arguments) -> Any:
        given = args[0] if args else None
        if isinstance(given, list):
            return await self._create_list(workflow, given)
        if not isinstance(given, dict) or not given.keys() & {"count", "instances"}:
            raise workflow_error(rules.INVALID_ARGUMENT)
        wanted = _counted(given) if "count" in given else _listed(given)
        return await self._create_object(workflow, [self._new(workflow, options) for options in wanted])

    async def _create_list(self, workflow: str, given: list[Any]) -> Any:
        """The older form: ids that exist, or that stand twice in the list, are left out of the answer."""
        if not given:
            raise workflow_error(rules.NONE_TO_CREATE)
        if len(given) > rules.MAX_BATCH:
            raise workflow_error(rules.TOO_MANY_TO_CREATE)
        if not all(isinstance(options, dict) for options in given):
            raise workflow_error(rules.INVALID_ARGUMENT)
        wanted = [self._new(workflow, options) for options in given]
        if not all(rules.is_id(new.id) for new in wanted):
            raise workflow_error(rules.INVALID_ID)
        unique = {new.id: new for new in reversed(wanted)}
        existed = await self._instances.create(workflow, list(unique.values()))
        seen: set[str] = set(existed)
        return [{"id": new.id} for new in wanted if not (new.id in seen or seen.add(new.id))]  # type: ignore[func-returns-value]

    async def _create_object(self, workflow: str, wanted: list[NewInstance]) -> Any:
        unique: dict[str, NewInstance] = {}
        codes: dict[int, tuple[int, str]] = {}
        for index, new in enumerate(wanted):
            if new.id in unique:
                codes[index] = rules.DUPLICATE_IN_BATCH
            else:
                unique[new.id] = new
        existed = await self._instances.create(workflow, list(unique.values()))
        for index, new in enumerate(wanted):
            if new.id in existed:
                codes.setdefault(index, rules.ALREADY_EXISTS)
        created = [{"id": new.id} for index, new in enumerate(wanted) if index not in codes]
        errors = [
            {"index": index, "id": wanted[index].id, "code": code, "message": message}
            for index, (code, message) in sorted(codes.items())
        ]
        return {"created": created, "errors": errors}

    def _new(self, workflow: str, options: dict[str, Any]) -> NewInstance:
        params = options.get("params", EMPTY_OBJECT)
        _check_size(params)
        id = options["id"] if "id" in options else str(uuid.uuid4())

        def advise(text: str) -> None:
            self._advise(Key(workflow, str(id)), text)

        retention = asked_retention(options.get("retention"), self._instances.rules(workflow), advise)
        return NewInstance(id, params, retention)

    # ------------------------------------------------------------------------------------------------ get and delete

    async def _get(self, workflow: str, args: Arguments) -> Any:
        key = _key(workflow, args)
        await self._instances.exists(key)
        return {"id": key.id}

    async def _delete(self, workflow: str, args: Arguments) -> Any:
        try:
            await self._instances.delete(_key(workflow, args))
        except (NotFound, Refused):
            raise workflow_error(rules.MISSING) from None
        return UNDEFINED

    async def _delete_batch(self, workflow: str, args: Arguments) -> Any:
        ids = args[0] if args else None
        if not isinstance(ids, list):
            raise workflow_error(rules.INVALID_ARGUMENT)
        if len(ids) > rules.MAX_BATCH:
            raise workflow_error(rules.TOO_MANY_TO_DELETE)
        if not ids:
            raise workflow_error(rules.NONE_TO_DELETE)
        if not all(rules.is_addressable(id) for id in ids):
            raise workflow_error(rules.BAD_INSTANCE_ID)
        outcomes = {id: await self._delete_one(Key(workflow, id)) for id in dict.fromkeys(ids)}
        deleted = [{"id": id} for id in ids if outcomes[id] is None]
        failed = [(id, outcome) for id in ids if (outcome := outcomes[id]) is not None]
        return {
            "deleted": deleted,
            "errors": [{"id": id, "code": code, "message": message} for id, (code, message) in failed],
        }

    async def _delete_one(self, key: Key) -> tuple[int, str] | None:
        try:
            await self._instances.delete(key)
        except NotFound:
            return rules.INSTANCE_NOT_FOUND
        except Exception as error:
            # The caller sees a code only, as on Cloudflare; the developer sees the reason.
            self._instances.report(key, error)
            return rules.INTERNAL_ERROR
        return None

    # ---------------------------------------------------------------------------------------------------- instances

    async def _status(self, workflow: str, args: Arguments) -> Any:
        key = _key(workflow, args)
        shown = status(await self._instances.state(key), held_back=self._instances.runs.held_back(key))
        if shown["output"] is not None:
            shown["output"] = json_shaped(shown["output"].text)
        shown.setdefault("error", UNDEFINED)
        return shown

    def _command(self, make: Callable[[Any], cmd.Command]) -> Callable[[str, Arguments], Awaitable[Any]]:
        async def perform(workflow: str, args: Arguments) -> Any:
            key = _key(workflow, args)
            await self._instances.exists(key)
            _judge(await self._instances.ask(key, make(args[1] if len(args) > 1 else None)))
            return UNDEFINED

        return perform

    async def _send_event(self, workflow: str, args: Arguments) -> Any:
        key = _key(workflow, args)
        event = args[1] if len(args) > 1 else None
        if not isinstance(event, dict):
            kind = "null" if len(args) > 1 and event is None else "undefined"
            raise Refused(Failure("TypeError", f"Cannot read properties of {kind} (reading 'payload')"))
        payload = event.get("payload", UNDEFINED_VALUE)
        await self._instances.exists(key)
        _judge(await self._instances.ask(key, cmd.SendEvent(event.get("type"), payload, _size(payload))))
        return UNDEFINED

    # ------------------------------------------------------------------------------------------------ subscriptions

    def lost(self, caller: object) -> None:
        """A caller is gone, and what it followed with it."""
        self._subscriptions.lost(caller)

    async def _subscribe(self, workflow: str, args: Arguments, caller: object) -> Any:
        options = args[1] if len(args) > 1 else {}
        key = _key(workflow, args)
        try:
            await self._instances.exists(key)
        except NotFound:
            raise workflow_error(rules.MISSING) from None
        number = await self._subscriptions.open(key, options, caller)
        if isinstance(number, Failure):
            raise Refused(number)
        return number

    async def _next(self, workflow: str, args: Arguments) -> Any:
        event = await self._subscriptions.next(args[0])
        if isinstance(event, Failure):
            raise Refused(event)
        return {"done": True, "value": UNDEFINED} if event is None else {"done": False, "value": event}

    async def _dispose(self, workflow: str, args: Arguments) -> Any:
        self._subscriptions.close(args[0])
        return UNDEFINED


def _size(text: str) -> int:
    """A value's size in structured-clone bytes; only a text that may be over the limit is worth counting."""
    return devalue.clone_size(text) if len(text) > rules.MAX_VALUE else 0


def _check_size(text: str) -> None:
    """1 MiB for params and for an event's payload (production's limit); the text is never shorter than the value."""
    if _size(text) > rules.MAX_VALUE:
        raise workflow_error(rules.PAYLOAD_TOO_LARGE)


def _counted(given: dict[str, Any]) -> list[dict[str, Any]]:
    count = given["count"]
    if not rules.is_whole(count) or count <= 0:
        raise workflow_error(rules.COUNT_NOT_POSITIVE)
    if count > rules.MAX_BATCH:
        raise workflow_error(rules.COUNT_TOO_LARGE)
    shared: dict[str, Any] = {name: given[name] for name in _SHARED if name in given}
    rules.check_instance(shared)
    return [shared] * int(count)


def _listed(given: dict[str, Any]) -> list[dict[str, Any]]:
    instances = given["instances"]
    if not isinstance(instances, list):
        raise workflow_error(rules.INVALID_ARGUMENT)
    if not 0 < len(instances) <= rules.MAX_BATCH:
        raise workflow_error(rules.BAD_BATCH_SIZE)
    for options in instances:
        if not isinstance(options, dict):
            raise workflow_error(rules.INVALID_ARGUMENT)
        rules.check_instance(options)
    return instances


def _key(workflow: str, args: Arguments) -> Key:
    """The instance that a method is called on. A malformed id names none, like any other unknown id."""
    id = args[0] if args else None
    if not isinstance(id, str):
        raise not_found()
    return Key(workflow, id)


def _judge(decision: Decision) -> None:
    if decision.refusal is not None:
        raise Refused(decision.refusal)


def _terminate(options: Any) -> cmd.Command:
    return cmd.Terminate(rollback=isinstance(options, dict) and options.get("rollback") is True)


def _restart(options: Any) -> cmd.Command:
    origin = options.get("from") if isinstance(options, dict) else None
    if origin is None:
        return cmd.Restart()
    if not isinstance(origin, dict):
        origin = {"name": "undefined"}  # what JavaScript reads of it, and tells
    name, count = origin.get("name"), origin.get("count", 1)
    whole = int(count) if rules.is_whole(count) else 0
    return cmd.Restart(name, whole, origin.get("type", "do"), partial=True)


def error_data(refused: Refused) -> dict[str, str]:
    """A refusal as the wire has it."""
    return failure(refused.failure)
