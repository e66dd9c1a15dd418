# SPDX-License-Identifier: BSD-3-Clause
"""What is measured with a tester that sends and receives: RFC 2544, and the latency of devices."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from .._command import CommandError
from .plan import Plan

TRIAL_S, BURST_S, SEARCHES = 0.2, 0.1, 10  # the RFC wants 60 s, 2 s, and no number
LATENCY_S, LATENCY_MAX_NS = 1.0, 1000000
RFC_FRAMES, FEW_FRAMES = (64, 128, 256, 512, 1024, 1280, 1518), (64, 512, 1518)


@contextlib.contextmanager
def closing(plan: Plan, name: str) -> Iterator[None]:
    """Closes what is open. What failed before is the error then."""
    try:
        yield
    except CommandError:
        with contextlib.suppress(CommandError):
            plan.weir.ask({"ask": name})
        raise
    plan.weir.ask({"ask": name})


def rfc2544(plan: Plan) -> None:
    asked, runs = plan.asked, plan.conditions["runs"]
    alone = not set(asked["parts"]) - {"rfc2544", "machine"}
    times: dict[str, Any] = {} if asked["rfc_times"] else {
        "trial_s": plan.seconds(TRIAL_S if alone else TRIAL_S / 2), "burst_s": BURST_S,
        "searches": (asked["runs"] or SEARCHES) if alone else 1, "latency_repeats": runs,
        "burst_repeats": runs if alone else 1}
    frames = [asked["frame"]] if asked["frame"] else RFC_FRAMES if alone else FEW_FRAMES
    plan.ask("rfc2544-open", devices=asked["devices"], line_bps=asked["line_bps"])
    with closing(plan, "tester-close"):
        for frame in frames:
            plan.progress(f"rfc2544: frames of {frame} B")
            plan.rows.append(plan.weir.ask({"ask": "rfc2544", "frame": frame, **times}))


def latency(plan: Plan) -> None:
    """Measures a loop over a cable in one direction, then in the other one."""
    asked, ways = plan.asked, []
    frames = [asked["frame"]] if asked["frame"] else FEW_FRAMES
    opened = plan.ask("latency-open", devices=asked["devices"], line_bps=asked["line_bps"],
                      cable_m=asked["cable_m"])
    with closing(plan, "tester-close"):
        for back in (False, True):
            for frame in frames:
                plan.progress("latency: {} to {}, {} B".format(
                    *opened["devices"][::-1 if back else 1], frame))
                plan.rows.append(plan.weir.ask(
                    {"ask": "latency", "frame": frame, "back": back,
                     "for": plan.seconds(LATENCY_S)}))
            ways.append(plan.rows[-len(frames)])
        _conclude(plan, ways[0], ways[1], opened["own"])


def _conclude(plan: Plan, there: dict[str, Any], back: dict[str, Any], own: bool) -> None:
    """Says the words for `port` that subtract the latency. The tx latency of one device and the rx
    latency of the other are from the same direction."""
    there_ns, back_ns = there["tx_latency_ns"], back["tx_latency_ns"]
    if max(there_ns, back_ns) > LATENCY_MAX_NS:
        plan.remarks.append("latency: more than 1 ms for each device, which `port` does not "
                            "accept: is there more than a cable in between?")
        return
    plan.remarks.append(
        "latency: options for `port`; only the sum was measured, so each end gets half of it\n"
        f"  port NAME device {there['from']} rx-latency {back_ns}ns tx-latency {there_ns}ns\n"
        f"  port NAME device {there['to']} rx-latency {there_ns}ns tx-latency {back_ns}ns")
    if own:
        plan.remarks.append("latency: without --device, the cable is a pair of rings in this "
                            "process, and the figures are what the measurement itself adds")
