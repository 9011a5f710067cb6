"""The pins are whole."""

from __future__ import annotations

import base64
from pathlib import Path

from runtime.javascript.pins import ESBUILD_VERSION, PINS, TESTED, WORKERD_VERSION


def test_each_package_has_a_hash_of_its_own() -> None:
    hashes = [pin.integrity for pins in PINS.values() for pin in pins]

    assert len(set(hashes)) == len(hashes) == 2 * len(PINS)
    for text in hashes:
        algorithm, _, digest = text.partition("-")
        assert algorithm == "sha512"
        assert len(base64.b64decode(digest, validate=True)) == 64


def test_the_pinned_versions_are_tested_ones() -> None:
    assert WORKERD_VERSION in TESTED["workerd"]
    assert ESBUILD_VERSION in TESTED["esbuild"]


def test_the_page_names_the_versions_that_are_installed() -> None:
    page = (Path(__file__).parent.parent.parent / "docs" / "javascript.md").read_text("utf-8")

    assert f"workerd {WORKERD_VERSION} and esbuild {ESBUILD_VERSION}" in page
