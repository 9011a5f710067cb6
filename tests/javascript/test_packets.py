"""The form of what esbuild's service and we say to each other."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.javascript.packets import Packet, decode_packet, encode_packet

LEAVES = st.none() | st.booleans() | st.integers(0, 2**32 - 1) | st.text() | st.binary()
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20)


@given(st.integers(0, 2**31 - 1), st.booleans(), VALUES)
def test_a_packet_comes_back_as_it_was(number: int, is_request: bool, value: Any) -> None:
    data = encode_packet(Packet(number, is_request, value))
    assert int.from_bytes(data[:4], "little") == len(data) - 4
    assert decode_packet(data[4:]) == Packet(number, is_request, value)


def test_the_bytes_are_those_of_the_protocol() -> None:
    assert encode_packet(Packet(3, False, {"a": [True, -1]})) == bytes.fromhex(
        "1a00000007000000060100000001000000610502000000010102ffffffff"
    )


def test_what_esbuild_does_not_know_is_refused() -> None:
    with pytest.raises(TypeError, match="esbuild knows no float"):
        encode_packet(Packet(0, True, 1.5))
