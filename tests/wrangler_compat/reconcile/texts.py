"""Makes JSONC texts with blanks and comments at every place where the grammar allows them.

Independent of the reader under test: it writes texts and knows, because it wrote them, what belongs to what.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from random import Random
from typing import Any

from hypothesis import strategies as st


@dataclass
class Writer:
    """Writes values with a random gap between any two tokens. Every comment is written once, with its own number.

    The gaps are many and small, so they come from one seed: hypothesis would spend its time on them.
    """

    random: Random
    newline: str
    gaps: tuple[str, ...]  # what a gap is drawn from: "" and " ", "line", "block", "note"
    trailing: bool
    comments: list[str] = field(default_factory=list)

    def gap(self) -> str:
        """Blanks and comments, mostly none."""
        text = ""
        for kind in self.random.choices(self.gaps, k=self.random.choice((0, 1, 1, 2))):
            number = len(self.comments)
            if kind == "line":
                text += self.newline + self.random.choice(["", "  ", "\t", "    "])
            elif kind == "block":
                inner = self.random.choice(["", "é", self.newline, ' "a": 1, ', "//", "{[", "*"])
                self.comments.append(f"/* c{number}; {inner} */")
                text += self.comments[-1]
            elif kind == "note":
                inner = self.random.choice(["", " 日本", " /* no", ' "x": [', " }"])
                self.comments.append(f"// c{number};{inner}")
                text += self.comments[-1] + self.newline
            else:
                text += kind
        return text

    def value(self, value: Any) -> str:
        """Any value."""
        if isinstance(value, dict):
            return self.joined("{", [self.member(key, item) for key, item in value.items()], "}")
        if isinstance(value, list):
            return self.joined("[", [self.value(item) for item in value], "]")
        return json.dumps(value, ensure_ascii=self.random.random() < 0.5)

    def member(self, key: str, value: Any) -> str:
        """A key with its value."""
        return f"{json.dumps(key)}{self.gap()}:{self.gap()}{self.value(value)}"

    def joined(self, opening: str, parts: list[str], closing: str) -> str:
        """Parts with commas between them, and perhaps one after the last."""
        text = opening
        for index, part in enumerate(parts):
            last = index == len(parts) - 1
            comma = "," if not last or (self.trailing and self.random.random() < 0.5) else ""
            text += self.gap() + part + (self.gap() + comma if comma else "")
        return text + self.gap() + closing


@st.composite
def writers(draw: st.DrawFn) -> Writer:
    """A writer of minified, plain or wildly commented texts."""
    gaps = draw(
        st.sampled_from(
            [
                ("",),
                ("", " "),
                ("", " ", "line", "line"),
                ("", " ", "line", "block"),
                ("", " ", "line", "line", "line", "block", "note"),
            ]
        )
    )
    return Writer(Random(draw(st.integers(0, 2**32))), draw(st.sampled_from(["\n", "\r\n"])), gaps, draw(st.booleans()))
