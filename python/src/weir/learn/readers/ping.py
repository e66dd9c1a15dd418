# SPDX-License-Identifier: BSD-3-Clause
"""The output of ping (iputils, BusyBox, BSD), also with -D: a line for each answer."""

from __future__ import annotations

import re

from .measured import ETHERNET, PROBE_BYTES, SECOND_NS, Measured, by_number, times

ANSWER = re.compile(r"(?:^\[(?P<at>[\d.]+)\] )?.*(?:icmp_)?seq=(?P<seq>\d+).* "
                    r"time=(?P<ms>[\d.]+) ?ms", re.M)
SIZE = re.compile(r"^PING .* (\d+)\((\d+)\) bytes of data|^PING .*: (\d+) data bytes", re.M)
SENT = re.compile(r"^(\d+) packets transmitted, (\d+)", re.M)


def read(text: str) -> Measured | None:
    found = list(ANSWER.finditer(text))
    if not found:
        return None
    numbers = whole([int(match["seq"]) for match in found])
    sent = SENT.search(text)
    count = int(sent[1]) if sent else 0
    trip = by_number(numbers, [float(match["ms"]) * 1e6 for match in found], count)
    at = by_number(numbers, [float(match["at"] or "nan") * SECOND_NS for match in found], count)
    size = SIZE.search(text)
    return Measured("ping", times(at), trip,
                    size=ETHERNET + int(size[2] or int(size[3]) + 28) if size else PROBE_BYTES)


def whole(numbers: list[int]) -> list[int]:
    """Returns numbers of 16 bits, which begin anew, as numbers that go on."""
    found, turn, before = [], 0, 0
    for number in numbers:
        if number + 32768 < before - turn:
            turn += 65536
        before = number + turn
        found.append(before)
    return found
