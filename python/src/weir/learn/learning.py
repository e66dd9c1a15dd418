# SPDX-License-Identifier: BSD-3-Clause
"""What `weir learn` does with what was measured: a scenario, and its proof."""

from __future__ import annotations

import datetime
import json
import os
import sys
import tempfile
from typing import Any

from .._command import CommandError
from ..errors import Failed
from . import clocks, found, pairs, path, picture, proof, windows, words
from .found import Found
from .live import client
from .options import Options
from .readers import files
from .traces import scenario

FITS, NO_FIT, NOTHING = 0, 1, 2


def run(options: Options) -> int:
    """Returns the exit status."""
    try:
        if options.trace:
            return write(options, scenario.of_files(options.files, options.out, options.seed))
        if options.live:
            return finish(options, client.learn(options.live, options.time_ns, options.most_bps,
                                                options.clocks))
        return finish(options, _captures(options) if options.sent else _tool(options))
    except (pairs.NothingToLearn, CommandError, Failed) as error:
        text = str(error).removeprefix("weir learn: ")
        print(f"weir learn: {text}", file=sys.stderr)
        return NOTHING
    except OSError as error:
        print(f"weir learn: {error.filename}: {error.strerror}", file=sys.stderr)
        return NOTHING


def _captures(options: Options) -> Found:
    """Learns from the captures of both ends."""
    read = pairs.read(options.sent, options.received)
    ways = {"down": read.forward, "up": None if options.one_way else read.back}
    there = {name: way for name, way in ways.items() if way is not None}
    first = min((int(way.sent_ns[0]) for way in there.values()), default=0)
    day = datetime.datetime.fromtimestamp(first / 1e9, datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")
    changed = read.facts["changed"]
    head = [f"Learned by `weir learn` from {os.path.basename(options.sent)} and "
            f"{os.path.basename(options.received)}, of {day}: "
            f"{read.facts['pairs']} packets are in both."]
    if changed:
        head.append(f"The path changes {' and '.join(changed)} of packets, as a NAT does.")
    joined = sum(one["super_frames"] for one in read.facts["captures"])
    if joined:
        head.append(f"{joined} super-frames of TCP were cut into packets of 1500 bytes; their "
                    "packets have one stamp. `ethtool -K INTERFACE tso off gso off gro off` before "
                    "the capture gives each its own.")
    if read.facts["alike"] > read.facts["pairs"] / 20:
        head.append(f"{read.facts['alike']} packets look like others: which is which is a guess.")
    return found.of_ways(head, there, options.clocks)


def _tool(options: Options) -> Found:
    """Learns from the figures of another tool."""
    measured = files.read(options.files[0])
    ends = "both directions are known" if measured.ways else "seen from one end only"
    return found.of_tool([f"Learned by `weir learn` from {os.path.basename(options.files[0])}, of "
                          f"{measured.tool}: {ends}."], measured, options.clocks)


def finish(options: Options, one: Found) -> int:
    """Writes the scenario and its proof."""
    if not one.learned:
        return _plain(options, one)
    with tempfile.TemporaryDirectory(prefix="weir-learn-") as place:
        out = options.out or os.path.join(place, "path.weir")
        clouds = [_cloud(options, out, name, way) for name, way in one.learned.items()]
        if not options.out and os.listdir(place):
            raise pairs.NothingToLearn("the delays, or the windows, need a file beside the "
                                       "scenario: say with -o where the scenario goes")
        return _prove(options, os.path.dirname(os.path.abspath(out)), one, clouds)


def _plain(options: Options, one: Found) -> int:
    """Writes statements that were not learned of packets: there is no proof of them."""
    for option, given in (("picture", options.picture), ("windows", options.windows_ns)):
        if given:
            raise pairs.NothingToLearn(f"--{option} needs packets, and the measurement has none")
    return write(options, words.plain(one.head, one.fixed, options.seed))


def write(options: Options, text: str) -> int:
    """Writes a scenario without a proof."""
    if options.out:
        with open(options.out, "w", encoding="utf-8") as file:
            file.write(text)
    if options.json:
        print(json.dumps({"fits": None, "verdict": [], "scenario": text, "clocks": None,
                          "clouds": {}}, indent=1))
    elif not options.out:
        print(text, end="")
    return FITS


def _cloud(options: Options, out: str, name: str, one: path.Learned) -> words.Words:
    """Writes one direction, and the files beside the scenario that it names."""
    trace = None
    if options.windows_ns:
        at_random = one.direction.lost & ~one.queue.full
        csv = words.table_path(out, f"{name}.csv")
        found = windows.learn(one.direction, options.windows_ns, at_random)
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


def _prove(options: Options, folder: str, one: Found,
           clouds: list[words.Words]) -> int:
    settled, learned = one.settled, one.learned
    text = words.scenario(one.head, settled, clouds, options.seed, [], one.fixed)
    fits, said, rows, runs = True, [], {}, {}
    for name, way in learned.items():
        rows[name], runs[name] = proof.prove(way.direction, name, text, folder, options.seed)
        good, why = proof.verdict(rows[name], way.doubts, settled is None or settled.sure)
        fits = fits and good
        said += [f"{name}: {sentence}" for sentence in why]
    text = words.scenario(one.head, settled, clouds, options.seed,
                          [f"Proof: {sentence}" for sentence in said], one.fixed)
    if options.out:
        with open(options.out, "w", encoding="utf-8") as file:
            file.write(text)
    if options.picture:
        with open(options.picture, "w", encoding="utf-8") as file:
            file.write(picture.page(f"What weir learned of {options.out or 'a path'}", text, said,
                                    learned, rows, runs))
    _print(options, text, said, learned, rows, settled, fits)
    return FITS if fits else NO_FIT


def _print(options: Options, text: str, said: list[str],
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
