"""The vocabulary between host and isolate.

Every message is a JSON object whose key ``t`` names its type. A *value* (params, results, event payloads, outputs)
travels as devalue text (`devalue.py`) inside the message and is stored as that text; the host never needs to decode it.

Who speaks: ``H>I`` host to isolate, ``I>H`` isolate to host. A *run* is one execution of a workflow's ``run()``; its
number is never used twice by one host, so that a dead run's messages can be told from a living one's. A *call* is one
use of the step API in a run, numbered by the isolate from 1 in the order in which the code made them.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

Kind = Literal["do", "sleep", "wait"]

# What a call is known by across replays: kind, name, and its number among the calls of that kind and name (from 1).
Identity = tuple[Kind, str, int]


class ErrorData(TypedDict):
    """An error as both sides and the journal keep it.

    A Python exception is ``{"name": "PythonError", "message": <traceback text>}``; a NonRetryableError (exactly that
    class) is ``{"name": "NonRetryableError", "message": <its text>}``. Errors of the engine have the name and message
    that a Worker author sees on Cloudflare. ``detail`` is for the developer only: the traceback, where the message is
    not it already.
    """

    name: str
    message: str
    detail: NotRequired[str]


# --------------------------------------------------------------------------------------------- life of an isolate


class WorkflowBindingData(TypedDict):
    """One entry of ``env`` (or of ``ctx.exports``) that is a Workflow."""

    type: Literal["workflow"]
    workflow: str


class Load(TypedDict):
    """H>I, first message: what to import and what ``env`` holds."""

    t: Literal["load"]
    role: Literal["front", "work"]
    main: str  # absolute path of the main module
    compatibility_date: str
    compatibility_flags: list[str]
    vars: dict[str, Any]  # JSON values; secrets are in here too
    env: dict[str, WorkflowBindingData]  # bindings by name
    exports: dict[str, WorkflowBindingData]  # ctx.exports by class name
    workflows: dict[str, str]  # workflow name -> class name, for the classes that live here


class Loaded(TypedDict):
    """I>H: the main module is imported. ``workflows`` are the WorkflowEntrypoint classes it exports."""

    t: Literal["loaded"]
    workflows: list[str]
    entrypoints: list[str]
    handlers: list[str]  # legacy on_* functions
    python: str  # "3.12.1"
    code: str  # digest of the project's sources that are imported now


class LoadFailed(TypedDict):
    """I>H: the import raised. ``file`` and ``line`` point at user code where they can be told.

    ``in_settings`` (JavaScript only): no edit of the code can mend it, only one of the configuration.
    """

    t: Literal["load_failed"]
    error: ErrorData
    traceback: str
    file: NotRequired[str]
    line: NotRequired[int]
    in_settings: NotRequired[bool]


class Drain(TypedDict):
    """H>I: take no more requests; answer `Drained` when responses and wait_until work are done, then exit on EOF."""

    t: Literal["drain"]


class Drained(TypedDict):
    t: Literal["drained"]


class Log(TypedDict):
    """I>H: one line (without its line end) that user code wrote, and where it was written.

    ``muted`` output of a replay is not sent at all.
    """

    t: Literal["log"]
    stream: Literal["stdout", "stderr", "warning"]  # warning: the shim's own words to the developer
    text: str
    run: NotRequired[int]
    step: NotRequired[str]  # "<name>-<count>"
    attempt: NotRequired[int]


# ------------------------------------------------------------------------------------------------------- workflows

# One line of the journal as a replay needs it, in journal order:
#   ["c", kind, name, nth, nested]                a call was made; nested is 1 when it was made inside a step's callback
#   ["v", kind, name, nth, value]                 it settled with this value (devalue text)
#   ["e", kind, name, nth, {name, message}]       it settled with this error
#   ["l", kind, name, nth]                        its value is too large to send along; make the call to get it
Entry = list[Any]


class ScheduleData(TypedDict):
    """Which cron entry created the instance, as ``event.schedule`` shows it."""

    cron: str
    scheduledTime: int  # ms since the epoch


class EventData(TypedDict):
    payload: str  # devalue text
    timestamp: int  # ms since the epoch: when the instance was created
    schedule: NotRequired[ScheduleData]


class Start(TypedDict):
    """H>I: run this instance from the top. Settlements in ``journal`` are delivered without a round trip."""

    t: Literal["start"]
    run: int
    workflow: str
    class_name: str
    instance: str
    event: EventData
    step_limit: int
    journal: list[Entry]
    undo: NotRequired[bool]  # the run is repeated for its undo functions: calls beyond the journal are never answered


class Call(TypedDict):
    """I>H: the code made a call that is not settled in the journal that came with `Start`.

    ``arg`` is devalue text: of `do` the config as given, or null (a delay *function* is replaced by the text
    "[dynamic]" and ``delay_function`` is true); of `sleep` the duration as given; of `until` the target as given
    (number of ms, Date, or text); of `wait` an object {type, timeout?}.
    """

    t: Literal["call"]
    run: int
    call: int
    kind: Literal["do", "sleep", "until", "wait"]  # until is a sleep in the journal
    name: str
    nth: int
    arg: str
    parent: NotRequired[int]  # the call in whose callback this one was made
    delay_function: NotRequired[bool]
    rollback: NotRequired[bool]
    rollback_config: NotRequired[str]  # devalue text of the undo function's config, as given
    at: NotRequired[int]  # of `until`: when the code called, ms since the epoch; a target after it is not past


class Exec(TypedDict):
    """H>I: run the callback of this `do` call. ``config`` is resolved, as the step context shows it."""

    t: Literal["exec"]
    run: int
    call: int
    attempt: int
    config: dict[str, Any]


class Began(TypedDict):
    """I>H: the callback is about to start; its timeout counts from here. Workerd's bridge does not say it."""

    t: Literal["began"]
    run: int
    call: int
    attempt: int


class Ran(TypedDict):
    """I>H: the callback ended. ``size`` is the value's size in structured-clone bytes.

    ``fatal`` (JavaScript only) is an error in place of ``error`` that ends the instance: no attempt can mend it.
    """

    t: Literal["ran"]
    run: int
    call: int
    attempt: int
    value: NotRequired[str]
    size: NotRequired[int]
    error: NotRequired[ErrorData]
    fatal: NotRequired[ErrorData]


class Cancel(TypedDict):
    """H>I: this attempt is given up (it timed out); cancel its task, say nothing more of it."""

    t: Literal["cancel"]
    run: int
    call: int
    attempt: int


class Delay(TypedDict):
    """H>I: attempt failed; ask the call's delay function. The isolate answers within 5 s, whatever it does."""

    t: Literal["delay"]
    run: int
    call: int
    attempt: int
    error: ErrorData
    config: dict[str, Any]


class Delayed(TypedDict):
    """I>H: what the delay function said: a value (devalue text), an error text, or that it did not end in 5 s."""

    t: Literal["delayed"]
    run: int
    call: int
    attempt: int
    value: NotRequired[str]
    error: NotRequired[str]  # the message of what it raised
    timeout: NotRequired[bool]


class Undo(TypedDict):
    """H>I: run the undo function of the `do` call (name, nth), when the run has made that call (again).

    ``attempt`` counts the undo function's attempts; ``context`` is the step context of the step's last attempt.
    """

    t: Literal["undo"]
    run: int
    name: str
    nth: int
    attempt: int
    context: dict[str, Any]  # {step: {name, count}, attempt, config}
    error: ErrorData  # why the instance is undone
    output: NotRequired[str]  # devalue text; absent when the step has none


class Undoing(TypedDict):
    """I>H: the undo function is about to start; its timeout counts from here."""

    t: Literal["undoing"]
    run: int
    name: str
    nth: int
    attempt: int


class Undone(TypedDict):
    """I>H: the undo function ended, or (``missing``) the code no longer comes to a call that has one."""

    t: Literal["undone"]
    run: int
    name: str
    nth: int
    attempt: int
    error: NotRequired[ErrorData]
    missing: NotRequired[bool]


class CancelUndo(TypedDict):
    """H>I: this attempt of an undo function is given up; cancel its task, say nothing more of it."""

    t: Literal["cancel_undo"]
    run: int
    name: str
    nth: int
    attempt: int


class Ret(TypedDict):
    """H>I: the call settled (or, ``refused``, was not accepted: nothing about it is in the journal)."""

    t: Literal["ret"]
    run: int
    call: int
    value: NotRequired[str]
    error: NotRequired[ErrorData]
    refused: NotRequired[bool]


class Rest(TypedDict):
    """H>I: tell me when every task of this run waits on engine calls only (`Parked`)."""

    t: Literal["rest"]
    run: int


class Parked(TypedDict):
    """I>H: it does. ``calls`` is how many `Call` messages this run has sent, ``rets`` how many `Ret` it has
    delivered: so that the host can tell an answer that crossed newer news."""

    t: Literal["parked"]
    run: int
    calls: int
    rets: int


class Awaiting(TypedDict):
    """I>H, in answer to `Rest`, once a minute while it holds: the run awaits something of its own."""

    t: Literal["awaiting"]
    run: int
    seconds: float
    longest: NotRequired[float]  # seconds that the longest single await has taken by now
    where: str  # "file:line in function"


class Mismatch(TypedDict):
    """I>H: a replayed call does not fit the journal."""

    t: Literal["mismatch"]
    run: int
    recorded: str  # 'step.do("charge") number 1'
    called: str
    file: NotRequired[str]
    line: NotRequired[int]


class Done(TypedDict):
    """I>H: run() returned or raised. The context is kept until `Release`."""

    t: Literal["done"]
    run: int
    value: NotRequired[str]
    size: NotRequired[int]
    error: NotRequired[ErrorData]


class Release(TypedDict):
    """H>I: the run is over or leaves memory: drop everything that belongs to it, silently."""

    t: Literal["release"]
    run: int


class Released(TypedDict):
    """I>H: nothing of the run is left. ``deaf`` is set when code caught its cancellation and goes on unheard."""

    t: Literal["released"]
    run: int
    deaf: NotRequired[bool]


class RunLost(TypedDict):
    """I>H (JavaScript only): the isolate lives, but this run of it does not; `Release` is still due."""

    t: Literal["lost"]
    run: int
    reason: str


# ------------------------------------------------------------------------------------------- bindings, both isolates


class Bind(TypedDict):
    """I>H: a method of a Workflow binding or of an instance.

    ``args`` is devalue text of the list of arguments as the user gave them, with the instance id in front for the
    instance's methods. A user's *value* inside them (``params`` of create, ``payload`` of sendEvent) is replaced by its
    own devalue text, so that the host can store it unread. An argument left out is simply not in the list.

    Operations: create [options], createBatch [list or object], get [id], deleteBatch [ids], status [id], pause [id],
    resume [id], delete [id], terminate [id, options], restart [id, options], sendEvent [id, event],
    subscribe [id, options], next [subscription], dispose [subscription].
    """

    t: Literal["bind"]
    id: int
    workflow: str
    op: str
    args: str


class Bound(TypedDict):
    """H>I: the answer, a value (devalue text) or an error to raise."""

    t: Literal["bound"]
    id: int
    value: NotRequired[str]
    error: NotRequired[ErrorData]


# ------------------------------------------------------------------------------------------------------------ HTTP


class Request(TypedDict):
    """H>I: an ASGI http scope. The body follows as DATA frames on stream ``id``, then END."""

    t: Literal["request"]
    id: int
    method: str
    url: str  # absolute, as the client asked for it
    headers: list[tuple[str, str]]  # latin-1 text, in order
    http_version: str
    client: NotRequired[tuple[str, int]]


class ResponseStart(TypedDict):
    """I>H: status and headers. The body follows as DATA frames on stream ``id``, then END."""

    t: Literal["response"]
    id: int
    status: int
    headers: list[tuple[str, str]]


class RequestFailed(TypedDict):
    """I>H: the Worker raised. Before `ResponseStart` the host shows an error page, after it the client is cut off.

    ``refused``: nothing of the request has come to the Worker, whose process is about to be told lost.
    """

    t: Literal["request_failed"]
    id: int
    error: ErrorData
    traceback: str
    file: NotRequired[str]
    line: NotRequired[int]
    refused: NotRequired[bool]


class Disconnect(TypedDict):
    """H>I: the client is gone. The handler goes on; what it still sends is dropped."""

    t: Literal["disconnect"]
    id: int


class Credit(TypedDict):
    """Both ways: the receiver has consumed ``bytes`` of stream ``id``; the sender may send as many more.

    A sender starts each stream with `STREAM_CREDIT` bytes.
    """

    t: Literal["credit"]
    id: int
    bytes: int


STREAM_CREDIT = 256 * 1024  # bytes in flight on one stream, each direction
MAX_FRAME = 64 * 1024  # bytes of payload in one frame
INLINE_VALUE = 64 * 1024  # characters of a settled value that travels in Start
INLINE_TOTAL = 8 * 1024 * 1024  # characters of all values in one Start

# ------------------------------------------------------------------------------ the watch channel (second descriptor)
# The host writes b"?" and the isolate's watch thread, which needs no event loop, answers with one line of JSON:


class Pulse(TypedDict):
    """``blocked``: seconds since the event loop last came round. ``run``, ``call``, ``attempt``: the callback that
    is running at this moment, if one is (an undo function has an attempt, and no call); ``code`` names the place
    ("file:line in function")."""

    blocked: float
    run: NotRequired[int]
    call: NotRequired[int]
    attempt: NotRequired[int]
    code: NotRequired[str]
    debugger: NotRequired[bool]  # a debugger holds the process: it may stand still as long as it likes
    log: NotRequired[list[Log]]  # what the blocked code has printed; it is not sent again
