# SPDX-License-Identifier: BSD-3-Clause
"""What is measured without clients and without a tester, with which scenarios, frames, loads and
depths; and what all parts share."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .._command import Answers, CommandError, failure
from .document import Row, number, rows_of, text

RUNS, RUNS_MAX, SECONDS = 5, 32, 0.3
PRECISION_S, CLOCK_S = 2.0, 5.0
FRAMES = (64, 128, 256, 512, 1024, 1518, 9000, 0)  # 0: IMIX
DEPTHS = (0.1e6, 0.25e6, 0.5e6, 1e6, 2e6, 4e6, 7.5e6)
CLOUDS = (1, 64, 4096, 65536)


class Plan:
    """What was asked for, the conditions, and the rows and remarks so far. A remark is a sentence,
    for example on figures that could not be measured."""

    def __init__(self, weir: Answers, asked: Mapping[str, Any], given: Mapping[str, str],
                 earlier: Row) -> None:
        """`earlier`: the machine of the document that is measured again, whose conditions are
        adopted."""
        self.weir, self.asked, self.given = weir, asked, given
        self.rows: list[dict[str, Any]] = []
        self.remarks: list[str] = []
        runs, seconds = int(number(earlier, "runs")), number(earlier, "seconds")
        self.conditions = {"runs": asked["runs"] or min(runs, RUNS_MAX) or RUNS,
                           "seconds": asked["seconds"] or max(seconds, 0) or SECONDS}
        self.rings, self.pid = False, 0  # of the process that measures

    def begin(self, with_packets: bool) -> None:
        begun = self.weir.ask({"ask": "begin", "eal": with_packets,
                               "cores": self.given.get("cores"), "devices": self.asked["devices"]})
        self.rings, self.pid = begun["rings"], begun["pid"]
        # What runs meanwhile leaves the workers alone, as the threads of weir do.
        os.sched_setaffinity(0, os.sched_getaffinity(self.pid))

    def ask(self, name: str, **question: Any) -> dict[str, Any]:
        return self.weir.ask({"ask": name, **self.conditions, **question})

    def seconds(self, otherwise: float) -> float:
        """Returns --seconds, or `otherwise` if it is not given."""
        return float(self.asked["seconds"] or otherwise)

    def progress(self, now: str = "") -> None:
        """Says what is measured now: on a terminal in one line, which is overwritten; otherwise not
        at all."""
        if sys.stderr.isatty():
            print(f"\r\033[K{now}", end="", file=sys.stderr, flush=True)


def six(value: float) -> float:
    """Rounds to six digits: a measurement is not more accurate, and a file stays readable."""
    return float(f"{value:.6g}")


# ---- cost ----

def _cost(plan: Plan, name: str, ports: str, frame: int, **which: Any) -> None:
    plan.progress(f"cost: {name}, {frame or 'IMIX'} B, {ports}")
    answer = plan.ask("cost", **which, ports=ports, frame=frame)
    plan.rows.append({"part": "cost", "scenario": name, "ports": ports, **answer["frame"],
                      **answer["cost"]})


def _cost_of_own(plan: Plan, name: str, frame: int, ports: str = "net_null") -> None:
    _cost(plan, name, ports, frame, scenario=name)


def cost(plan: Plan) -> None:
    asked, given = plan.asked, plan.asked["frame"] is not None
    frame = asked["frame"] if given else 64
    if "config" in plan.given:
        for each in [frame] if given else FRAMES:
            _cost(plan, plan.given["config"], "net_null", each, file=True)
    elif asked["scenario"]:
        _cost_of_own(plan, asked["scenario"], frame)
    else:
        _cost_of_all(plan, frame, given)


def _cost_of_all(plan: Plan, frame: int, given: bool) -> None:
    """Measures every scenario with one frame size, and the other sizes with the first two
    scenarios, or with all if --full is given."""
    own = plan.asked["scenarios"]
    bare_and_delay = own[:2]
    for name in own:
        _cost_of_own(plan, name, frame)
    for other in () if given else FRAMES:
        for name in own if plan.asked["full"] else bare_and_delay:
            if other != frame:
                _cost_of_own(plan, name, other)
    if plan.rings:
        for name in bare_and_delay:
            _cost_of_own(plan, name, frame, "net_ring")


def again(plan: Plan, document: Row) -> None:
    """Measures those rows of an earlier document again that can be judged."""
    for row in rows_of(document, "cost"):
        name, frames = text(row, "scenario"), text(row, "frames")
        ports = "net_ring" if text(row, "ports") == "net_ring" else "net_null"
        frame = int(frames) if frames.isdecimal() else 0
        if name in plan.asked["scenarios"]:
            _cost_of_own(plan, name, frame, ports)
        elif plan.given.get("config") == name:
            _cost(plan, name, ports, frame, file=True)
        else:
            plan.remarks.append(f"cost: scenario {name} was not measured: it is not one of weir's "
                                "own, and -c does not name it")
    for part, measure in (("depth", depth), ("clouds", clouds)):
        if rows_of(document, part):
            measure(plan)


# ---- precision: packets at equal intervals, through a delay, or through a router with one ----

LINE_PPS = 14880952.0  # 64-byte frames on 10 Gbit/s: 84 bytes each with gap and preamble
GIGABIT_PPS = 81274.4  # 1518 bytes with their FCS and gap and preamble, 1538, on 1 Gbit/s
ROUTER = "hop 192.0.2.1\nrate 400gbit algorithm leaky-bucket queue 10MB"
FEEDBACK = (f"{ROUTER}\nred min 15kB max 45kB max-p 0.1 weight 0.002\necn on\n"
            "feedback header")
REWRITE = ("rewrite match ip.protocol = 253 transport+0:1 = 3 set transport+4:4 0x01000000 "
           "transport+8:8 100000")
DELAY = "\ndelay 10ms"


@dataclass(frozen=True)
class Load:
    name: str
    pps: float
    frame: int
    delay_ms: int
    statements: str = ""  # with the delay, if any; the frames have headers then; "": it alone


LOADS = (
    Load("100 Mbit/s of 1518 B", 100e6 / (1518 * 8), 1518, 100),
    Load("10 % of 14.88 Mpps", LINE_PPS / 10, 64, 10),
    Load("50 % of 14.88 Mpps", LINE_PPS / 2, 64, 10),
    Load("90 % of 14.88 Mpps", LINE_PPS * 9 / 10, 64, 10),
    Load("100 % of 14.88 Mpps", LINE_PPS, 64, 10),
    Load("14.88 Mpps held 500 ms", LINE_PPS, 64, 500),
    Load("1 Gbit/s of 1518 B", GIGABIT_PPS, 1518, 10),
    Load("1 Gbit/s of 1518 B, 4 + 8 bytes rewritten", GIGABIT_PPS, 1518, 10, REWRITE + DELAY),
    Load("14.88 Mpps, router", LINE_PPS, 64, 10, ROUTER + DELAY),
    Load("14.88 Mpps, router, RED, ECN, feedback", LINE_PPS, 64, 10, FEEDBACK + DELAY),
    Load("14.88 Mpps, the same without a delay", LINE_PPS, 64, 0, FEEDBACK),
)


def loads_named(part: str) -> list[Load]:
    """Returns the loads that have this in their names."""
    found = [load for load in LOADS if part in load.name]
    if not found:
        raise CommandError(f"no load has `{part}` in its name; weir bench precision lists them "
                           f"all, like `{LOADS[0].name}`")
    return found


def precision(plan: Plan) -> None:
    for load in loads_named(plan.given.get("load", "")):
        plan.progress(f"precision: {load.name}, delay {load.delay_ms} ms")
        # A percentile of 99.99 requires some ten thousand packets at the slowest load.
        plan.rows.append(plan.weir.ask(
            {"ask": "precision", **plan.conditions, "seconds": plan.seconds(PRECISION_S),
             "load": load.name, "pps": load.pps, "frame": load.frame,
             "delay_ns": load.delay_ms * 1000000, "headers": load.statements != "",
             "statements": load.statements or f"delay {load.delay_ms}ms"}))


# ---- depth, clouds ----

def _relative(plan: Plan, part: str, answer: Row) -> float:
    """Returns the cost, relative to that in the first row of the part."""
    rows = rows_of({"rows": plan.rows}, part)
    first, now = (number(inner, "ns_per_packet") for inner in (
        rows[0] if rows else answer["cost"], answer["cost"]))
    return six(now / first) if first > 0 else 1.0


def depth(plan: Plan) -> None:
    """A saturated source keeps rate x delay packets in flight. So the rate of the last measurement
    gives the delay for the next depth; at first, that of a single run with 1 ms."""
    def measured(delay_ns: int, **conditions: int) -> dict[str, Any]:
        return plan.weir.ask({"ask": "cost", **plan.conditions, "ports": "net_null", "frame": 64,
                              "statements": f"delay {delay_ns}ns", **conditions})

    pps = number(measured(1000000, runs=1)["cost"], "mpps") * 1e6 or LINE_PPS
    for wanted in DEPTHS:
        delay_ns = int(wanted / pps * 1e9)
        plan.progress(f"depth: {wanted / 1e6:.1f} million packets in flight")
        answer = measured(delay_ns)
        pps = number(answer["cost"], "mpps") * 1e6 or pps
        plan.rows.append({"part": "depth", "depth": int(wanted), **answer["held"],
                          "delay_ns": delay_ns, **answer["cost"],
                          "relative": _relative(plan, "depth", answer)})


def clouds(plan: Plan) -> None:
    """Measures as many clouds as there are addresses in the offered load, which is otherwise the
    same for any number."""
    for n in CLOUDS:
        plan.progress(f"clouds: {n}")
        try:
            answer = plan.ask("cost", clouds=n, statements="delay 10ms", ports="net_null", frame=64)
        except CommandError as error:
            # If this machine cannot carry so many clouds, only these rows are missing. An
            # interruption ends the part.
            if n == CLOUDS[0] or error.interrupted:
                raise
            plan.remarks.append(f"clouds: {n} and more were not measured: {error}")
            return
        plan.rows.append({"part": "clouds", "clouds": n, **answer["cost"],
                          "relative": _relative(plan, "clouds", answer)})


# ---- clock: that of a live run, compared with the kernel's ----

def clock(plan: Plan) -> None:
    plan.progress("clock")
    answer = plan.weir.ask({"ask": "clock", "for": plan.seconds(CLOCK_S)})
    if "row" in answer:
        plan.rows.append(answer["row"])
    if "failed" in answer:
        raise failure(answer["failed"], "")
