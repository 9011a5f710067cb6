"""A Worker's answer to a request, in the shape that users of httpx know."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .errors import WorkerTestError


class Headers(Mapping[str, str]):
    """Header lines by name, whatever the case; of a repeated name the values are joined, as httpx joins them."""

    def __init__(self, lines: list[tuple[bytes, bytes]]) -> None:
        self.lines = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in lines]

    def get_list(self, name: str) -> list[str]:
        """Each value of a name."""
        return [value for known, value in self.lines if known.lower() == name.lower()]

    def __getitem__(self, name: str) -> str:
        values = self.get_list(name)
        if not values:
            raise KeyError(name)
        return ", ".join(values)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(name.lower() for name, _ in self.lines))

    def __len__(self) -> int:
        return len(set(self))

    def __repr__(self) -> str:
        return f"Headers({dict(self)!r})"


class FailedRequest(WorkerTestError):
    """A response's status says that the request failed."""

    def __init__(self, response: Response) -> None:
        super().__init__(f"the Worker answered {response.status_code}: {response.text[:500]}")
        self.response = response


@dataclass(frozen=True)
class Response:
    """What came back."""

    status_code: int
    headers: Headers
    content: bytes

    @property
    def text(self) -> str:
        """The body as text."""
        return self.content.decode("utf-8", "replace")

    def json(self) -> Any:
        """The body's JSON value."""
        return json.loads(self.content)

    @property
    def is_success(self) -> bool:
        """Whether the status is 2xx."""
        return 200 <= self.status_code < 300

    def raise_for_status(self) -> Response:
        """Raise unless the status is below 400."""
        if self.status_code >= 400:
            raise FailedRequest(self)
        return self

    def __repr__(self) -> str:
        return f"<Response [{self.status_code}]>"
