# SPDX-License-Identifier: BSD-3-Clause
"""`weir learn`, behind the command line that the program itself has checked."""

from __future__ import annotations

import argparse
import datetime
import json
import os
import sys
import tempfile
from typing import Any

from ..errors import Failed
from . import clocks, estimate, pairs, path, picture, proof, tools, windows, words

FITS, NO_FIT, NOTHING = 0, 1, 2


def arguments(given: list[str] | None) -> argparse.Namespace:
    """Reads what `weir learn` passes on. Its own table of options (learn_command.c) has the help
    and the errors."""
    parser = argparse.ArgumentParser(prog="weir learn", add_help=False)
    parser.add_argument("file", nargs="?")
    parser.add_argument("--sent")
    parser.add_argument("--received")
    parser.add_argument("-o", "--out")
    parser.add_argument("--one-way", action="store_true")
    parser.add_argument("--clocks", default="guess")
    parser.add_argument("--windows")
    parser.add_argument("--picture")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("-j", "--json", action="store_true")
    return parser.parse_args(given)


def main(given: list[str] | None = None) -> int:
    options = arguments(given)
    try:
        return _captures(options) if options.sent else _tool(options)
    except (pairs.NothingToLearn, Failed) as error:
        text = str(error).removeprefix("weir learn: ")
        print(f"weir learn: {text}", file=sys.stderr)
        return NOTHING
    except OSError as error:
        print(f"weir learn: {error.filename}: {error.strerror}", file=sys.stderr)
        return NOTHING


def _captures(options: argparse.Namespace) -> int:
    found = pairs.read(options.sent, options.received)
    ways = {"down": found.forward, "up": None if options.one_way else found.back}
    there = {name: way for name, way in ways.items() if way is not None}
    if not there:
        raise pairs.NothingToLearn("no packet goes from the first capture to the second one; "
                                   "exchange --sent and --received")
    settled, learned = path.learn_ways(there, options.clocks)
    if not learned:
        raise pairs.NothingToLearn("each direction has fewer than 100 packets")
    first = min(int(way.sent_ns[0]) for way in there.values())
    day = datetime.datetime.fromtimestamp(first / 1e9, datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")
    changed = found.facts["changed"]
    head = [f"Learned by `weir learn` from {os.path.basename(options.sent)} and "
            f"{os.path.basename(options.received)}, of {day}: "
            f"{found.facts['pairs']} packets are in both."]
    if changed:
        head.append(f"The path changes {' and '.join(changed)} of packets, as a NAT does.")
    joined = sum(one["super_frames"] for one in found.facts["captures"])
    if joined:
        head.append(f"{joined} super-frames of TCP were cut into packets of 1500 bytes; their "
                    "packets have one stamp. `ethtool -K INTERFACE tso off gso off gro off` before "
                    "the capture gives each its own.")
    if found.facts["alike"] > found.facts["pairs"] / 20:
        head.append(f"{found.facts['alike']} packets look like others: which is which is a guess.")
    return finish(options, head, settled, learned)


def _tool(options: argparse.Namespace) -> int:
    """Learns from the figures of another tool, which sees one end of the path."""
    measured = tools.read(options.file)
    head = [f"Learned by `weir learn` from {os.path.basename(options.file)}, of "
            f"{measured.tool}: seen from one end only.", *measured.notes]
    if measured.rate is not None:
        rate = measured.rate
        head.append(f"Throughput {words.shown(rate)}: {rate.basis}.")
    if len(measured.trip_ns) == 0:
        return _rate_only(options, head, measured)
    way, up_ns = tools.direction(measured)
    one = path.learn(way)
    if not measured.one_way:
        head.append(f"Half of the least round trip, {words.time_text(up_ns)}, is in `up`; what "
                    "varies, and what is lost, is in `down`: round trips do not tell.")
    fixed: dict[str, list[str]] = {
        "down": [], "up": [] if measured.one_way else [f"delay {words.time_text(up_ns)}"]}
    if measured.rate is not None and one.queue.rate is None:
        fixed["down"].append(f"rate {words.rate_text(estimate.rounded(measured.rate))}")
    return finish(options, head, None, {"down": one}, fixed)


def _rate_only(options: argparse.Namespace, head: list[str], measured: tools.Measured) -> int:
    assert measured.rate is not None
    rate = words.rate_text(estimate.rounded(measured.rate))
    text = words.plain(head, f"rate {rate}", options.seed)
    if options.out:
        with open(options.out, "w", encoding="utf-8") as file:
            file.write(text)
    else:
        print(text, end="")
    return FITS


def finish(options: argparse.Namespace, head: list[str], settled: clocks.Clocks | None,
           learned: dict[str, path.Learned], fixed: dict[str, list[str]] | None = None) -> int:
    """Writes the scenario and its proof. `fixed` has statements by cloud that were not learned."""
    with tempfile.TemporaryDirectory(prefix="weir-learn-") as place:
        out = options.out or os.path.join(place, "path.weir")
        clouds = [_cloud(options, out, name, one) for name, one in learned.items()]
        if not options.out and os.listdir(place):
            raise pairs.NothingToLearn("the delays, or the windows, need a file beside the "
                                       "scenario: say with -o where the scenario goes")
        return _prove(options, os.path.dirname(os.path.abspath(out)), head, settled, learned,
                      clouds, fixed or {})


def _cloud(options: argparse.Namespace, out: str, name: str, one: path.Learned) -> words.Words:
    """Writes one direction, and the files beside the scenario that it names."""
    trace = None
    if options.windows:
        at_random = one.direction.lost & ~one.queue.full
        csv = words.table_path(out, f"{name}.csv")
        found = windows.learn(one.direction, nanoseconds(options.windows), at_random)
        with open(csv, "w", encoding="ascii") as file:
            file.write(windows.csv(found))
        trace = (os.path.basename(csv), found)
        # What changes over time is in the trace.
        one.doubts[:] = [why for why in one.doubts if "changes" not in why]
    table = words.table_path(out, f"{name}.delays")
    w = words.cloud(name, one, os.path.basename(table), trace)
    if w.table is not None:
        with open(table, "w", encoding="ascii") as file:
            file.write("\n".join(w.table) + "\n")
    return w


def nanoseconds(text: str) -> float:
    """Reads a time, which `weir learn` has checked."""
    for unit, size in (("ns", 1), ("us", 1e3), ("ms", 1e6), ("min", 60e9), ("h", 3600e9),
                       ("s", 1e9)):
        if text.endswith(unit):
            return float(text.removesuffix(unit)) * size
    raise pairs.NothingToLearn(f"--windows `{text}` is no time")


def _prove(options: argparse.Namespace, folder: str, head: list[str],
           settled: clocks.Clocks | None, learned: dict[str, path.Learned],
           clouds: list[words.Words], fixed: dict[str, list[str]]) -> int:
    text = words.scenario(head, settled, clouds, options.seed, [], fixed)
    fits, said, rows, runs = True, [], {}, {}
    for name, one in learned.items():
        rows[name], runs[name] = proof.prove(one.direction, name, text, folder, options.seed)
        good, why = proof.verdict(rows[name], one.doubts, settled is None or settled.sure)
        fits = fits and good
        said += [f"{name}: {sentence}" for sentence in why]
    text = words.scenario(head, settled, clouds, options.seed,
                          [f"Proof: {sentence}" for sentence in said], fixed)
    if options.out:
        with open(options.out, "w", encoding="utf-8") as file:
            file.write(text)
    if options.picture:
        with open(options.picture, "w", encoding="utf-8") as file:
            file.write(picture.page(f"What weir learned of {options.out or 'a path'}", text, said,
                                    learned, rows, runs))
    _print(options, text, said, learned, rows, settled, fits)
    return FITS if fits else NO_FIT


def _print(options: argparse.Namespace, text: str, said: list[str],
           learned: dict[str, path.Learned], rows: dict[str, list[proof.Row]],
           settled: clocks.Clocks | None, fits: bool) -> None:
    if options.json:
        result: dict[str, Any] = {
            "fits": fits, "verdict": said, "scenario": text,
            "clocks": None if settled is None else {
                "sure": settled.sure, "notes": settled.notes,
                "skew": None if settled.skew is None else settled.skew.json()},
            "clouds": {name: {**one.json(), "proof": proof.json_of(rows[name])}
                       for name, one in learned.items()}}
        print(json.dumps(result, indent=1))
        return
    if options.out:
        for sentence in said:
            print(sentence)
    else:
        print(text, end="")
