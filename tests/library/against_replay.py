#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What libweir does with frames is what `weir replay` does with a capture of them: the same bytes
at the same instants, the same fates, the same report, however the library is called. For every
scenario in configs/, and for random scenarios of the property tests.

usage: against_replay.py WEIR PLAYER CORPUS ROOT

WEIR_LIBRARY_CASES=N takes N random scenarios in place of 24 (6 under a sanitizer). A player in
Python plays within this process: to start another one takes longer than a thousand frames.
"""
import contextlib
import glob
import importlib
import json
import os
import random
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402

WEIR, PLAYER, CORPUS, ROOT = (os.path.abspath(word) for word in sys.argv[1:5])
CAPTURE = os.path.join(ROOT, "tests/replay/data/linux-tcp.pcap")
SANITIZED = "WEIR_SANITIZED" in os.environ  # it is slow, and looks for wrong accesses
CASES = int(os.environ.get("WEIR_LIBRARY_CASES", "6" if SANITIZED else "24"))
SEED = "7"
# Of a port: what captures have and frames in memory do not.
OF_CAPTURES = ("clock_back", "clock_back_max_ns", "sorted", "late", "wrong_stamps",
               "clock_set_back", "no_time", "other_link", "truncated", "no_file")
# Of a cloud that another network goes on with: histograms begin anew.
OF_HISTOGRAMS = ("delay_ns", "line_ns", "line_packets", "line_mean_ns", "line_deviation_ns")


def frames_of(path):
    """Yields (t_ns, bytes on the wire, data) of a capture with nanoseconds."""
    with open(path, "rb") as capture:
        assert capture.read(24)[:4] == b"\x4d\x3c\xb2\xa1", f"{path} has no nanoseconds"
        while head := capture.read(16):
            seconds, nanoseconds, there, wire = struct.unpack("<4I", head)
            yield seconds * 10 ** 9 + nanoseconds, wire, capture.read(there)


def save(folder, frames):
    """Writes frames, each with the number of its port, as a capture of each port, and for the
    player. Returns the captures by number."""
    with contextlib.ExitStack() as stack:
        captures = {}
        everything = stack.enter_context(open(f"{folder}/frames", "wb"))
        for t_ns, port, wire, data in frames:
            everything.write(struct.pack("<qIII", t_ns, port, wire, len(data)) + data)
            if port not in captures:
                captures[port] = stack.enter_context(open(f"{folder}/in-{port}.pcap", "wb"))
                captures[port].write(struct.pack("<IHHiIII", 0xa1b23c4d, 2, 4, 0, 0, 262144, 1))
            captures[port].write(struct.pack("<4I", *divmod(t_ns, 10 ** 9), len(data), wire) + data)
        return {port: capture.name for port, capture in captures.items()}


def ports_of(scenario):
    with open(scenario, encoding="utf-8") as lines:
        return [line.split()[1] for line in lines if line.startswith("port ")]


def replay(scenario, folder, captures):
    ports = ports_of(scenario)
    words = [word for port, path in captures.items() for word in ("--in", f"{ports[port]}={path}")]
    words += [word for port in ports for word in ("--out", f"{port}={folder}/{port}.pcap")]
    subprocess.run([WEIR, "replay", "-q", "-c", scenario, "--seed", SEED, *words, "--report",
                    f"{folder}/report.json", "--log", f"{folder}/log.csv"], check=True,
                   stderr=subprocess.DEVNULL)
    return ports


def report_of(path, without):
    with open(path, encoding="utf-8") as text:
        report = json.load(text)
    for port in report["ports"]:
        for key in OF_CAPTURES:
            port.pop(key, None)
    for cloud in report["clouds"]:
        for key in without:
            cloud.pop(key, None)
    return report


def log_of(folder):
    with open(f"{folder}/log.csv", encoding="utf-8") as log:
        return sorted(log)


def play(*words):
    """Plays frames, and returns what went wrong."""
    if not PLAYER.endswith(".py"):
        done = subprocess.run([PLAYER, *words], capture_output=True, text=True)
        return done.stderr if done.returncode else ""
    sys.path.insert(0, os.path.dirname(PLAYER))
    try:
        importlib.import_module("player").Player(*words).play()
    except Exception as error:  # whatever it is, the library or its binding is wrong
        return repr(error)
    finally:
        del sys.path[0]
    return ""


def differs(scenario, folder, ports, *how):
    """Plays the frames, and returns what differs from the replay in `folder`."""
    own = f"{folder}/own"
    os.makedirs(own, exist_ok=True)
    wrong = play(scenario, SEED, f"{folder}/frames", own, *map(str, how))
    if wrong:
        return f"player: {wrong}"
    for port in ports:
        theirs, ours = (list(frames_of(f"{where}/{port}.pcap")) for where in (folder, own))
        if theirs != ours:
            at = next((i for i, (a, b) in enumerate(zip(theirs, ours)) if a != b),
                      min(len(theirs), len(ours)))
            return (f"port {port}: {len(ours)} frames, {len(theirs)} in the replay; number "
                    f"{at + 1} differs: {ours[at:at + 1]}, {theirs[at:at + 1]}")
    without = OF_HISTOGRAMS if how[1:2] in (("clone",), ("load",)) else ()
    theirs, ours = (report_of(f"{where}/report.json", without) for where in (folder, own))
    if theirs != ours:
        for part in ("clouds", "ports"):
            for a, b in zip(theirs[part], ours[part]):
                if a != b:
                    return "report: " + ", ".join(
                        f"{part} {a.get('cloud', a.get('port'))} {key}: {b.get(key)}, {value} in "
                        f"the replay" for key, value in a.items() if b.get(key) != value)[:400]
        return f"report: {ours}, {theirs} in the replay"
    if "fates" in how and log_of(folder) != log_of(own):
        return "fates differ"
    return None


def claims_of_configs(place):
    frames = [(t, data[6:12] != b"\x02\0\0\0\0\x0a", wire, data)
              for t, wire, data in frames_of(CAPTURE)]
    captures = save(place, frames)
    half = len(frames) // 2
    hows = ((1, "next"), (256, "late"), (7, "fates"), (32, "clone", half), (5, "load", half))
    for number, scenario in enumerate(sorted(glob.glob(os.path.join(ROOT, "configs", "*.weir")))):
        def is_the_same(number=number, scenario=scenario):
            ports = replay(scenario, place, captures)
            for how in hows[number % 5:][:1] if SANITIZED else hows:
                wrong = differs(scenario, place, ports, *how)
                assert not wrong, f"{how}: {wrong}"
        yield f"{os.path.basename(scenario)} is the same", is_the_same


def claims_of_corpus(place):
    text = subprocess.run([CORPUS, str(CASES // 18 + 1), "text"], stdout=subprocess.PIPE,
                          text=True, check=True).stdout
    scenarios = [part for part in text.split("\n\n") if part.startswith("port ")]
    random.Random(1).shuffle(scenarios)
    frames = list(frames_of(CAPTURE))[:1200]

    def random_scenarios_are_the_same():
        tried = 0
        for number, body in enumerate(scenarios):
            if tried == CASES:
                break
            path = f"{place}/{number}.weir"
            with open(path, "w", encoding="utf-8") as scenario:
                scenario.write(body + "\n")
            ports = ports_of(path)
            dice = random.Random(number)
            captures = save(place, [(t, dice.randrange(min(4, len(ports))), wire, data)
                                    for t, wire, data in frames])
            try:
                replay(path, place, captures)
            except subprocess.CalledProcessError:
                continue
            tried += 1
            for how in ((dice.choice((1, 2, 31, 32)), dice.choice(("plain", "next", "late"))),
                        (32, "fates"),
                        (dice.choice((3, 32)), dice.choice(("clone", "load")),
                         dice.randrange(1, len(frames)))):
                wrong = differs(path, place, ports, *how)
                assert not wrong, f"{how}: {wrong}\n{body}"
            os.remove(path)
        assert tried == CASES, f"only {tried} scenarios could be replayed"

    yield f"{CASES} random scenarios are the same", random_scenarios_are_the_same


os.chdir(ROOT)  # where scenarios name files from
with tempfile.TemporaryDirectory() as folder:
    sys.exit(tap.run([*claims_of_configs(folder), *claims_of_corpus(folder)]))
