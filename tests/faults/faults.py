#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes every call that can fail do so in turn: once, and then from that call on (faults.h).

usage: faults.py WEIR-FAULTS MAKE-CAPTURE SOURCE [--most N] [--only WORD] [--seed N]

--most N: only N calls of each scenario and kind, drawn with the seed; otherwise all. Prints TAP; a
failure names the call that was refused, and its callers.
"""
import argparse
import os
import random
import shutil
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import commands  # noqa: E402
import sessions  # noqa: E402
import tap  # noqa: E402
from page import Page  # noqa: E402

SHOWN = 12


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("make_capture")
    parser.add_argument("source")
    parser.add_argument("--most", type=int, default=0)
    parser.add_argument("--only", default="")
    parser.add_argument("--seed", type=int, default=int(os.environ.get("WEIR_FAULTS_SEED", "1")))
    given = parser.parse_args()
    for name in ("program", "make_capture", "source"):
        setattr(given, name, os.path.abspath(getattr(given, name)))
    return given


def drawn(given, name, calls):
    """Returns the numbers of the calls that are to fail: all, or some."""
    if not given.most or calls <= given.most:
        return list(range(1, calls + 1))
    return sorted(random.Random(f"{given.seed} {name}").sample(range(1, calls + 1), given.most))


class Findings:
    """Collects failures by the message and the place of the call, so that one defect is reported
    once."""

    def __init__(self):
        self.found, self.runs = {}, 0

    def add(self, wrong, page, at, onwards):
        key = (wrong.splitlines()[0], page.where())
        self.found.setdefault(key, []).append((f"{at}{' and on' if onwards else ''}", wrong))

    def done(self, calls, begun):
        print(f"# {calls} calls, {self.runs} runs, {time.monotonic() - begun:.1f} s")
        lines = []
        for (_, where), cases in list(self.found.items())[:SHOWN]:
            lines += [f"call {cases[0][0]} (and {len(cases) - 1} more): {where}",
                      f"  {cases[0][1]}"]
        assert not self.found, f"{len(self.found)} places\n" + "\n".join(lines)


class Peer:
    """The weir that a scenario talks to. It undoes the changes of each run. None of its own calls
    fails."""

    def __init__(self, given, scenario, folder):
        self.undo = scenario.undo
        self.weir = (sessions.Weir(given, folder, None, "run-to-completion")
                     if self.undo is not None else None)
        self.before = self.after = self.weir and self.weir.config()

    def reference(self):
        if self.weir:
            self.after = self.weir.config()
            self.weir.take_back(self.undo, self.before)

    def judge(self, result):
        if not self.weir:
            return None
        config = self.weir.config()
        if config != self.before:
            self.weir.take_back(self.undo, self.before)
        if config not in (self.before, self.after):
            return f"it has made of the scenario what nobody has asked for: {config}"
        return (None if config == self.after
                or result.status != 0 else "status 0, and nothing is changed")

    def stop(self):
        if self.weir:
            self.weir.stop()


def fails_well(given, scenario, kind, folder):
    if why := commands.lacks(scenario):
        raise tap.Skip(why)
    peer = Peer(given, scenario, folder)
    try:
        every_call_fails(given, scenario, kind, folder, peer)
    finally:
        peer.stop()


def every_call_fails(given, scenario, kind, folder, peer):
    begun, findings = time.monotonic(), Findings()
    page = Page(os.path.join(folder, "page"), given.program)
    page.arm(kind, 0)
    reference = commands.run(given.program, scenario, folder, page)
    calls = page.counted
    peer.reference()
    assert reference.status == scenario.status, f"status {reference.status}: {reference.stderr}"
    for at in drawn(given, f"{scenario.name} {kind}", calls):
        for onwards in (False, True):
            page.arm(kind, at, onwards)
            result = commands.run(given.program, scenario, folder, page)
            findings.runs += 1
            there = peer.judge(result)
            wrong = page.refused and commands.judge(scenario, kind, reference, result) or there
            if wrong:
                findings.add(f"{wrong}\n{result.stderr[-600:]}", page, at, onwards)
    findings.done(calls, begun)


def main():
    given = options()
    given.drawn = lambda name, calls: drawn(given, name, calls)
    folder = tempfile.mkdtemp(prefix="weir-faults-")
    claims = []
    try:
        commands.prepare(folder, given.make_capture, given.source)
        # These take seconds in any case, so only the full sweep runs them.
        for scenario in commands.SCENARIOS:
            if given.most and scenario.name in ("bench", "exec-between"):
                continue
            for kind in scenario.kinds:
                claims.append((f"{scenario.name}: {kind} that fails is an error told and nothing "
                               "by halves",
                               lambda s=scenario, k=kind: fails_well(given, s, k, folder)))
        claims += sessions.claims(given, folder, Findings)
        claims = [claim for claim in claims if given.only in claim[0]]
        return tap.run(claims)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    sys.exit(main())
