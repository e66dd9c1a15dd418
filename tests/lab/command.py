#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""weir lab as a user meets it: exit status, messages, the same bytes for the same seed, whole frames."""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import tap  # noqa: E402

WEIR = sys.argv[1]
SHORT = ["--seeds", "1", "--no-figures", "--set", "duration=30s", "--set", "warmup=5s"]


def lab(*words):
    return subprocess.run([WEIR, "lab", *words], capture_output=True, text=True, timeout=100, check=False)


def listed():
    names = [row["name"] for row in json.loads(lab("list", "-j").stdout)]
    return "becn-45" in names and lab("list").returncode == 0


def refused(words, text):
    answer = lab(*words)
    return answer.returncode == 2 and text in answer.stderr and answer.stdout == ""


def row():
    answer = json.loads(lab("run", "A1", "-j", *SHORT).stdout)
    wanted = {"id", "parameters", "values", "paper", "band", "pass"}
    return wanted <= set(answer) and answer["id"] == "A1" and list(answer["parameters"]) == ["plain"]


def repeats():
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for jobs in ("1", "2"):
            out = f"{folder}/{jobs}"
            answer = lab("run", "becn-45", *SHORT, "--seeds", "2", "--jobs", jobs, "--out", out)
            if answer.stderr:
                return False
            files.append([pathlib.Path(out, name).read_bytes()
                          for name in ("results.csv", "results.json", "report.html")])
        return files[0] == files[1] and b"plain" in files[0][0]


def seeds_differ():
    first, second = (lab("run", "droptail", *SHORT, "--seed", seed).stdout for seed in "12")
    return first != second


def conserves():
    answer = json.loads(lab("run", "becn-45", "-j", *SHORT).stdout)
    for run in answer["runs"]:
        figures = run["figures"]
        if figures["all.broken"] != 0 or figures["all.strangers"] != 0:
            return False
        if not 0 < figures["ours.goodput"] <= 10.5:
            return False
    return True


def capture_is_whole():
    with tempfile.TemporaryDirectory() as folder:
        pcap = f"{folder}/run.pcap"
        answer = lab("run", "becn-45", *SHORT, "--case", "ecn", "--pcap", pcap)
        if answer.stderr or pathlib.Path(pcap).stat().st_size < 1 << 20:
            return False
        if not shutil.which("tshark"):
            raise tap.Skip("tshark is not there")
        wrong = subprocess.run(
            ["tshark", "-r", pcap, "-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE",
             "-Y", "_ws.malformed || ip.checksum.status == 0 || tcp.checksum.status == 0"],
            capture_output=True, text=True, timeout=100, check=False)
        return wrong.returncode == 0 and wrong.stdout == ""


def check(true):
    assert true, "it is not so"


CLAIMS = [
    ("list names the experiments",
     lambda: check(listed())),
    ("an unknown experiment is refused, with the nearest",
     lambda: check(refused(["run", "becn-54"], "did you mean `becn-45`"))),
    ("an unknown parameter is refused, with the nearest",
     lambda: check(refused(["run", "A1", "--set", "flow=3"], "did you mean `flows`"))),
    ("a sweep over what is no parameter is refused",
     lambda: check(refused(["run", "becn-45", "--set", "colour=1..3"], "has no parameter `colour`"))),
    ("a value that cannot be is refused with its line",
     lambda: check(refused(["run", "becn-45", "--set", "delay=40"], "delay"))),
    ("a flow with an unknown response is refused",
     lambda: check(refused(["run", "becn-45", "--set", "response=vegas"], "vegas"))),
    ("a topology without a route is refused",
     lambda: check(refused(["run", str(pathlib.Path(__file__).with_name("no-route.lab"))], "no route"))),
    ("a row has its id, parameters, values, paper, band and verdict",
     lambda: check(row())),
    ("the same seed gives the same bytes, whatever the number of processes",
     lambda: check(repeats())),
    ("another seed gives another run",
     lambda: check(seeds_differ())),
    ("no frame comes broken or astray",
     lambda: check(conserves())),
    ("a capture has nothing malformed and no wrong checksum",
     lambda: check(capture_is_whole())),
]

sys.exit(tap.run(CLAIMS))
