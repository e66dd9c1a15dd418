# SPDX-License-Identifier: BSD-3-Clause
"""A request, and its answer."""

from __future__ import annotations

import email.message
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

TEXT = "text/plain; charset=utf-8"


@dataclass
class Answer:
    """`parts`: of a stream, which `close` ends; it has no body then."""

    status: int
    body: bytes = b""
    type: str = TEXT
    more: tuple[tuple[str, str], ...] = ()
    parts: Iterator[bytes] | None = None
    close: Callable[[], None] = lambda: None


def line(status: int, text: str, *more: tuple[str, str]) -> Answer:
    return Answer(status, text.encode(errors="replace") + b"\n", more=more)


@dataclass
class Request:
    """`path` is decoded. What is not UTF-8 in it, or in the query, has become surrogates. `body`:
    of one that is longer than BODY_BYTES_MAX, only that many bytes and one more."""

    method: str
    path: str
    headers: email.message.Message
    query: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
