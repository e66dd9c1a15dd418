#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The same seed gives the same bytes on every machine: the outputs of a capture in each scenario of
configs/ have the digests in tests/configs/digests, on every processor.

usage: digests.py WEIR ROOT             compares
       digests.py WEIR ROOT --write     writes the file, after a change on purpose of a scenario or
                                        of what a statement does
"""
import glob
import hashlib
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402

WEIR, ROOT = map(os.path.abspath, sys.argv[1:3])
CAPTURE = os.path.join(ROOT, "tests/replay/data/linux-tcp.pcap")
FILE = os.path.join(ROOT, "tests/configs/digests")
SCENARIOS = [os.path.basename(path)
             for path in sorted(glob.glob(os.path.join(ROOT, "configs", "*.weir")))]


def digest(scenario):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([WEIR, "replay", "-q", "-c", f"configs/{scenario}",
                               "--in", f"a,b={CAPTURE}",
                               "--split", "mac=02:00:00:00:00:0a", "--out", f"a={folder}/a.pcap",
                               "--out", f"b={folder}/b.pcap"],
                              cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        both = hashlib.sha256()
        for name in ("a.pcap", "b.pcap"):
            with open(f"{folder}/{name}", "rb") as file:
                both.update(hashlib.sha256(file.read()).digest())
    return both.hexdigest()


def known():
    with open(FILE, encoding="ascii") as file:
        return {name: text
                for text, name in (line.split() for line in file if not line.startswith("#"))}


def has_its_digest(scenario, wanted):
    found = digest(scenario)
    assert found == wanted, (
        f"{found} instead of {wanted}; on purpose? tests/configs/digests.py WEIR ROOT --write")


def every_scenario_has_one(digests):
    assert sorted(digests) == SCENARIOS, sorted(set(digests) ^ set(SCENARIOS))


if sys.argv[3:] == ["--write"]:
    with open(FILE, "w", encoding="ascii") as out:
        out.write("# SPDX-License-Identifier: BSD-3-Clause\n"
                  "# Made by tests/configs/digests.py --write: of both captures that "
                  "come out.\n")
        for name in SCENARIOS:
            out.write(f"{digest(name)} {name}\n")
    sys.exit()
DIGESTS = known()
CLAIMS = [("every scenario has a digest", lambda: every_scenario_has_one(DIGESTS))]
CLAIMS += [(f"{name}: the bytes of every machine",
            lambda name=name: has_its_digest(name, DIGESTS.get(name)))
           for name in SCENARIOS]
sys.exit(tap.run(CLAIMS))
