# SPDX-License-Identifier: BSD-3-Clause
"""The tables of the scenario language, as `weir help --json` prints them.

weir itself parses with these tables, so this package supports exactly the statements and fields of
that program:

>>> import weir.language
>>> table = weir.language.tables()
>>> delay = table.statement("delay", None)
>>> [field.name for field in delay.fields][:3]
['delay', 'jitter', 'distribution']
>>> table.reasons["no-buffer"]
'real'
"""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from . import program
from .errors import Failed, WeirError


@dataclass(frozen=True)
class Field:
    """A word of a statement. `min`, `max` and `initial` are in the unit of the type."""

    name: str
    type: str
    kind: str
    help: str
    positional: bool
    required: bool
    rest: bool
    inner: bool
    min: int | None
    max: int | None
    initial: int | None
    words: tuple[str, ...] | None

    @property
    def python(self) -> str:
        """Its name as a Python argument: `max_p`, `for_`."""
        return python_name(self.name)


@dataclass(frozen=True)
class Kind:
    """A statement of the language, with its fields in order."""

    name: str
    variant: str | None
    help: str
    role: str
    number_max: int
    many_max: int
    scoped: bool
    by_percent: bool
    clears: str | None
    fields: tuple[Field, ...]

    @property
    def python(self) -> str:
        """Its name as a Python method: `loss_gilbert_elliott`."""
        return python_name(self.name if self.variant is None else f"{self.name}-{self.variant}")

    def keyword(self, name: str) -> Field | None:
        return next((f for f in self.fields if f.name == name and not f.positional), None)


@dataclass(frozen=True)
class Figure:
    """What weir reports of a port, a cloud, a class, a worker. `object` is the member of the JSON
    that has it, None: the object itself. `since`: it is in `since`, too."""

    name: str
    object: str | None
    type: str
    unit: str
    kind: str
    metric: str | None
    since: bool
    help: str


def python_name(name: str) -> str:
    """
    >>> python_name("fq-codel"), python_name("for")
    ('fq_codel', 'for_')
    """
    name = name.replace("-", "_")
    return name + "_" if name in ("for", "from", "class", "as", "in", "is", "not") else name


class Tables:
    """The tables of the whole language."""

    def __init__(self, raw: Mapping[str, Any]) -> None:
        self.weir = str(raw["weir"])
        self.statements = tuple(_kind(row) for row in raw["statements"])
        self.port = _fields(raw["port"])
        self.selection = _fields(raw["selection"])
        self.template = _fields(raw["template"])
        self.reasons: dict[str, str] = {r["name"]: r["kind"] for r in raw.get("reasons", ())}
        self.figures: dict[str, tuple[Figure, ...]] = {
            scope: tuple(Figure(**row) for row in rows)
            for scope, rows in raw.get("figures", {}).items()}
        self._by_words = {(kind.name, kind.variant): kind for kind in self.statements}
        self._by_python = {kind.python: kind for kind in self.statements}
        self.names = frozenset(kind.name for kind in self.statements)

    def statement(self, name: str, variant: str | None) -> Kind | None:
        return self._by_words.get((name, variant))

    def by_percent(self, name: str) -> Kind | None:
        """Returns the variant that `loss 1%` stands for, given `loss`."""
        return next((k for k in self.statements if k.name == name and k.by_percent), None)

    def method(self, name: str) -> Kind | None:
        """Returns the statement for a method's name; `loss` alone is `loss_random`."""
        return self._by_python.get(name) or self.by_percent(name)

    def place(self, kind: Kind) -> int:
        """Returns the rank of a statement in a printed scenario: statements are printed in the
        order in which they act on a packet."""
        return self.statements.index(kind)


def _fields(rows: Any) -> tuple[Field, ...]:
    return tuple(_field(row) for row in rows)


def _field(row: Any) -> Field:
    known: dict[str, Any] = {name: row[name] for name in Field.__dataclass_fields__}
    if known["words"] is not None:
        known["words"] = tuple(known["words"])
    return Field(**known)


def _kind(row: Any) -> Kind:
    known: dict[str, Any] = {name: row[name]
                             for name in Kind.__dataclass_fields__ if name != "fields"}
    return Kind(**known, fields=_fields(row["fields"]))


@functools.lru_cache(maxsize=8)
def _tables(path: str, changed: int) -> Tables:
    try:
        return Tables(json.loads(program.call(["help", "--json"], program=path).stdout))
    except (Failed, ValueError, KeyError) as error:
        raise WeirError(f"{path} does not print its language (`weir help --json`); "
                        "it has another version than this package") from error


def tables(of: str | os.PathLike[str] | None = None) -> Tables:
    """Returns the tables of the program (`weir.program.find`), which is called once for them."""
    path = program.find(of)
    return _tables(path, os.stat(path).st_mtime_ns)
