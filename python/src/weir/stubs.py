# SPDX-License-Identifier: BSD-3-Clause
"""Makes what follows from the tables of the program, for editors and mypy: _statements.pyi has the
methods of a cloud, and _figures.py the members of what weir reports.

    python3 -m weir.stubs
    python3 -m weir.stubs figures

write them beside this file. The first one is not kept: who builds the package makes it
(weir_backend.py). The package imports the second one, and a test compares it with the tables.
"""

from __future__ import annotations

import pathlib
import sys
import textwrap

from . import language
from .language import Field, Figure, Kind, Tables

_HEAD = '''\
# SPDX-License-Identifier: BSD-3-Clause
# Made from `weir help --json` (weir.stubs).
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


_FIGURES = '''\
# SPDX-License-Identifier: BSD-3-Clause
"""The members of what weir reports. Made by `python3 -m weir.stubs figures` from
`weir help --json`."""

from __future__ import annotations

from dataclasses import dataclass
'''

_VALUES = {"count": ("int", "0"), "real": ("float", "0.0"), "flag": ("bool", "False"),
           "text": ("str", '""')}


def _class(name: str, what: str, rows: list[Figure]) -> list[str]:
    lines = ["", "", "@dataclass(frozen=True)", f"class {name}:", f'    """{what}"""', ""]
    for row in rows:
        if row.type in _VALUES:
            kind, empty = _VALUES[row.type]
            lines.append(f"    {row.name}: {kind} = {empty}")
            lines += textwrap.wrap(f'"""{row.help}"""', 96, initial_indent="    ",
                                   subsequent_indent="    ")
    return lines


def figures(tables: Tables) -> str:
    """Returns the source of _figures.py: a class for each scope, and for each object in it."""
    lines: list[str] = []
    known: set[tuple[str | None, ...]] = set()
    for scope, rows in tables.figures.items():
        name = "".join(word.capitalize() for word in scope.split("-"))
        own = [row for row in rows if row.object is None and row.name != scope]
        lines += _class(f"{name}Figures", f"Figures of a {scope}.", own)
        since = [row for row in own if row.since]
        if since:
            lines += _class(f"{name}Since", f"Figures of a {scope} since its last change.", since)
        for part in dict.fromkeys(row.object for row in rows if row.object is not None):
            inner = [row for row in rows if row.object == part]
            names = (part, *(row.name for row in inner))
            if names not in known:  # the queue of a class is as that of a cloud
                lines += _class(f"{name}{part.capitalize()}", f"The `{part}` of a {scope}.", inner)
            known.add(names)
    return _FIGURES + "\n".join(lines) + "\n"


if __name__ == "__main__":
    name, made = (("_figures.py", figures) if sys.argv[1:] == ["figures"]
                  else ("_statements.pyi", text))
    pathlib.Path(__file__).with_name(name).write_text(made(language.tables()), encoding="utf-8")
