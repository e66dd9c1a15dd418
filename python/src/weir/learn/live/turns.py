# SPDX-License-Identifier: BSD-3-Clause
"""The turns of a session, the same for both ends; each begins when both are ready.

1. trains, both directions;
2. bulk from the client to the server;
3. bulk from the server to the client.

Behind the first, each tells the other at which rate its trains have come.
"""

from __future__ import annotations

import time

from . import plan
from .control import Control
from .prober import Prober

SHARES = (0.3, 0.35, 0.35)  # of the whole time
LAST_S = 0.7                # until the last packets have come


def run(prober: Prober, control: Control, client: bool, time_ns: int, most_bps: int) -> None:
    """Sends and notes everything. Raises Gone."""
    seed = 1 if client else 2
    first, *others = (int(share * time_ns) for share in SHARES)
    _together(control, 0)
    prober.send(plan.merged(plan.sparse(first, seed),
                            plan.trains(first, most_bps, 0 if client else plan.TRAIN_NS // 2)),
                first)
    control.tell(turn=1, rate=prober.train_rate(plan.LARGE + plan.HEADERS))
    known = control.hear("rate")["rate"]
    bps = most_bps
    if isinstance(known, int) and known > 0:
        bps = min(most_bps, int(plan.EXCESS * known))
    for turn, length in enumerate(others, 2):
        mine = client == (turn == 2)
        flows = [plan.sparse(length, seed + 2 * turn)]
        if mine:
            flows.append(plan.bulk(length, bps))
        prober.send(plan.merged(*flows), length)
        _together(control, turn)
    time.sleep(LAST_S)
    _together(control, 4)


def _together(control: Control, turn: int) -> None:
    control.tell(turn=turn)
    control.hear("turn")
