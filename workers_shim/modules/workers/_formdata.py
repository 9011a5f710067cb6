"""FormData of the SDK: a mapping whose keys may repeat."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any

from workers._blob import Blob, unwrapped, wrapped_blob
from workers_shim.web import blob as web_blob
from workers_shim.web import formdata as web

FormDataValue = str | Blob


class FormData(MutableMapping[str, Any]):
    """The fields of a form; a value is text or a File."""

    _js: web.FormData

    def __init__(self, form_data: Mapping[str, Any] | web.FormData | None = None) -> None:
        if isinstance(form_data, web.FormData):
            self._js = form_data
            return
        self._js = web.FormData.new()
        for key, value in (form_data or {}).items():
            self.append(key, value)

    @property
    def js_object(self) -> web.FormData:
        return self._js

    def __getitem__(self, key: str) -> Any:
        found = self.get_all(key)
        if not found:
            raise KeyError(key)
        return found[0]

    def __setitem__(self, key: str, value: Any) -> None:
        self._js.set(key, unwrapped(value))

    def __delitem__(self, key: str) -> None:
        self._js.delete(key)

    def __contains__(self, key: object) -> bool:
        return self._js.has(str(key))

    def __iter__(self) -> Iterator[str]:
        return self.keys()

    def __len__(self) -> int:
        return len(self._js._pairs)

    def items(self) -> Iterator[tuple[str, Any]]:  # type: ignore[override]
        """Every field; a name that repeats comes as often as it does in the form."""
        for key, value in self._js._pairs:
            yield key, _shown(value)

    def keys(self) -> Iterator[str]:  # type: ignore[override]
        return (key for key, _ in self.items())

    def values(self) -> Iterator[Any]:  # type: ignore[override]
        return (value for _, value in self.items())

    def append(self, key: str, value: Any, filename: str | None = None) -> None:
        """Add a field, beside those of the same name."""
        self._js.append(key, unwrapped(value), filename)

    def delete(self, key: str) -> None:
        self._js.delete(key)

    def get_all(self, key: str) -> list[Any]:
        return [_shown(value) for value in self._js.getAll(key)]


def _shown(value: Any) -> Any:
    return wrapped_blob(value) if isinstance(value, web_blob.Blob) else value
