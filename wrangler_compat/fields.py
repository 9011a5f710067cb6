"""The keys of wrangler's configuration: how each is inherited, what it holds, what a run here makes of it.

A table of data, so that serving one more key is deleting its sentence.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

# "inherited": taken from the environment, else from the top level, whole (no merging). "own": from the environment
# only; what stands at the top level is not seen there. "top": not allowed inside an environment.
Inheritance = Literal["inherited", "own", "top"]

# What a key holds, named for the check that wrangler makes of it; see `shapes`. "any" is not looked into here.
Shape = Literal[
    "account", "any", "assets", "binding", "bindings", "choice", "date", "defines", "dev", "durable_objects", "exports",
    "flag", "limits", "migrations", "name", "optional_flag", "optional_text", "queues", "secrets", "text", "texts",
    "triggers", "vars", "workflows",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Field:
    """One key of the top level. ``unserved`` says what leaving it out means for a run here."""

    name: str
    inheritance: Inheritance
    shape: Shape = "any"
    unserved: str | None = None


_BINDINGS = "its bindings will be missing from env"
_STATIC = "static files are not served; every request goes to the Worker"
_BLOBS = "the blobs will be missing from the Worker"

TABLE: tuple[Field, ...] = (
    # what the Worker is
    Field("name", "inherited", "name"),
    Field("main", "inherited", "text"),
    Field("compatibility_date", "inherited", "date"),
    Field("compatibility_flags", "inherited", "texts"),
    Field("vars", "own", "vars"),
    Field("secrets", "own", "secrets"),
    # what it is reached by and starts
    Field("workflows", "own", "workflows"),
    Field("exports", "inherited", "exports"),
    Field("migrations", "inherited", "migrations", "Durable Object migrations are not applied"),
    Field("triggers", "inherited", "triggers"),
    Field("assets", "inherited", "assets", _STATIC),
    Field("site", "top", "any", _STATIC),
    # bindings
    Field("agent_memory", "own", "bindings"),
    Field("ai", "own", "binding"),
    Field("ai_search", "own", "bindings"),
    Field("ai_search_namespaces", "own", "bindings"),
    Field("analytics", "own", "binding"),
    Field("analytics_engine_datasets", "own", "bindings"),
    Field("artifacts", "own", "bindings"),
    Field("browser", "own", "binding"),
    Field("d1_databases", "own", "bindings"),
    Field("dispatch_namespaces", "own", "bindings"),
    Field("durable_objects", "own", "durable_objects"),
    Field("flagship", "own", "bindings"),
    Field("hyperdrive", "own", "bindings"),
    Field("images", "own", "binding"),
    Field("k2", "own", "bindings"),
    Field("kv_namespaces", "own", "bindings"),
    Field("logfwdr", "inherited", "any", "logs are not forwarded"),
    Field("media", "own", "binding"),
    Field("mtls_certificates", "own", "bindings"),
    Field("pipelines", "own", "bindings"),
    Field("queues", "own", "queues"),
    Field("r2_buckets", "own", "bindings"),
    Field("ratelimits", "own", "bindings"),
    Field("secrets_store_secrets", "own", "bindings"),
    Field("send_email", "own", "bindings"),
    Field("services", "own", "bindings"),
    Field("stream", "own", "binding"),
    Field("unsafe", "own", "any", _BINDINGS),
    Field("unsafe_hello_world", "own", "bindings"),
    Field("vectorize", "own", "bindings"),
    Field("version_metadata", "own", "binding"),
    Field("vpc_networks", "own", "bindings"),
    Field("vpc_services", "own", "bindings"),
    Field("worker_loaders", "own", "bindings"),
    Field("data_blobs", "top", "any", _BLOBS),
    Field("text_blobs", "top", "any", _BLOBS),
    Field("wasm_modules", "top", "any", "the modules will be missing from the Worker"),
    # other processes beside the Worker
    Field("cloudchamber", "own"),
    Field("connect", "own"),
    Field("containers", "own", "any", "no container is started"),
    Field("streaming_tail_consumers", "own", "any", "no tail Worker is called"),
    Field("tail_consumers", "own", "any", "no tail Worker is called"),
    # how it is built
    Field("alias", "top", "any", "modules are not renamed"),
    Field("base_dir", "inherited", "text"),
    Field("build", "inherited", "any", "the build command is not run; run it yourself before the Worker starts"),
    Field("define", "own", "defines", "names are not replaced in the code"),
    Field("find_additional_modules", "inherited", "flag"),
    Field("jsx_factory", "inherited", "text"),
    Field("jsx_fragment", "inherited", "text"),
    Field("keep_names", "inherited", "flag"),
    Field("minify", "inherited", "flag"),
    Field("no_bundle", "inherited", "flag"),
    Field("preserve_file_names", "inherited", "flag"),
    Field("python_modules", "inherited"),
    Field("rules", "inherited"),
    Field("tsconfig", "inherited", "text"),
    Field("upload_source_maps", "inherited", "flag"),
    # what matters at deploy only
    Field("access", "inherited"),
    Field("account_id", "inherited", "account"),
    Field("addresses", "top"),
    Field("cache", "inherited"),
    Field("compliance_region", "inherited", "choice"),
    Field("dependencies_instrumentation", "top"),
    Field("first_party_worker", "inherited", "flag"),
    Field("keep_vars", "top", "optional_flag"),
    Field("limits", "inherited", "limits"),
    Field("logpush", "inherited", "flag"),
    Field("observability", "inherited"),
    Field("placement", "inherited"),
    Field("preview_urls", "inherited", "flag"),
    Field("previews", "inherited"),
    Field("route", "inherited"),
    Field("routes", "inherited"),
    Field("send_metrics", "top", "optional_flag"),
    Field("workers_dev", "inherited", "flag"),
    # the file itself
    Field("$schema", "top", "optional_text"),
    Field("dev", "top", "dev"),
    Field("env", "top"),
    Field("legacy_env", "top"),  # known, because refusing it is a message of its own
    Field("pages_build_output_dir", "top", "optional_text", "Pages projects are not served; only the Worker runs"),
    # what wrangler writes into the configurations that it generates
    Field("configPath", "top"),
    Field("definedEnvironments", "top"),
    Field("targetEnvironment", "top"),
    Field("topLevelName", "top"),
    Field("userConfigPath", "top"),
)

BY_NAME: dict[str, Field] = {field.name: field for field in TABLE}


def _named(inheritance: Inheritance) -> frozenset[str]:
    return frozenset(field.name for field in TABLE if field.inheritance == inheritance)


INHERITABLE = _named("inherited")
NOT_INHERITABLE = _named("own")
TOP_LEVEL_ONLY = _named("top")
KNOWN = frozenset(BY_NAME)

# What a part of a key that is not served means for the developer.
UNSERVED_PARTS: dict[str, str] = {
    "queues.consumers": "the queue handler will not be called",
    "triggers.crons": "the scheduled handler will not be called",
    "triggers.events": "no event starts the Worker or its workflows",
}

# What is served to JavaScript all the same: by workerd itself, by the bundler, or by the host.
SERVED_TO_JAVASCRIPT = frozenset(
    {
        "alias", "assets", "define", "durable_objects.bindings", "migrations", "services", "triggers.crons",
        "version_metadata", "worker_loaders",
    }
)  # fmt: skip

# The key of a list of bindings (with a dot, of a list inside), and the entry's key that names the binding.
BINDING_LISTS: dict[str, str] = {
    **{field.name: "binding" for field in TABLE if field.shape == "bindings"},
    "durable_objects.bindings": "name",
    "queues.producers": "binding",
    "ratelimits": "name",
    "send_email": "name",
}
SINGLE_BINDINGS: tuple[str, ...] = tuple(field.name for field in TABLE if field.shape == "binding")

# What wrangler calls the kinds of bindings when two of one name clash, in the order in which it looks at them. It never
# looks at the names of ``send_email`` and ``ratelimits``.
KINDS: dict[str, str] = {
    "data_blobs": "Data Blob",
    "durable_objects": "Durable Object",
    "kv_namespaces": "KV Namespace",
    "queues": "Queue",
    "d1_databases": "D1 Database",
    "vectorize": "Vectorize Index",
    "ai_search_namespaces": "AI Search Namespace",
    "ai_search": "AI Search Instance",
    "agent_memory": "Agent Memory",
    "hyperdrive": "Hyperdrive Config",
    "r2_buckets": "R2 Bucket",
    "logfwdr": "logfwdr",
    "services": "Worker",
    "analytics_engine_datasets": "Analytics Engine Dataset",
    "text_blobs": "Text Blob",
    "browser": "Browser Run",
    "analytics": "Analytics SQL",
    "ai": "AI",
    "images": "Images",
    "stream": "Stream",
    "media": "Media",
    "version_metadata": "Worker Version Metadata",
    "unsafe": "Unsafe Metadata",
    "vars": "Environment Variable",
    "wasm_modules": "Wasm Module",
    "dispatch_namespaces": "Dispatch Namespace",
    "mtls_certificates": "mTLS Certificate",
    "workflows": "Workflow",
    "pipelines": "Pipeline",
    "k2": "K2 Stream",
    "secrets_store_secrets": "Secrets Store Secret",
    "artifacts": "Artifacts",
    "assets": "Assets",
    "unsafe_hello_world": "Hello World",
    "flagship": "Flagship",
    "worker_loaders": "Worker Loader",
    "vpc_services": "VPC Service",
    "vpc_networks": "VPC Network",
}

# The keys that an entry of these lists may have; of those of other lists nothing is said.
ENTRY_KEYS: dict[str, frozenset[str]] = {
    "kv_namespaces": frozenset({"binding", "id", "preview_id", "remote"}),
    "d1_databases": frozenset(
        {
            "binding", "database_id", "database_internal_env", "database_name", "jurisdiction", "migrations_dir",
            "migrations_pattern", "migrations_table", "preview_database_id", "remote",
        }
    ),
    "r2_buckets": frozenset({"binding", "bucket_name", "preview_bucket_name", "jurisdiction", "remote", "local_dev"}),
    "durable_objects.bindings": frozenset({"class_name", "environment", "name", "script_name"}),
    "queues.producers": frozenset({"binding", "queue", "delivery_delay", "remote"}),
    "queues.consumers": frozenset(
        {
            "queue", "type", "max_batch_size", "max_batch_timeout", "max_retries", "dead_letter_queue",
            "max_concurrency", "visibility_timeout_ms", "retry_delay",
        }
    ),
}  # fmt: skip

DEV_TYPES: dict[str, type] = {
    "ip": str,
    "port": float,
    "inspector_port": float,
    "inspector_ip": str,
    "local_protocol": str,
    "upstream_protocol": str,
    "host": str,
    "enable_containers": bool,
    "container_engine": str,
    "generate_types": bool,
}
