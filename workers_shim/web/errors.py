"""The errors that JavaScript's own objects throw, as Python code catches them."""

from __future__ import annotations

from workers_shim.errors import JsException

NOT_SERVED = "is not served by celld-py yet"


def type_error(message: str) -> JsException:
    return JsException("TypeError", message)


def range_error(message: str) -> JsException:
    return JsException("RangeError", message)


def syntax_error(message: str) -> JsException:
    return JsException("SyntaxError", message)


def not_served(what: str) -> str:
    """The text for a part of the platform that exists on Workers and not here."""
    return f"{what} {NOT_SERVED}"
