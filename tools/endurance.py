#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes docs/endurance.md from what `weir bench` measured: hours under load, changes, RFC 2544.

usage: endurance.py WEIR [--hours H] [--continue FILE] [--priority N]
           measures, and writes (takes H hours and some minutes)
       endurance.py FILE... [--remark TEXT]
           of documents of `weir bench ... -j`, at least one, and of `soak --continue`
"""
import argparse
import json
import os
import subprocess
import sys
import textwrap

PAGE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "docs",
                    "endurance.md")
MADE = "<!-- Made by tools/endurance.py: do not edit it. -->"


def measured(arguments):
    soak = ["soak", "--hours", str(arguments.hours)]
    if arguments.resume:
        soak += ["--continue", arguments.resume]
    for words in (soak, ["reconf"], ["rfc2544", "--frame", "64"]):
        command = [arguments.source[0], "bench", *words, "-j"]
        if arguments.priority:
            command += ["--priority", str(arguments.priority)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode not in (0, 1) or not done.stdout:
            sys.exit(f"endurance.py: {' '.join(command)}: status {done.returncode}")
        yield json.loads(done.stdout)


def prose(text):
    return textwrap.fill(text, 100, break_long_words=False, break_on_hyphens=False) + "\n"


def number(value):
    return f"{value:,.0f}"


def microseconds(ns):
    return f"{ns / 1000:,.1f}"


def table(head, rows):
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield "| " + " | ".join(row) + " |"
    yield ""


def window(row):
    late, own = row["lateness_ns"], row["own_lateness_ns"]
    return [number(row["offered_packets"]), number(row["lost_packets"]),
            number(row["missed_packets"] - row["missed_away_packets"]),
            number(row["missed_away_packets"]), f"{max(0, row['taken']):.1%}",
            *(microseconds(late[key]) for key in ("p50", "p99.99")),
            *(microseconds(own[key]) for key in ("p50", "p99", "p99.9", "p99.99")),
            number(row["late_packets"])]


WINDOW = ["offered", "lost by weir", "missed by weir", "missed, others had the processor",
          "they had it", "late µs, p50", "p99.99",
          "of weir's own doing: p50", "p99", "p99.9", "p99.99", "later than a poll"]
HOW = """## How to run it

<!-- example: not run: takes hours -->
```
weir bench soak --hours 8 --priority 50 --continue soak.json    # ^C, and the same again: goes on
weir bench reconf --priority 50 -j > reconf.json
weir bench rfc2544 --frame 64 -j > rfc2544.json
tools/endurance.py build/mine/src/weir --hours 8 --priority 50  # all three, and this page
```

It needs a processor for the worker, and a second one for control, the clients and the tester. If
other processes run there, the tables below show this as time that others had the processor. The
figures are in [soak.json](measured/soak.json), from which `--continue` goes on, and in
[reconf.json](measured/reconf.json). `tools/endurance.py FILE...` makes this page from them.

## How to read it

- *Lost by weir* must be 0: packets for which weir had no memory or no room.
- *Missed* packets came due while the worker was away for longer than a receive ring of 1,024 frames
  lasts. A NIC would have lost them. If others had the worker's processor meanwhile (a process, the
  kernel's real-time limit, a hypervisor), the machine is the cause, and the packets are counted
  apart ([reconf](bench.md#reconf)); the remainder is weir's.
- *Late* is the time from the due time to the hand-over to the device. *Of weir's own doing* leaves
  out packets that came due while others had the processor, or while the worker caught up
  afterwards. *Later than a poll* must be 0.
- *Not accounted for* must be 0: every packet that came into a cloud has left it, was dropped, or is
  held.
- *Memory* consists of the pages that weir has written (anonymous and shared). It may grow by 1 MiB
  after the first minute. *Mapped files* are pages of programs and libraries, which the kernel
  discards and reads again as it likes.
"""


def soak(row):
    seconds = sum(part["seconds"] for part in row["parts"])
    growth = {what: max(part[f"{what}_kib"] - part[f"{what}_first_kib"] for part in row["parts"])
              for what in ("written", "rss")}
    yield f"## {seconds:,.0f} s at half of the critical load\n"
    yield prose(f"At a loss of at most {row['loss_bound']:.2g} the critical load was "
                f"{row['critical_mpps']:.2f} Mpps "
           f"({row['critical_mpps_min']:.2f} to {row['critical_mpps_max']:.2f} in "
           f"{row['searches']} searches). Half of it, "
           f"{row['load_mpps']:.2f} Mpps of 64-byte frames, then flowed for {seconds:,.0f} s, with "
           "a change each second, `weir top`, "
           f"`weir serve` and a capture of drops attached. Memory grew by {growth['written']:,} "
           "KiB after the first minute, with "
           f"mapped files by {growth['rss']:,} KiB.")
    yield from table(["until", *WINDOW, "changes", "attached", "memory KiB", "with mapped files",
                      "not accounted for"],
                     ([f"{part['until_s']:,.0f} s", *window(part), number(part["changes"]),
                       number(part["attached"]),
                       number(part["written_kib"]), number(part["rss_kib"]),
                       number(part["unaccounted_packets"])] for part in row["parts"]))


def reconf(row):
    yield f"## {row['changes']} changes at 1 Mpps\n"
    yield prose(f"weir blocked packets for {row['blocked_ns'] / 1e6:.3f} ms in all. Others had its "
                "processor for "
           f"{max(0, row['taken_ns']) / 1e6:.3f} ms, which blocked packets for "
           f"{row['blocked_away_ns'] / 1e6:.3f} ms. The longest of its own "
           f"polls took {microseconds(row['with']['own_longest_poll_ns'])} µs, without changes "
           f"{microseconds(row['without']['own_longest_poll_ns'])}.")
    yield from table(["", *WINDOW],
                     (["with changes", *window(row["with"])], ["without", *window(row["without"])]))


def rfc2544(rows):
    yield "## RFC 2544, 8219 and 9004\n"
    first = rows[0]
    yield prose(f"Under test: {first['under_test']}. Trials of {first['trial_seconds']:g} s, "
                f"{first['throughput']['n']} searches, "
           f"{first['latency_repeats']} latency trials, {first['back_to_back_repeats']} bursts.")
    yield from table(["bytes", "throughput Mpps", "least to greatest", "typical latency µs",
                      "worst case", "PDV", "back-to-back",
                      "least to greatest", "deviation", "corrected buffer µs"],
                     ([number(row["frame_bytes"]), f"{row['throughput_mpps']:.3f}",
                       f"{row['throughput']['min']:.3f} to {row['throughput']['max']:.3f}",
                       microseconds(row["typical_latency_ns"]["median"]),
                       microseconds(row["worst_case_latency_ns"]["median"]),
                       microseconds(row["delay_variation_ns"]["median"]),
                       number(row["back_to_back"]["mean"]),
                       f"{number(row['back_to_back']['min'])} to "
                       f"{number(row['back_to_back']['max'])}",
                       number(row["back_to_back"]["deviation"]),
                       microseconds(row["corrected_buffer_ns"])] for row in rows))


def page(documents, remark):
    rows = [row for document in documents for row in document["rows"]]
    of = {part: [row for row in rows if row["part"] == part]
          for part in ("soak", "reconf", "rfc2544")}
    machine = next((document["machine"] for document in documents if "machine" in document), None)
    if machine is None:
        sys.exit("endurance.py: none of these files names the machine; add a document of "
                 "`weir bench reconf -j` or `weir bench rfc2544 -j`")
    yield f"{MADE}\n\n# Endurance\n"
    yield prose("How weir behaves in long runs, measured by `tools/endurance.py` with [`weir "
                f"bench`](bench.md), weir {machine['weir']}, "
           f"{machine['dpdk']}, on {machine['cpu']}"
           + (f", a guest of {machine['hypervisor']}" if machine.get("hypervisor") else "")
                + f", Linux {machine['kernel']}. "
           "The machine is not quiet: beside each figure stands how much of the worker's processor "
           "others had.")
    if remark:
        yield prose(remark)
    yield HOW
    for row in of["soak"]:
        yield from soak(row)
    for row in of["reconf"]:
        yield from reconf(row)
    if of["rfc2544"]:
        yield from rfc2544(of["rfc2544"])


def main():
    parser = argparse.ArgumentParser(description="docs/endurance.md")
    parser.add_argument("source", nargs="+")
    parser.add_argument("--hours", type=float, default=8)
    parser.add_argument("--continue", dest="resume")
    parser.add_argument("--priority", type=int)
    parser.add_argument("--remark")
    arguments = parser.parse_args()
    if all(path.endswith(".json") for path in arguments.source):
        documents = []
        for path in arguments.source:
            with open(path, encoding="utf-8") as file:
                known = json.load(file)
            # --continue stores a row alone.
            documents.append(known if "rows" in known else {"rows": [known]})
    else:
        documents = list(measured(arguments))
    text = "\n".join(page(documents, arguments.remark)).rstrip() + "\n"
    with open(PAGE, "w", encoding="utf-8") as out:
        out.write(text)


if __name__ == "__main__":
    main()
