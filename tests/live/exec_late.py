# SPDX-License-Identifier: BSD-3-Clause
"""Compares what weir said of a packet that left late (test_exec_late.sh): FOLDER LEAST_NS."""

import csv
import json
import sys


def read(name):
    with open(f"{sys.argv[1]}/{name}", encoding="utf-8") as file:
        return json.load(file)


def port(ports):
    return next(port for port in ports if port["port"] == "world")


def main():
    least = int(sys.argv[2])
    report, ports, cloud, totals = (read(name) for name in ("report", "ports", "cloud", "totals"))
    with open(f"{sys.argv[1]}/log", encoding="utf-8", newline="") as file:
        log = [row for row in csv.DictReader(file) if row["cloud"] == "up"]
    late = max(int(row["late_ns"]) for row in log if row["late_ns"])
    assert late >= least, late
    assert all(row["late_ns"] for row in log if row["fate"] == "delivered"), log
    up = next(cloud for cloud in report["clouds"] if cloud["cloud"] == "up")
    said = {
        "report, cloud": up["lateness_ns"]["max"],
        "report, port": port(report["ports"])["lateness_ns"]["max"],
        "show ports": port(ports["ports"])["lateness_ns"]["max"],
        "show cloud": cloud["lateness_ns"]["max"],
        "show totals": port(totals["ports"])["lateness_ns"]["max_ns"],
    }
    assert set(said.values()) == {late}, (late, said)
    # The emulated delay is what it was to be, and the capture has the real instants: a frame is
    # stamped when it is handed over, which is after the reading from which lateness counts.
    assert up["delay_ns"]["max"] == up["delay_ns"]["min"] == 10**9, up["delay_ns"]
    units = {"ns": 1, "µs": 10**3, "ms": 10**6, "s": 10**9}
    comments = []
    with open(f"{sys.argv[1]}/comments", encoding="utf-8") as file:
        for line in file:
            where, _, value, unit, word = line.split()
            assert (where, word) == ("world:sent", "late"), line
            comments.append(float(value) * units[unit])
    assert abs(max(comments) - late) <= late / 200, (comments, late)  # three digits
    seen = {}
    with open(f"{sys.argv[1]}/frames", encoding="ascii") as file:
        for line in file:
            where, at, *name = line.split()
            seconds, fraction = at.split(".")
            seen.setdefault(tuple(name), {})[where] = int(seconds) * 10**9 + int(fraction)
    crossed = max(at["world"] - at["command"] for at in seen.values() if len(at) == 2)
    assert crossed >= 10**9 + late, (crossed, late)


main()
