"""Service bindings as the configuration declares them."""

from __future__ import annotations

from wrangler_compat.services import ServiceBinding, read_services


def test_a_binding_names_a_worker_and_perhaps_an_entrypoint_with_props() -> None:
    services = [
        {"binding": "A", "service": "shop"},
        {"binding": "B", "service": "shop", "entrypoint": "Prices", "props": {"currency": "EUR"}},
        {"binding": "C", "service": "shop", "entrypoint": "default"},
    ]

    assert read_services({"services": services}) == (
        ServiceBinding("A", "shop", None, {}),
        ServiceBinding("B", "shop", "Prices", {"currency": "EUR"}),
        ServiceBinding("C", "shop", None, {}),
    )


def test_no_services_are_none() -> None:
    assert read_services({}) == ()
