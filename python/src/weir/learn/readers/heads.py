# SPDX-License-Identifier: BSD-3-Clause
"""A capture of one end: the headers of its packets, as `weir learn --headers` reads them, and the
conversation in it that tells most of the path."""

from __future__ import annotations

import dataclasses
import os
import tempfile
from typing import Any

import numpy

from ..asks import ask
from ..estimate import Bools, Floats
from ..pairs import NothingToLearn

MAGICS = tuple(bytes.fromhex(magic) for magic in (
    "0a0d0d0a", "a1b2c3d4", "d4c3b2a1", "a1b23c4d", "4d3cb2a1"))
TCP, UDP, STAMPS, LONG, SHORT, SPIN, DAMAGED = 1, 2, 4, 8, 16, 32, 64
SYN, ACK = 2, 16
ROW = numpy.dtype([("t_ns", "<i8"), ("wire_bytes", "<u4"), ("sequence", "<u4"), ("acked", "<u4"),
                   ("payload", "<u4"), ("stamp", "<u4"), ("echo", "<u4"),
                   ("blocks", "<u4", (3, 2)), ("flow", "<u2"), ("flags", "u1"), ("what", "u1"),
                   ("n_blocks", "u1"), ("unused", "u1", 3)])
LEAST = 100
TEXTS = {6: "TCP", 17: "QUIC"}


@dataclasses.dataclass
class Conversation:
    """The packets of both directions, of the one with most payload first."""

    name: str
    protocol: str
    data: Any     # rows of the direction that carries most
    answers: Any


def is_capture(begin: bytes) -> bool:
    return begin[:4] in MAGICS


def read(path: str) -> Conversation:
    """Returns the conversation with most payload that is TCP or QUIC."""
    with tempfile.TemporaryDirectory(prefix="weir-learn-") as folder:
        table = os.path.join(folder, "heads")
        facts = ask("headers", table, capture=path)
        rows = numpy.fromfile(table, ROW)
    if len(rows) == 0:
        raise NothingToLearn(f"{path} has no packets"
                             + (f": {facts['damage']}" if facts["damage"] else ""))
    rows = rows[(rows["what"] & DAMAGED == 0) | (rows["what"] & TCP > 0)]
    rows = rows[numpy.argsort(rows["t_ns"], kind="stable")]
    best = max(_conversations(rows, facts["flows"]), default=None,
               key=lambda one: int(one.data["payload"].sum()))
    if best is None or len(best.data) + len(best.answers) < LEAST:
        raise NothingToLearn(f"{path} has no conversation of TCP or QUIC of {LEAST} packets, in "
                             "both directions; other captures need that of the other end, too: "
                             "--sent and --received")
    return best


def _conversations(rows: Any, flows: list[list[Any]]) -> list[Conversation]:
    number = {tuple(flow): i for i, flow in enumerate(flows)}
    payload = numpy.bincount(rows["flow"], rows["payload"].astype(float), 65536)
    seen: set[int] = set()
    order = numpy.argsort(rows["flow"], kind="stable")
    edges = numpy.searchsorted(rows["flow"][order], numpy.arange(len(flows) + 1))
    found = []
    for i in numpy.argsort(-payload[:len(flows)], kind="stable")[:50].tolist():
        source, target, protocol, port, other = flows[i]
        back = number.get((target, source, protocol, other, port))
        if protocol not in TEXTS or back is None or back in seen:
            continue
        seen.add(i)
        there, here = (rows[order[edges[k]:edges[k + 1]]] for k in (i, back))
        if protocol == 17 and not (there["what"] & LONG).any() and not (here["what"] & LONG).any():
            continue
        ends = " and ".join(_end(address, at)
                            for address, at in ((source, port), (target, other)))
        found.append(Conversation(ends, TEXTS[protocol], there, here))
    return found


def _end(address: str, port: int) -> str:
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def throughput(t_ns: Floats, size: Floats, window_ns: float = 1e8) -> Floats:
    """Returns the rates of windows in which packets came, without the first and the last one."""
    _, window = numpy.unique(((t_ns - t_ns[0]) / window_ns).astype(numpy.int64),
                             return_inverse=True)
    rates = numpy.bincount(window, size) * 8e9 / window_ns
    return numpy.asarray(rates[1:-1] if len(rates) > 2 else rates)


def has(rows: Any, what: int) -> Bools:
    return numpy.asarray(rows["what"] & what > 0)
