# SPDX-License-Identifier: BSD-3-Clause
"""Queries and changes for browsers. weir accepts few clients, so two are under way at once, and 32
wait at most, those included."""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Iterator, Sequence
from typing import Any

from .._link import Link, LinkError, Silent

_ASKS = 2
_ASKS_MOST = 32
# More than weir itself takes: 53 s for its turn, its work and the workers.
_PATIENCE_S = 60.0


class Busy(LinkError):
    """Too many wait."""


class Asks:
    def __init__(self, path: str | None) -> None:
        self._path = path
        self._places = threading.BoundedSemaphore(_ASKS_MOST)
        self._turns = threading.BoundedSemaphore(_ASKS)

    @contextlib.contextmanager
    def _conversation(self) -> Iterator[Link]:
        if not self._places.acquire(blocking=False):
            raise Busy("too many requests; try again later")
        try:
            with self._turns, contextlib.closing(Link(self._path, _PATIENCE_S)) as link:
                try:
                    yield link
                except Silent:
                    raise Silent("weir does not answer; weir's events show what is in "
                                 "force") from None
                except LinkError as error:
                    raise LinkError(f"{error}; weir's events show what is in force") from None
        finally:
            self._places.release()

    def ask(self, line: str) -> tuple[bool, str]:
        """Returns what weir answers to a line, in text; or its error. Files that it names are
        weir's to open."""
        with self._conversation() as link:
            return link.ask(line)

    def change(self, lines: Sequence[str]) -> dict[str, Any]:
        """Sends the lines of a change, until one is wrong. Returns the answer for the browser:

            {"ok":true,"sent":["begin","cloud down delay 80ms","commit"],"said":"..."}
            {"ok":false,"sent":[...],"error":"dwon: there is no ...","line":1}

        `line`: the number of the change in error, from 1; 0: none of them. Raises Busy."""
        line, said = 0, ""
        try:
            with self._conversation() as link:
                for number, text in enumerate(lines):
                    ok, said = link.ask(text)
                    if not ok:
                        line = number if text != "commit" else _line_named(said)
                        break
                else:
                    return {"sent": [*lines], "ok": True, "said": said}
        except Busy:
            raise
        except LinkError as error:
            said = str(error)
        return {"sent": [*lines], "ok": False, "error": said, "line": line}


def _line_named(error: str) -> int:
    """Returns the line that weir names in the error of `commit`: `down: line 2: ...`; 0: none."""
    found = re.match(r"line (\d+)", error.partition(": ")[2])
    return int(found[1]) if found else 0
