# SPDX-License-Identifier: BSD-3-Clause
"""A method for each statement that weir has, created when the attribute is read. Type checkers see
these methods in _statements.pyi, if it is there: it is generated from the same tables (stubs.py)
when the package is built, or by `python3 -m weir.stubs`. Without it they let any method pass."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from .language import Kind, Tables

T = TypeVar("T")


class Statements(Generic[T]):
    def _made(self, name: str, args: Sequence[Any], keywords: dict[str, Any]) -> T:
        raise NotImplementedError

    def _kinds(self) -> Tables:
        raise NotImplementedError

    def __getattr__(self, name: str) -> Callable[..., T]:
        if name.startswith("_"):
            raise AttributeError(name)
        kind = self._kinds().method(name)

        def method(*args: Any, **keywords: Any) -> T:
            return self._made(name, args, keywords)

        if kind is None:
            method()  # raises an AttributeError that suggests the nearest name
            raise AttributeError(name)
        method.__name__ = name
        method.__doc__ = described(kind)
        method.__signature__ = signature(kind)  # type: ignore[attr-defined]
        return method

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(kind.python for kind in self._kinds().statements)]


def signature(kind: Kind) -> inspect.Signature:
    p = inspect.Parameter
    made = [p(f.python, p.POSITIONAL_OR_KEYWORD, default=p.empty if f.required else None)
            for f in kind.fields if f.positional]
    made += [p(f.python, p.KEYWORD_ONLY, default=p.empty if f.required else None)
             for f in kind.fields if not f.positional]
    if kind.number_max:
        made.append(p("n", p.KEYWORD_ONLY, default=1))
    return inspect.Signature(made)


def described(kind: Kind) -> str:
    rows = [f"    {f.python}: {f.kind or 'True'}: {f.help}" for f in kind.fields]
    return "\n".join([kind.help + ".", "", *rows])
