# SPDX-License-Identifier: BSD-3-Clause
"""Simple arithmetic on measured figures: numbers, names, + - * / and parentheses.

A name is letters, digits, `.`, `_`, `-`, `@` and `%`, and begins with a letter, so a minus needs a
blank before it: `becn.bottleneck.loss / ecn.bottleneck.loss`.

>>> value("100 * (a.b / 7 - 1)", {"a.b": 14.0}.get)
100.0
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable

DEPTH_MAX = 32
NAME = re.compile(r"[A-Za-z][A-Za-z0-9._@%-]*")
NUMBER = re.compile(r"[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?")

Find = Callable[[str], float | None]


class Wrong(Exception):
    """The expression, or a name in it, is wrong."""


def value(text: str, find: Find) -> float:
    """Returns the value. `find` returns that of a name, or None. A division by 0 yields what IEEE
    754 says."""
    reader = _Reader(text, find)
    result = reader.sum()
    if reader.ahead():
        raise Wrong(f"not expected here: `{text[reader.at:]:.60}`")
    return result


class _Reader:
    def __init__(self, text: str, find: Find) -> None:
        self.text, self.find = text, find
        self.at = self.depth = 0

    def ahead(self) -> str:
        """Returns the next character that is no blank; "" at the end."""
        while self.text[self.at:self.at + 1] == " ":
            self.at += 1
        return self.text[self.at:self.at + 1]

    def sum(self) -> float:
        result = self.product()
        while (sign := self.ahead()) and sign in "+-":
            self.at += 1
            other = self.product()
            result += other if sign == "+" else -other
        return result

    def product(self) -> float:
        result = self.atom()
        while (sign := self.ahead()) and sign in "*/":
            self.at += 1
            other = self.atom()
            result = result * other if sign == "*" else _quotient(result, other)
        return result

    def atom(self) -> float:
        first, rest = self.ahead(), self.text[self.at:]
        if first and first in "(-":
            self.depth += 1
            if self.depth > DEPTH_MAX:
                raise Wrong(f"too many {'signs' if first == '-' else 'parentheses'} at "
                            f"`{rest:.60}`")
            self.at += 1
            result = -self.atom() if first == "-" else self.sum()
            if first == "(":
                if self.ahead() != ")":
                    raise Wrong(f"a `)` is missing at `{self.text[self.at:]:.60}`")
                self.at += 1
            self.depth -= 1
            return result
        if name := NAME.match(rest):
            self.at += name.end()
            found = self.find(name[0])
            if found is None:
                raise Wrong(f"no measured value is called `{name[0]:.60}`")
            return found
        if number := NUMBER.match(rest):
            self.at += number.end()
            return float(number[0])
        raise Wrong(f"a number or a name is missing at `{rest:.60}`")


def _quotient(a: float, b: float) -> float:
    if b:
        return a / b
    return math.nan if a == 0 or math.isnan(a) else math.copysign(math.inf, a * math.copysign(1, b))
