"""The keys of wrangler's configuration: how each is inherited, and what leaving it out means for a run here.

A table of data, so that serving one more key is deleting its sentence.
"""

from __future__ import annotations


def _keys(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Taken from the environment, else from the top level, whole (no merging).
INHERITABLE = _keys(
    """
    access account_id assets base_dir build cache compatibility_date compatibility_flags compliance_region
    exports find_additional_modules first_party_worker jsx_factory jsx_fragment keep_names limits logfwdr
    logpush main migrations minify name no_bundle observability placement preserve_file_names preview_urls
    previews python_modules route routes rules triggers tsconfig upload_source_maps workers_dev
    """
)

# Taken from the environment only; what stands at the top level is not seen there.
NOT_INHERITABLE = _keys(
    """
    agent_memory ai ai_search ai_search_namespaces analytics_engine_datasets artifacts browser cloudchamber
    connect containers d1_databases define dispatch_namespaces durable_objects flagship hyperdrive images
    kv_namespaces media mtls_certificates pipelines queues r2_buckets ratelimits secrets
    secrets_store_secrets send_email services stream streaming_tail_consumers tail_consumers unsafe
    unsafe_hello_world vars vectorize version_metadata vpc_networks vpc_services websearch worker_loaders
    workflows
    """
)

# Not allowed inside an environment.
TOP_LEVEL_ONLY = _keys(
    """
    $schema alias data_blobs dev env keep_vars legacy_env pages_build_output_dir send_metrics site
    text_blobs wasm_modules
    """
)

KNOWN = INHERITABLE | NOT_INHERITABLE | TOP_LEVEL_ONLY

# Kinds of bindings: the key that holds a list (or, with a dot, a list inside), the entry's key that names the
# binding, and what wrangler calls the kind when two bindings clash.
BINDING_LISTS: dict[str, tuple[str, str]] = {
    "agent_memory": ("binding", "Agent Memory"),
    "ai_search": ("binding", "AI Search Instance"),
    "ai_search_namespaces": ("binding", "AI Search Namespace"),
    "analytics_engine_datasets": ("binding", "Analytics Engine Dataset"),
    "d1_databases": ("binding", "D1 Database"),
    "artifacts": ("binding", "Artifacts"),
    "dispatch_namespaces": ("binding", "Dispatch Namespace"),
    "durable_objects.bindings": ("name", "Durable Object"),
    "flagship": ("binding", "Flagship"),
    "hyperdrive": ("binding", "Hyperdrive Config"),
    "kv_namespaces": ("binding", "KV Namespace"),
    "mtls_certificates": ("binding", "mTLS Certificate"),
    "pipelines": ("binding", "Pipeline"),
    "queues.producers": ("binding", "Queue"),
    "r2_buckets": ("binding", "R2 Bucket"),
    "ratelimits": ("name", "Rate Limit"),
    "secrets_store_secrets": ("binding", "Secrets Store Secret"),
    "send_email": ("name", "Send Email"),
    "services": ("binding", "Worker"),
    "unsafe_hello_world": ("binding", "Hello World"),
    "vectorize": ("binding", "Vectorize Index"),
    "vpc_networks": ("binding", "VPC Network"),
    "vpc_services": ("binding", "VPC Service"),
    "worker_loaders": ("binding", "Worker Loader"),
    "workflows": ("binding", "Workflow"),
}

# Kinds of which a Worker has at most one: an object with the binding's name.
SINGLE_BINDINGS: dict[str, str] = {
    "ai": "AI",
    "browser": "Browser Run",
    "images": "Images",
    "media": "Media",
    "stream": "Stream",
    "version_metadata": "Worker Version Metadata",
    "websearch": "Web Search",
}

# What a key that is not served means for the developer. Keys that matter at deploy only are not listed.
CONSEQUENCES: dict[str, str] = {
    "alias": "modules are not renamed",
    "assets": "static files are not served; every request goes to the Worker",
    "build": "the build command is not run; run it yourself before the Worker starts",
    "containers": "no container is started",
    "data_blobs": "the blobs will be missing from the Worker",
    "define": "names are not replaced in the code",
    "logfwdr": "logs are not forwarded",
    "migrations": "Durable Object migrations are not applied",
    "pages_build_output_dir": "Pages projects are not served; only the Worker runs",
    "queues.consumers": "the queue handler will not be called",
    "site": "static files are not served; every request goes to the Worker",
    "streaming_tail_consumers": "no tail Worker is called",
    "tail_consumers": "no tail Worker is called",
    "text_blobs": "the blobs will be missing from the Worker",
    "triggers.crons": "the scheduled handler will not be called",
    "triggers.events": "no event starts the Worker or its workflows",
    "unsafe": "its bindings will be missing from env",
    "wasm_modules": "the modules will be missing from the Worker",
}
