# SPDX-License-Identifier: BSD-3-Clause
"""A trace of mahimahi's mm-link: a line for each opportunity to send 1500 bytes, in milliseconds.

weir plays it as it is (docs/trace.md).
"""

from __future__ import annotations

from ..pairs import NothingToLearn
from .played import Played

MOST = 4_194_304      # lines
QUEUE = "20000pkt"    # mm-link has no limit


def numbers(text: str) -> list[int] | None:
    """Returns the instants; None if that is not what the file has."""
    found = []
    for line in text.splitlines():
        word = line.strip()
        if not word or word.startswith("#"):
            continue
        if not word.isascii() or not word.isdecimal() or len(word) > 12:
            return None
        found.append(int(word))
        if len(found) > MOST:
            raise NothingToLearn(f"the trace has more than {MOST} lines")
    if not found:
        return None
    if any(a > b for a, b in zip(found, found[1:])):
        at = next(i for i, (a, b) in enumerate(zip(found, found[1:])) if a > b)
        raise NothingToLearn(f"the trace goes backwards: {found[at + 1]} follows {found[at]}")
    if found[-1] == 0:
        raise NothingToLearn("all opportunities of the trace are at 0 ms")
    return found


def read(text: str) -> Played | None:
    found = numbers(text)
    if found is None:
        return None
    return Played("mahimahi", [f"trace {{}} format mahimahi loop queue {QUEUE}"],
                  "\n".join(map(str, found)) + "\n", "opportunities",
                  [f"{said(found, 1500)}; it says nothing of the delay: add one. mm-link's queue "
                   f"has no limit, this one has {QUEUE}"])


def said(found: list[int], size: int) -> str:
    rate = len(found) * size * 8 / found[-1] / 1000
    return (f"{len(found)} opportunities of {size} bytes in {found[-1] / 1000:g} s, "
            f"{rate:.3g} Mbit/s, which begin anew then")
