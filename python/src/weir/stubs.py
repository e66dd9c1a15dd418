# SPDX-License-Identifier: BSD-3-Clause
"""Makes _statements.pyi, from which editors and mypy take the methods of a cloud:

    python3 -m weir.stubs > _statements.pyi

A test compares it with the tables of the program.
"""

from __future__ import annotations

from . import language
from .language import Field, Kind, Tables

_HEAD = '''\
# SPDX-License-Identifier: BSD-3-Clause
# Made by `python3 -m weir.stubs` from `weir help --json`.
from collections.abc import Sequence
from typing import Any, Generic, TypeVar

from .language import Tables

T = TypeVar("T")
V = str | None
N = str | int | None
F = str | int | float | None
B = str | bool | None
L = str | Sequence[Any] | None

class Statements(Generic[T]):
    def _made(self, name: str, args: Sequence[Any], keywords: dict[str, Any]) -> T: ...
    def _kinds(self) -> Tables: ...
'''

_TYPES = {"count": "N", "factor": "F", "probability": "F", "ratio": "F", "switch": "B", "flag": "B",
          "range": "L", "numbers": "L", "words": "L", "rates": "L", "times": "L",
          "probabilities": "L", "bytes": "V"}


def _argument(f: Field) -> str:
    kind = _TYPES.get(f.type, "V")
    if f.required:
        return f"{f.python}: {kind}"
    return f"{f.python}: {kind} = ..."


def _method(kind: Kind, name: str) -> str:
    orders = next((f for f in kind.fields if f.type == "orders"), None)
    first = [_argument(f) for f in kind.fields if f.positional and f is not orders]
    named = [_argument(f) for f in kind.fields if not f.positional]
    if kind.number_max:
        named.append("n: int = ...")
    star = ["*statements: object"] if orders else ["*"] if named else []
    return f"    def {name}({', '.join(['self', *first, *star, *named])}) -> T: ..."


def text(tables: Tables) -> str:
    lines = []
    for kind in tables.statements:
        if kind.scoped:
            continue
        lines.append(_method(kind, kind.python))
        if kind.by_percent:
            lines.append(_method(kind, kind.name))
    return _HEAD + "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(text(language.tables()), end="")
