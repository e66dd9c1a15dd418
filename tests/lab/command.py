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


def capture_is_whole(case):
    with tempfile.TemporaryDirectory() as folder:
        pcap = f"{folder}/run.pcap"
        answer = lab("run", "becn-45", *SHORT, "--case", case, "--pcap", pcap)
        if answer.stderr or pathlib.Path(pcap).stat().st_size < 1 << 20:
            return False
        if not shutil.which("tshark"):
            raise tap.Skip("tshark is not there")
        wrong = subprocess.run(
            ["tshark", "-r", pcap, "-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE",
             "-Y", "_ws.malformed || ip.checksum.status == 0 || tcp.checksum.status == 0 || "
             "icmp.checksum.status == 0"],
            capture_output=True, text=True, timeout=100, check=False)
        return wrong.returncode == 0 and wrong.stdout == ""


def merges():
    """Runs made apart, one point and seed each, are what one run gives; a hole is named."""
    with tempfile.TemporaryDirectory() as folder:
        few = ["--set", "duration=10s", "--set", "warmup=2s", "--case", "ecn"]
        parts = []
        for flows in ("10", "45"):
            for seed in ("1", "2"):
                parts.append(f"{folder}/{flows}-{seed}")
                lab("run", "becn-45", *few, "--no-figures", "--set", f"flows={flows}", "--seed", seed, "--seeds",
                    "1", "--out", parts[-1])
        lab("run", "becn-45", *few, "--set", "flows=10,45", "--seeds", "2", "--out", f"{folder}/one")
        lab("merge", *parts, "--out", f"{folder}/all")
        one, merged = (sorted(pathlib.Path(folder, name, "results.csv").read_text(encoding="utf-8").split("\n"))
                       for name in ("one", "all"))
        holes = lab("merge", parts[0], *parts[2:])
        return (one == merged and len(one) > 100 and holes.returncode == 2
                and "flows 10: the run with seed 2 is missing" in holes.stderr)


def figure():
    """What a figure of a paper needs is run, and no more."""
    with tempfile.TemporaryDirectory() as folder:
        answer = lab("run", "becn-fig19", "--seeds", "1", "--set", "duration=8s", "--set", "warmup=2s", "--set",
                     "flows=10,45", "--out", folder)
        page = pathlib.Path(folder, "report.html").read_text(encoding="utf-8")
        return answer.returncode == 0 and "becn-fig19" in answer.stdout and page.count("<figcaption>") == 1


def over_time():
    with tempfile.TemporaryDirectory() as folder:
        lab("run", "ecn-becn-fig9", "--set", "duration=8s", "--set", "warmup=2s", "--out", folder)
        page = pathlib.Path(folder, "report.html").read_text(encoding="utf-8")
        return page.count("<figcaption>") == 1 and "Window of BECN" in page


def web_object():
    """8 packets over an idle way of 28 ms there and back: SYN and request, SYN, windows of 2, 4 and the
    rest are six round trips, and a little for sending."""
    text = """link way from servers to clients
cloud way rate 100mbit
cloud way delay 10ms
cloud way.back rate 100mbit
cloud way.back delay 10ms
web http 1 from servers to clients start 2s pages 1 objects 1 objects-shape 100 size 8 size-shape 0
set duration 20s
set warmup 1s
"""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "one.lab")
        path.write_text(text, encoding="utf-8")
        figures = json.loads(lab("run", str(path), "-j", "--seeds", "1").stdout)["runs"][0]["figures"]
        return (figures["http.objects"] >= 1 and figures["http.unfinished"] == 0 and figures["http.loss"] == 0
                and 0.168 < figures["http.delay"] < 0.174 and figures["all.strangers"] == 0)


def same_workload():
    """What people ask for does not hang on how the network answers."""
    answer = json.loads(lab("run", "becn-web", "-j", "--seeds", "1", "--set", "duration=90s", "--set",
                            "warmup=50s", "--no-figures", "--set", "flows=35").stdout)
    asked = {run["case"]: run["figures"]["http.objects"] + run["figures"]["http.unfinished"]
             for run in answer["runs"]}
    return len(asked) == 2 and asked["ecn"] == asked["becn"] > 100


def tshark_counts_the_same():
    """From the first packet on: what tshark takes for sent again is what the hosts have sent again."""
    if not shutil.which("tshark"):
        raise tap.Skip("tshark is not there")
    with tempfile.TemporaryDirectory() as folder:
        pcap = f"{folder}/run.pcap"
        words = ["--seeds", "1", "--no-figures", "--set", "duration=20s", "--set", "warmup=0s", "--set", "flows=20",
                 "--case", "plain"]
        figures = json.loads(lab("run", "becn-45", "-j", *words, "--pcap", pcap).stdout)["runs"][0]["figures"]
        seen = subprocess.run(
            ["tshark", "-r", pcap, "-Y", "tcp.analysis.retransmission || tcp.analysis.out_of_order", "-T", "fields",
             "-e", "frame.number"], capture_output=True, text=True, timeout=100, check=True)
        ours, theirs = int(figures["ours.resent"]), len(seen.stdout.split())
        print(f"# sent again: {ours}, tshark {theirs}")
        return ours == theirs > 100


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
     lambda: check(capture_is_whole("ecn"))),
    ("nor has one with source quenches",
     lambda: check(capture_is_whole("becn"))),
    ("tshark's analysis counts as many retransmissions as the hosts",
     lambda: check(tshark_counts_the_same())),
    ("a sweep run apart and merged is what one run gives, and a hole in it is named",
     lambda: check(merges())),
    ("a figure of a paper is run alone",
     lambda: check(figure())),
    ("a figure over time is drawn",
     lambda: check(over_time())),
    ("an object of the web takes as many round trips as its packets need",
     lambda: check(web_object())),
    ("the web's workload is the same whatever the network does to it",
     lambda: check(same_workload())),
    ("a line of a figure that is wrong is refused with its number",
     lambda: check(refused(["run", str(pathlib.Path(__file__).with_name("no-case.lab"))], ":4: there is no case"))),
]

sys.exit(tap.run(CLAIMS))
