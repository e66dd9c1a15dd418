#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests weir lab as users see it: exit status, messages, the same bytes for the same seed,
well-formed frames."""
import csv
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import tap  # noqa: E402

WEIR = sys.argv[1]
SANITIZED = bool(os.environ.get("WEIR_SANITIZED"))
SHORT = ["--seeds", "1", "--no-figures", "--set", "duration=30s", "--set", "warmup=5s"]


def lab(*words):
    return subprocess.run([WEIR, "lab", *words], capture_output=True, text=True, timeout=200,
                          check=False)


def listed():
    names = [row["name"] for row in json.loads(lab("list", "-j").stdout)]
    return "becn-45" in names and lab("list").returncode == 0


def refused(words, text):
    answer = lab(*words)
    return (answer.returncode == 2 and text in answer.stderr and answer.stdout == ""
            and len(answer.stderr.splitlines()) == 1)


FILES = ("results.csv", "results.json", "report.html")

# A link that two flows share.
LINK = """set flows 2
link l from left to right
cloud l rate 10mbit queue 90kB
cloud l.back rate 10mbit queue 90kB
ftp ours $flows from left to right
set duration 4s
set warmup 1s
"""


def own(text, *words, name="own.lab"):
    """Runs an experiment of this text, with one seed."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, name)
        path.write_text(text, encoding="utf-8")
        return lab("run", str(path), "--seeds", "1", *words)


def no_sweep():
    """A value of a sweep that the experiment does not have is refused, with the row's line."""
    text = LINK + 'row R1 "x" only@4.l.loss paper 1 accept 0 2\nset z 1\n'
    answer = own(text)
    assert answer.returncode == 2 and answer.stdout == "", answer
    wanted = "own.lab:8: row R1 names a value of the sweep, but there is no `sweep NAME VALUES`"
    assert wanted in answer.stderr, answer.stderr


def no_utf8():
    """JSON and the other results could not name such a file, or such a value."""
    answer = own(LINK, name=os.fsdecode(b"m\xfcller.lab"))
    value = own(LINK, "--set", os.fsdecode(b"flows=\xfc"))
    assert answer.returncode == value.returncode == 2, (answer, value)
    assert "the name of this file is not UTF-8 text" in answer.stderr, answer.stderr
    assert "--set: the value must be UTF-8 text" in value.stderr, value.stderr


def no_effect():
    for words, text in (
            (["run", "A12", "--set", "delay=10ms,20ms"], "row A12 has no sweep"),
            (["list", "--seeds", "3"], "--seeds applies only to run and points"),
            (["list", "--case", "x"], "--case applies only to run, points and merge"),
            (["merge", "/none", "--set", "a=b"], "--set applies only to run and points"),
            (["merge", "/none", "--trace", "t"], "--trace applies only to run and points")):
        assert refused(words, text), words


def names_are_whole():
    """The name of an experiment is its path, with all its bytes, whatever they are."""
    with tempfile.TemporaryDirectory() as folder:
        deep = pathlib.Path(folder, 150 * "x", 150 * "y")
        deep.mkdir(parents=True)
        path = deep / 'a,b "q".lab'
        path.write_text(LINK, encoding="utf-8")
        brief_run(str(path), f"{folder}/out", "--set", "flows=1,2")
        with pathlib.Path(folder, "out", "results.csv").open(encoding="utf-8", newline="") as file:
            lines = list(csv.reader(file))
        part, = json.loads(pathlib.Path(folder, "out", "results.json").read_text(encoding="utf-8"))
        page = pathlib.Path(folder, "out", "report.html").read_text(encoding="utf-8")
    assert {len(line) for line in lines} == {7} and len(lines) > 50
    assert {line[0] for line in lines[1:]} == {str(path)} == {part["experiment"]}
    assert f"{deep}/a,b" in page


def no_value():
    """A row that divides by 0 has no value in text and JSON, and the reason is there, also with
    --case."""
    text = (LINK + 'row R1 "nothing" "1 / 0" paper 1 accept 0 inf\n'
            + 'row R2 "all" only.ours.flows paper 2 accept 2 2\n')
    for words in ([], ["--case", "only"]):
        said, rows = own(text, *words), own(text, "-j", *words)
        row = json.loads(rows.stdout)["rows"][0]
        assert said.returncode == rows.returncode == 1, (said, rows)
        assert re.search(r"FAIL +R1 +nothing +the expression has no", said.stdout), said.stdout
        assert re.search(r"pass +R2 ", said.stdout), said.stdout
        assert row["values"] == {"nothing": None} and row["errors"] == {} and not row["pass"], row
        assert "it divides by 0" in row["reasons"]["nothing"], row


def changes_and_sweeps():
    """A changed parameter is not compared with the paper; a single seed has no error; each value of
    a sweep is printed."""
    text = (LINK + 'row R1 "flows" only.ours.flows paper 2 accept 2 2\n')
    own_value = own(text).stdout
    changed = own(text, "--set", "flows=3")
    row = json.loads(own(text, "--set", "flows=3", "-j").stdout)["rows"][0]
    assert re.search(r"pass +R1 +flows +2 +paper 2; accept 2 to 2", own_value), own_value
    assert "not comparable: flows differs" in changed.stdout, changed.stdout
    assert changed.returncode == 0 and row["pass"] is None, row
    assert row["errors"] == {"flows": None}, row
    assert "not comparable" not in own(text, "--set", "duration=5s").stdout
    swept = own(text, "--set", "flows=1,3").stdout
    for value in (1, 3):
        assert re.search(rf"^  only +flows {value} +l\.loss +[\d.e-]+$", swept, re.MULTILINE), swept
    assert all(len(line) <= 80 for line in swept.splitlines()), swept


def cases_with_points():
    """Rows find the case `a.b`, after a case `a` and before it, and run no other one."""
    for names in (("a", "a.b"), ("a.b", "a")):
        cases = "".join(f"case {name}\n set flows {len(name)}\nend\n" for name in names)
        text = (LINK + "sweep flows 1 3\n" + cases
                + 'row R1 "one" a.b.ours.flows paper 3 accept 3 3\n'
                + 'row R2 "one of the sweep" a.b@1.ours.flows paper 1 accept 1 1\n')
        answer = own(text, "-j")
        part = json.loads(answer.stdout)
        assert answer.returncode == 0, answer
        named = [sorted(row["parameters"]) for row in part["rows"]]
        assert named == [["a.b"], ["a.b@1"]], named
        assert {run["case"] for run in part["runs"]} == {"a.b"}


def in_flight_is_not_lost():
    """On a long path nothing is lost, whatever is in flight when the measured time begins and ends.
    Behind a short queue, the flows lose what the cloud drops, but for packets that are sent before
    the measured time and dropped in it, or sent in it and dropped after it."""
    far = LINK.replace("rate 10mbit", "rate 1mbit") + "".join(
        f"cloud {name} delay 300ms\n" for name in ("l", "l.back")) + (
        "voice calls 5 from left to right\nweb http 3 from left to right objects 3 size 4\n")
    for warmup in ("1s", "1500ms", "2s"):
        answer = own(far, "-j", "--set", f"warmup={warmup}")
        figures = json.loads(answer.stdout)["runs"][0]["figures"]
        losses = [figures[f"{group}.loss"] for group in ("ours", "calls", "http")]
        sent = [figures[f"{group}.sent"] for group in ("ours", "calls", "http")]
        assert figures["l.dropped"] == 0 and losses == [0, 0, 0] and min(sent) > 5, (losses, sent)
    near = LINK.replace("10mbit queue 90kB", "2mbit queue 6kB", 1) + "cloud l delay 20ms\n"
    figures = json.loads(own(near, "-j", "--set", "duration=20s").stdout)["runs"][0]["figures"]
    lost = figures["ours.loss"] * figures["ours.sent"] / 100
    assert figures["l.dropped"] > 50 and abs(lost - figures["l.dropped"]) < 10, figures
    assert abs(lost - round(lost)) < 1e-6, lost


def any_name_of_a_link():
    """A link has the same measures whatever its name is."""
    figures = [json.loads(own(re.sub(r"\bl\b", name, LINK), "-j").stdout)["runs"][0]["figures"]
               for name in ("l", "a.backbone", "a.back")]
    for name, other in (("a.backbone", figures[1]), ("a.back", figures[2])):
        wanted = {re.sub(r"^l\.", f"{name}.", key): value for key, value in figures[0].items()}
        assert other == wanted, set(wanted) ^ set(other)


def lengths_without_ethernet():
    """Packets have no Ethernet, so an overhead that takes it off is refused, in a schedule too. A
    packet of 1500 bytes takes one opportunity of a trace, as in mahimahi."""
    for overhead, text in (("layer3", "leave it out"), ("layer1", "write `overhead 38`"),
                           ("atm", "write `overhead N cell 48B cell-overhead 5B`")):
        for statement in (f"rate 5mbit overhead {overhead}",
                          f"at 1s rate 5mbit overhead {overhead}",
                          f"every 2s for 1s rate 5mbit overhead {overhead}",
                          f"markov a 1s then b 1s rate 5mbit overhead {overhead}"):
            answer = own(LINK + f"cloud l.back {statement}\n")
            wanted = f"cloud l.back: `overhead {overhead}` expects frames with Ethernet"
            assert answer.returncode == 2 and wanted in answer.stderr and text in answer.stderr, (
                statement, answer)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "t")
        path.write_text("".join(f"{ms}\n" for ms in range(1, 1001)), encoding="utf-8")
        text = LINK.replace("left to right\nset", "left to right packet 1500B\nset") + (
            f"set flows 20\ncloud l trace {path} loop\ncloud l rate 1mbit queue 900kB")
        assert "with `overhead 4`" in own(text + "\n").stderr
        # Also 0 is given: a packet takes its own length.
        assert own(text + " overhead 0\n", "-j").returncode == 0
        figures = json.loads(own(text + " overhead 4\n", "-j").stdout)["runs"][0]["figures"]
        # The mean rate of the trace is that of frames of 1514 bytes.
        sent = figures["l.utilisation"] / 100 * 1514 * 3000 / 1500
        assert abs(sent - 3000) < 2, (sent, figures)


def rates_in_force():
    """Utilisation is of the rates in force. Twenty flows with large windows fill a link, whatever
    its rate is, so that it is 100 %, less the time for which a change finds the queue empty. Two
    flows with a packet each use what they use, of the mean rate over whole periods."""
    full = LINK.replace("queue 90kB", "queue 900kB", 1)
    full = full.replace("set duration 4s", "set duration 21s") + "set flows 20\nset warmup 1s\n"
    for schedule in ("at 10000003ns rate 2mbit", "at 5s rate 7mbit",
                     "every 300ms for 70ms rate 1mbit",
                     "wave rate 2mbit..10mbit period 700ms",
                     "markov good 1s then bad 1s rate 1mbit"):
        figures = json.loads(own(full + f"cloud l {schedule}\n", "-j").stdout)["runs"][0]["figures"]
        assert 99.5 < figures["l.utilisation"] < 100.1, (schedule, figures["l.utilisation"])
    few = LINK.replace("$flows from left to right", "2 from left to right window 1 spread 0s") + (
        "set duration 5s\n")
    for schedule, mean in (("every 100ms for 50ms rate 2mbit", 6e6), ("at 2s rate 2mbit", 4e6),
                           ("at 2345678901ns rate 2mbit", 4e6 + 8e6 * 0.345678901 / 4),
                           ("wave rate 1bit..8mbit period 200ms shape square", 4000000.5)):
        figures = json.loads(own(few + f"cloud l {schedule}\n", "-j").stdout)["runs"][0]["figures"]
        wanted = 100 * 8000 * figures["l.arrived"] / (mean * 4)
        packet = 100 * 8000 / (mean * 4)
        assert (figures["l.arrived"] > 100
                and abs(figures["l.utilisation"] - wanted) < 2.1 * packet), (
            schedule, figures["l.utilisation"], wanted)
    none = json.loads(own(full + "cloud l at 5s no rate\n", "-j", "--set", "duration=6s").stdout)
    assert "l.utilisation" not in none["runs"][0]["figures"], none


def copies_are_no_arrivals():
    """Where packets are copied and none is lost, each group loses 0 %, and no more arrive than were
    sent; where a packet and its copy can be lost, what arrives and what is lost is all."""
    text = LINK.replace("queue 90kB", "queue 9MB") + (
        "voice calls 5 from left to right\nweb http 3 from left to right objects 3 size 4\n"
        "cloud l duplicate random 50%\n")
    figures = json.loads(own(text, "-j").stdout)["runs"][0]["figures"]
    losses = [figures[f"{group}.loss"] for group in ("ours", "calls", "http")]
    assert losses == [0, 0, 0] and figures["l.dropped"] == 0, (losses, figures)
    assert 0 < figures["calls.arrived"] <= figures["calls.sent"] + 1, figures
    lossy = json.loads(own(text + "cloud l loss random 20%\n", "-j").stdout)["runs"][0]["figures"]
    assert 15 < lossy["calls.loss"] < 25 and lossy["ours.loss"] > 10, lossy


def objects_at_the_mark():
    """An object that begins at the instant at which the measures begin is measured, so no more
    objects finish than begin. A user of surge has one at a time."""
    for kind, most in (("web http 10", 60), ("surge http 1", 1)):
        text = LINK.replace("ftp ours $flows", kind)
        figures = json.loads(own(text, "-j", "--set", "warmup=0s",
                                 "--set", "duration=20s").stdout)["runs"][0]["figures"]
        assert 0 <= figures["http.unfinished"] <= most and figures["http.objects"] > 0, figures


# A link whose router sends source quenches to a hundred flows.
QUENCHES = LINK.replace("left to right\nset", "left to right spread 0s response becn\nset") + (
    "cloud l rate 10mbit queue 900kB\ncloud l red min 15kB max 45kB unit byte\n"
    "cloud l hop 192.0.2.1\ncloud l ecn on\ncloud l becn\n"
    "set flows 100\nset duration 10s\nset warmup 2s\n")


def quenches_are_not_utilisation():
    """A link that sends packets of 1000 bytes has sent a multiple of 1000 bytes, however many
    quenches its router has sent the other way."""
    figures = json.loads(own(QUENCHES, "-j").stdout)["runs"][0]["figures"]
    sent = figures["l.utilisation"] / 100 * 10e6 * 8 / 8
    passed = figures["l.arrived"] - figures["l.dropped"]
    assert figures["l.quenches"] > 1000, figures
    assert abs(sent / 1000 - round(sent / 1000)) < 1e-6, sent
    assert abs(sent / 1000 - passed) < 100, (sent, passed)


def any_bit_of_a_quench():
    """Hosts know a quench for a mark by any bit that `becn` sets."""
    runs = [own(QUENCHES + f"cloud l becn bit {bit}\n", "-j").stdout
            for bit in ("0x80", "0x40", "0x01")]
    figures = [json.loads(text)["runs"][0]["figures"] for text in runs]
    assert figures[0] == figures[1] == figures[2] and figures[0]["l.marked"] > 100, figures


def row():
    answer = json.loads(lab("run", "A1", "-j", *SHORT).stdout)
    wanted = {"id", "parameters", "values", "paper", "band", "pass"}
    return (wanted <= set(answer) and answer["id"] == "A1"
            and list(answer["parameters"]) == ["plain"])


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


def capture_is_whole(experiment, case, wanted, *more):
    """Checks that a run's capture has no malformed frame and no wrong checksum, and frames that
    match the filter `wanted`."""
    with tempfile.TemporaryDirectory() as folder:
        pcap = f"{folder}/run.pcap"
        answer = lab("run", experiment, *SHORT, "--set", "duration=8s", *more, "--case", case,
                     "--pcap", pcap)
        if answer.stderr or pathlib.Path(pcap).stat().st_size < 1 << 20:
            return False
        if not shutil.which("tshark"):
            raise tap.Skip("tshark is not there")
        fields = ("ip.checksum.status", "tcp.checksum.status", "udp.checksum.status",
                  "icmp.checksum.status")
        wrong = " || ".join(["_ws.malformed", *(f"{field} == 0" for field in fields)])
        seen = subprocess.run(
            ["tshark", "-n", "-r", pcap, "-o", "ip.check_checksum:TRUE",
             "-o", "tcp.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE",
             "-Y", f"{wrong} || ({wanted})", "-T", "fields", "-e", "_ws.malformed",
             *(word for field in fields for word in ("-e", field))],
            capture_output=True, text=True, timeout=200, check=True).stdout.splitlines()
        bad = [row for row in seen
               if row[0] != "\t" or "0" in row.replace("\t", ",").split(",")]
        print(f"# {wanted}: {len(seen)}, wrong: {bad[:3]}")
        return not bad and len(seen) > 10


def ones(data):
    """Returns the Internet checksum's sum of 16-bit words."""
    total = sum(struct.unpack(f">{(len(data) + 1) // 2}H", data + b"\0" * (len(data) % 2)))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return total


def header_is_exchanged():
    """Every frame with the unified header is IPv4 with protocol 253. TCP behind the header is
    complete, with the checksum of TCP alone. Requests name both routers and both probes; the
    answers are what the description gives each router. Only acknowledgements without information
    lack the header."""
    with tempfile.TemporaryDirectory() as folder:
        pcap = f"{folder}/run.pcap"
        lab("run", "slow-start-header", *SHORT, "--set", "duration=4s", "--set", "warmup=1s",
            "--case", "told", "--pcap", pcap)
        data = pathlib.Path(pcap).read_bytes()
    at, asked, told, frames = 24, set(), {}, 0
    while at < len(data):
        taken, length = struct.unpack("<II", data[at + 8:at + 16])
        ip = data[at + 16 + 14:at + 16 + taken]
        at += 16 + taken
        oq, size = ip[20:36], 16 + ip[25]
        tcp = ip[20 + size:]
        pseudo = ip[12:20] + struct.pack(">HH", oq[7], len(tcp))
        if (taken != length or ip[9] not in (6, 253) or ones(ip[:20]) != 0xffff):
            return False
        if ip[9] == 6:  # an acknowledgement without information
            if len(ip) != 40:
                return False
            continue
        if oq[7] != 6 or ones(pseudo + tcp) != 0xffff:
            return False
        frames += 1
        if oq[0]:
            asked.add((oq[1], oq[3]))
        for i in range(oq[5] // 8):
            told.setdefault((oq[4], oq[6] - i), struct.unpack(">II", ip[36 + 8 * i:44 + 8 * i])[0])
    print(f"# {frames} frames, asked {sorted(asked)}, told {sorted(told.items())}")
    return (asked == {(1, 64), (1, 63), (3, 64), (3, 63)} and frames > 1000
            and told == {(1, 64): 800000, (1, 63): 600000, (3, 64): 300, (3, 63): 200})


def readings():
    """Every value of `wait` is read, and changes the hosts' behaviour."""
    gains = set()
    for wait in ("outstanding", "round-trip", "none"):
        answer = json.loads(lab("run", "becn-mix", "-j", *SHORT, "--case", "becn",
                                "--set", f"wait={wait}").stdout)
        gains.add(answer["runs"][0]["figures"]["ours.goodput"])
    return len(gains) == 3


def too_small():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "small.lab")
        path.write_text("link l from a to b\nftp f 1 from a to b response extended packet 56B\n",
                        encoding="utf-8")
        return refused(["run", str(path)], "57 bytes or more")


def as_by_hand():
    """A sender that the routers inform grows like one that is given the same figures."""
    answer = json.loads(lab("run", "slow-start-header", "-j", "--seeds", "1", "--no-figures",
                            "--set", "duration=20s").stdout)
    window = {run["case"]: run["figures"]["flow.window"] for run in answer["runs"]}
    wrong = [run for run in answer["runs"] if run["figures"]["all.broken"]
             or run["figures"]["all.strangers"]]
    print(f"# {window}")
    return (not wrong and abs(window["told"] / window["given"] - 1) < 0.01
            and window["told"] > 3 * window["unlimited"])


def merges():
    """Separate runs of one point and one seed each, merged in any order, are the bytes of one run
    of all; a missing run is named. What the runs' one case does not need is left out."""
    with tempfile.TemporaryDirectory() as folder:
        few = ["--set", "duration=10s", "--set", "warmup=2s", "--case", "ecn", "--no-figures"]
        parts = []
        for flows in ("10", "45"):
            for seed in ("1", "2"):
                parts.append(f"{folder}/{flows}-{seed}")
                lab("run", "becn-45", *few, "--set", f"flows={flows}", "--seed", seed,
                    "--seeds", "1", "--out", parts[-1])
        lab("run", "becn-45", *few, "--set", "flows=10,45", "--seeds", "2",
            "--out", f"{folder}/one")
        for order in (parts, parts[::-1]):
            answer = lab("merge", *order, "--no-figures", "--out", f"{folder}/all")
            assert ("no measured value" not in answer.stdout
                    and answer.stdout.count("A3") == 2), answer
            for name in FILES:
                one, merged = (pathlib.Path(folder, of, name).read_bytes() for of in ("one", "all"))
                assert one == merged and len(one) > 5000, (order, name)
        holes = lab("merge", parts[0], *parts[2:])
        assert (holes.returncode == 2
                and "flows 10: the run with seed 2 is missing" in holes.stderr), holes


def merges_a_campaign():
    """Runs of the whole campaign of an experiment, a seed each, are its results, in its order."""
    with tempfile.TemporaryDirectory() as folder:
        few = ["--set", "duration=3s", "--set", "warmup=1s"]
        for seed in "12":
            lab("run", "becn-45", *few, "--seed", seed, "--seeds", "1", "--out", f"{folder}/{seed}")
        lab("run", "becn-45", *few, "--seeds", "2", "--out", f"{folder}/one")
        lab("merge", f"{folder}/2", f"{folder}/1", "--out", f"{folder}/all")
        for name in ("results.csv", "results.json"):
            one, merged = (pathlib.Path(folder, of, name).read_bytes() for of in ("one", "all"))
            assert one == merged and len(one) > 5000, name


def brief_run(what, out, *words):
    """Runs an experiment for four seconds, without figures; the last options are the caller's."""
    lab("run", what, "--no-figures", "--seeds", "1", *words, "--out", out, "--set", "duration=4s",
        "--set", "warmup=1s")
    return out


def merge_refused(parts, text):
    answer = lab("merge", *parts)
    assert answer.returncode == 2 and answer.stdout == "", answer
    assert text in answer.stderr, answer.stderr


def merges_far_seeds():
    with tempfile.TemporaryDirectory() as folder:
        parts = [brief_run("becn-45", f"{folder}/{seed}", "--case", "plain", "--seed", str(seed))
                 for seed in (1, 1 << 32)]
        merge_refused(parts, "the run with seed 2 is missing")
        merge_refused(parts[:1] + ["--case", "x"], "becn-45: there is no case `x`")


def merges_own():
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "own.lab").write_text(LINK, encoding="utf-8")
        merge_refused([brief_run("becn-45", f"{folder}/a", "--case", "plain"),
                       brief_run(f"{folder}/own.lab", f"{folder}/b")],
                      f"{folder}/b/results.json: {folder}/own.lab is not built in")


def merges_another_text():
    with tempfile.TemporaryDirectory() as folder:
        part = brief_run("becn-45", f"{folder}/a", "--case", "plain")
        path = pathlib.Path(part, "results.json")
        text = path.read_text(encoding="utf-8")
        digest = json.loads(text)[0]["digest"]
        path.write_text(text.replace(digest, "0123456789abcdef"), encoding="utf-8")
        merge_refused([part], "its runs are of another text of becn-45")


def merges_what_a_case_has_itself():
    """The case `ecn` has `ecn on` itself; with --set, all cases have it."""
    with tempfile.TemporaryDirectory() as folder:
        few = ["becn-45", "--set", "ecn=on"]
        parts = [brief_run(few[0], f"{folder}/{seed}", *few[1:], "--seed", seed) for seed in "12"]
        brief_run(few[0], f"{folder}/one", *few[1:], "--seeds", "2")
        answer = lab("merge", *parts, "--out", f"{folder}/all")
        paths = [pathlib.Path(folder, name, "results.csv") for name in ("one", "all")]
        one, merged = (path.read_text(encoding="utf-8") for path in paths)
        assert answer.returncode in (0, 1) and not answer.stderr, answer.stderr
        assert one == merged and one.count("\n") > 100


def figure():
    """Only the runs that a paper's figure needs are made."""
    with tempfile.TemporaryDirectory() as folder:
        answer = lab("run", "becn-fig19", "--seeds", "1", "--set", "duration=8s",
                     "--set", "warmup=2s",
                     "--set", "flows=10,45", "--out", folder)
        page = pathlib.Path(folder, "report.html").read_text(encoding="utf-8")
        return (answer.returncode == 0 and "becn-fig19" in answer.stdout
                and page.count("<figcaption>") == 1)


def over_time():
    with tempfile.TemporaryDirectory() as folder:
        lab("run", "ecn-becn-fig9", "--set", "duration=8s", "--set", "warmup=2s", "--out", folder)
        page = pathlib.Path(folder, "report.html").read_text(encoding="utf-8")
        return page.count("<figcaption>") == 1 and "Window of BECN" in page


def web_object():
    """8 packets over an idle path with a round trip of 28 ms: SYN and request, SYN, windows of 2, 4
    and the rest take six round trips, and little time for sending."""
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
        figures = json.loads(lab("run", str(path), "-j",
                                 "--seeds", "1").stdout)["runs"][0]["figures"]
        return (figures["http.objects"] >= 1 and figures["http.unfinished"] == 0
                and figures["http.loss"] == 0
                and 0.168 < figures["http.delay"] < 0.174 and figures["all.strangers"] == 0)


def fourth_figure():
    """Limited slow-start with max_ssthresh 500: a queue of 200 packets suffices to fill 800 Mbit/s
    (the paper: about 700), one of 40 does not. In seconds 20 to 22 the flow has 706 Mbit/s; with 40
    packets, of which a burst was lost earlier, it has 9. Without delayed acknowledgements both
    fail."""
    rates = {}
    for case in ("limited-500", "limited-500-40"):
        run = json.loads(lab("run", "slow-start", "-j", "--no-figures", "--seeds", "1",
                             "--case", case, "--set", "duration=22s",
                             "--set", "warmup=20s").stdout)["runs"][0]
        rates[case] = run["figures"]["flow.goodput"]
    print(f"# {rates}")
    return rates["limited-500"] > 650 and rates["limited-500-40"] < 30


def rows_of(experiment, *more):
    """Returns the values of an experiment's rows, or of one row, by their text."""
    answer = json.loads(lab("run", experiment, "-j", "--no-figures", *more).stdout)
    values = {what: value
              for row in answer.get("rows", [answer]) for what, value in row["values"].items()}
    print(f"# {experiment}: "
          + ", ".join(f"{what} {value:.3g}" for what, value in values.items() if value is not None))
    return values


def whole(claim):
    """Runs a claim that takes whole runs of hundreds of seconds, captures that tshark reads, or
    many runs that Python puts together. Its result is the same with every build, and a sanitizer
    takes minutes, so a sanitizer runs brief() in its place."""
    if SANITIZED:
        raise tap.Skip("the release runs it")
    return claim()


def brief():
    """Under a sanitizer, runs a few seconds, with a capture, of every experiment and case that
    whole() leaves to the release."""
    if not SANITIZED:
        raise tap.Skip("there is no sanitizer in it, and all of them are run whole")
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        for experiment, case, *more in BRIEF:
            answer = lab("run", experiment, "--seeds", "1", "--no-figures", "--set", "duration=4s",
                         "--set", "warmup=1s", "--case", case,
                         "--pcap", f"{folder}/run.pcap", *more)
            if (answer.returncode not in (0, 1) or answer.stderr
                    or pathlib.Path(folder, "run.pcap").stat().st_size < 1 << 16):
                wrong.append(f"{experiment}, {case}: status {answer.returncode}: {answer.stderr}")
    assert not wrong, "\n".join(wrong)
    return True


def gains_in_order():
    """Akujobi's order: BECN gains more over plain flows than ECN, and both signals together more
    than ECN. The gain of a run has a deviation of 1 to 2 (ten seeds), so a difference of two means
    of two seeds has 2 at most. The difference is 11 in the papers, and 8 to 11 over five seeds. A
    cut that rounds down makes it -5."""
    first, second = (rows_of(name, "--seeds", "2") for name in ("A5", "B3"))
    ecn = second["23 + 23: ECN's"]
    return (first["20 + 20: BECN's gain less ECN's, %"] > 3.6
            and second["23 + 23: BECN's gain, %"] > ecn + 3.6
            and second["23 + 23: ECN+BECN's, 20 kB"] > ecn + 3.6
            and second["23 + 23: ECN+BECN's, 40 kB"] > ecn)


def losses_of_2001():
    """45 flows with ECN and with RED that marks only below max. The loss of one seed has an error
    of 0.02. It is 1.68 if RED is not gentle, and 0.03 if RED marks above max; neither is in the
    band."""
    near = {what: value
            for row in ("A1", "A3", "A4") for what, value in rows_of(row, "--seeds", "1").items()}
    far = rows_of("becn-250ms", "--seeds", "1")
    return (4.3 < near["plain: loss, %"] < 4.9 and 1.05 < near["ECN: loss, %"] < 1.35
            and 0.85 < near["BECN: loss, %"] < 1.15
            and 5 < near["BECN: quenches, % of the reverse traffic"] < 5.9
            and 0.69 < far["ECN: loss, %"] < 0.85
            and far["BECN: loss, %"] < 0.05 and 18 < far["goodput of BECN over ECN, %"] < 22
            and 5 < far["goodput of plain over ECN, %"] < 8
            and 0.54 < far["BECN: quenches, % of the reverse traffic"] < 0.74)


def red_of_2001():
    """Every experiment of Akujobi's, including new ones, has the RED and the order of ties of
    ns-2.1b8a."""
    experiments = pathlib.Path(__file__).resolve().parents[2] / "lab/experiments"
    texts = [path.read_text(encoding="utf-8") for path in experiments.glob("*.lab")]
    texts = [text for text in texts if re.search(r"^paper .*Akujobi", text, re.M)]
    return len(texts) >= 10 and all(
        "\nset ties arrival-first\n" in text and re.findall(r"^cloud .* red .*", text, re.M)
        and all(re.search(r" max (\S+) .*gentle on mark-to \1$", line)
                for line in re.findall(r"^cloud .* red .*", text, re.M))
        for text in texts)


# `early` sends two packets back to back at the link's rate, 100 us before those of `late`. The
# queue holds one packet.
TIES = """link way from left to right
cloud way rate 10mbit queue 1pkt
cloud way.back rate 10mbit
set duration 500ms
set warmup 1ms
ftp early 1 from left to right access 10mbit delay 1ms start 2ms spread 0s ssthresh 2 window 2
ftp late 1 from left to right access 10mbit delay 1ms start 2100us spread 0s ssthresh 2 window 2
"""


def ties():
    """Early's second packet arrives at the instant at which its first has been sent, while late's
    first waits. If the departure comes first, late's first leaves the queue and late's second is
    lost; otherwise early's second is lost. The sender that has lost a packet waits for the timer;
    the other one continues."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "ties.lab")
        path.write_text(TIES, encoding="utf-8")
        sent = []
        for more in ([], ["--set", "ties=departure-first"], ["--set", "ties=arrival-first"]):
            figures = json.loads(lab("run", str(path), "-j", "--seeds", "1",
                                     *more).stdout)["runs"][0]["figures"]
            sent.append((figures["way.dropped"], figures["early.sent"] > 100,
                         figures["late.sent"] > 100))
        return sent == [(1, True, False), (1, True, False), (1, False, True)]


SURGE = """link way from clients to servers
cloud way rate 100mbit
cloud way delay 10ms
cloud way.back rate 100mbit
cloud way.back delay 10ms
surge http USERS from servers to clients servers 1 clients 1 gap 10ms
set duration 400s
set warmup 1s
"""


def one_file_at_a_time():
    """A user of `surge` requests a file only after the previous one is complete. The client uses
    two ports per file, so no port appears again after one of a later file."""
    with tempfile.TemporaryDirectory() as folder:
        path, pcap = pathlib.Path(folder, "one.lab"), f"{folder}/run.pcap"
        path.write_text(SURGE.replace("USERS", "1"), encoding="utf-8")
        figures = json.loads(lab("run", str(path), "-j", "--seeds", "1",
                                 "--pcap", pcap).stdout)["runs"][0]["figures"]
        data = pathlib.Path(pcap).read_bytes()
    at, files = 24, []
    while at < len(data):
        taken = struct.unpack("<I", data[at + 8:at + 12])[0]
        files.append((struct.unpack(">H", data[at + 16 + 34:at + 16 + 36])[0] - 10000) // 2)
        at += 16 + taken
    print(f"# {len(files)} frames of {files[-1] + 1} files, {figures['http.objects']:.0f} measured")
    return (files == sorted(files) and files[0] == 0 and set(files) == set(range(files[-1] + 1))
            and files[-1] > 50
            and figures["http.loss"] == 0
            and figures["http.objects"] + figures["http.unfinished"] <= files[-1] + 1)


def silences():
    """200 users without references on an idle path: a file every 3 s, the mean of a Pareto
    distribution of shape 1.5, and some 0.2 s for its transfer. The error of a sum of n such times
    falls like n^(-1/3), 3.5 % for 24,000: the bound of a fifth is far above it. Silences that the
    end of the run cuts off are missing, which adds some 4 %."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "many.lab")
        text = SURGE.replace("USERS", "200").replace("gap 10ms", "gap 10ms references off")
        path.write_text(text, encoding="utf-8")
        figures = json.loads(lab("run", str(path), "-j",
                                 "--seeds", "1").stdout)["runs"][0]["figures"]
        print(f"# {figures['http.objects']:.0f} files, {figures['http.delay']:.3f} s each")
        return abs(figures["http.objects"] * (3 + figures["http.delay"]) / (200 * 399) - 1) < 0.2


def whole_packets():
    """BCN-TCP that cuts to whole packets takes less from Reno: 4.7 instead of 5.4 times its
    goodput. Over five seeds of 300 s, a run's deviation is 0.08, so a difference of two runs of 100
    s has one of 0.2: the bound 0.3 is two of them below 0.7."""
    ratio = {}
    for whole in ("on", "off"):
        answer = lab("run", "bcn-mix", "-j", "--seeds", "1", "--no-figures", "--case", "same",
                     "--set", "duration=120s",
                     "--set", "warmup=20s", "--set", f"whole={whole}")
        figures = json.loads(answer.stdout)["runs"][0]["figures"]
        ratio[whole] = 2 * figures["bcn.goodput"] / figures["reno.goodput"]
    print(f"# {ratio}")
    return ratio["off"] - ratio["on"] > 0.3


def steady():
    """With 15 flows, a router that tells the sender keeps the queue steadier and the link busier
    than one that marks: its queue has 0.49 of ECN's deviation, and the link carries 1.4 % more
    (five seeds of 400 s, +- 0.004 and 0.02; an eighth of the time makes that three times as
    much)."""
    answer = lab("run", "becn-45", "-j", "--seeds", "1", "--no-figures", "--set", "flows=15",
                 "--set", "duration=65s",
                 "--set", "warmup=15s")
    figures = {run["case"]: run["figures"] for run in json.loads(answer.stdout)["runs"]}
    sigma = figures["becn"]["bottleneck.queue.sigma"] / figures["ecn"]["bottleneck.queue.sigma"]
    more = figures["becn"]["bottleneck.utilisation"] - figures["ecn"]["bottleneck.utilisation"]
    print(f"# deviation {sigma:.3f} of ECN's, {more:.2f} % more of the link")
    return (sigma < 0.65 and more > 0.7
            and figures["becn"]["bottleneck.dropped"] == figures["ecn"]["bottleneck.dropped"] == 0)


def beside_ecn_mod():
    """Flows without ECN get less than as many ECN-mod flows beside them, but do not starve: a third
    of their goodput (0.327 +- 0.005, five seeds of 400 s)."""
    answer = lab("run", "ecn-mod-fifo", "-j", "--seeds", "1", "--no-figures", "--case", "unaware",
                 "--set", "duration=120s",
                 "--set", "warmup=20s")
    figures = json.loads(answer.stdout)["runs"][0]["figures"]
    share = figures["newreno.goodput"] / figures["mod.goodput"]
    print(f"# {share:.3f} of ECN-mod's")
    return 0.2 < share < 0.6


def voice_load():
    """Calls that do not end talk 352 of 1002 ms, with 50 datagrams a second. 100 s of 500 calls are
    50,000 s of talk and silence; the talk has a standard deviation of 0.41 %. If talkspurts were
    rounded up, by half a datagram each, it would be 1.8 % more."""
    text = """link way from a to b
cloud way rate 100mbit
cloud way.back rate 100mbit
voice calls 500 from a to b most 500 holding 86400s
set duration 110s
set warmup 10s
"""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "one.lab")
        path.write_text(text, encoding="utf-8")
        figures = json.loads(lab("run", str(path), "-j",
                                 "--seeds", "1").stdout)["runs"][0]["figures"]
        return abs(figures["calls.sent"] / (500 * 100 * 50 * 352 / 1002) - 1) < 0.01


def same_workload():
    """The requests of users do not depend on how the network responds."""
    answer = json.loads(lab("run", "becn-web", "-j", "--seeds", "1", "--set", "duration=90s",
                            "--set",
                            "warmup=50s", "--no-figures", "--set", "flows=35").stdout)
    asked = {run["case"]: run["figures"]["http.objects"] + run["figures"]["http.unfinished"]
             for run in answer["runs"]}
    return len(asked) == 2 and asked["ecn"] == asked["becn"] > 100


def tshark_counts_the_same(experiment, case, groups, *more):
    """From the first packet on, tshark counts as many retransmissions as the hosts. A packet on its
    host's own link at the end of the run is never captured, so the run ends when there is none."""
    if not shutil.which("tshark"):
        raise tap.Skip("tshark is not there")
    with tempfile.TemporaryDirectory() as folder:
        pcap = f"{folder}/run.pcap"
        words = ["--seeds", "1", "--no-figures", "--set", "duration=8s", "--set", "warmup=0s",
                 "--case", case, *more]
        figures = json.loads(lab("run", experiment, "-j", *words,
                                 "--pcap", pcap).stdout)["runs"][0]["figures"]
        seen = subprocess.run(
            ["tshark", "-r", pcap, "-Y", "tcp.analysis.retransmission || tcp.analysis.out_of_order",
             "-T", "fields",
             "-e", "frame.number"], capture_output=True, text=True, timeout=100, check=True)
        ours, theirs = int(sum(figures[f"{group}.resent"]
                               for group in groups)), len(seen.stdout.split())
        print(f"# sent again: {ours}, tshark {theirs}")
        return ours == theirs > 10


# A band that differs from the paper's, so that a row cannot be inside.
NEVER = """link l from a to b
cloud l rate 10mbit queue 20kB
cloud l delay 5ms
ftp f 5 from a to b
set duration 10s
set warmup 2s
row Z1 "a loss that cannot be" "only.l.loss" paper 200 accept 200 300
row Z2 "a goodput that can" "only.f.goodput" paper 10 accept 0 11
row Z3 "what nobody measures" "only.l.colour" paper 1 accept 0 2
"""


def red():
    """Text, JSON, report and exit status report that a row is outside its band, and why."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "never.lab")
        path.write_text(NEVER, encoding="utf-8")
        text = lab("run", str(path), "--seeds", "1", "--out", f"{folder}/out")
        said = lab("run", str(path), "--seeds", "1", "-j")
        rows = {row["id"]: row for row in json.loads(said.stdout)["rows"]}
        page = pathlib.Path(folder, "out", "report.html").read_text(encoding="utf-8")
        alarms = re.findall(r"<tr class=\"alarm\">.*?</tr>", page)
        return (text.returncode == said.returncode == 1 and re.search("FAIL +Z1 ", text.stdout)
                and re.search("pass +Z2 ", text.stdout)
                and re.search("FAIL +Z3 ", text.stdout)
                and [rows[name]["pass"] for name in ("Z1", "Z2", "Z3")] == [False, True, False]
                and "is below 200" in rows["Z1"]["reasons"]["a loss that cannot be"]
                and rows["Z2"]["reasons"] == {}
                and "l.colour" in rows["Z3"]["reasons"]["what nobody measures"] and len(alarms) == 2
                and "OUTSIDE</td><td>" in alarms[0] and "is below 200" in alarms[0]
                and "not measured" in alarms[1])


def goes_on():
    """A campaign that is stopped after the first runs and continued leaves the same files as one
    that was not stopped."""
    lasts = "10s" if SANITIZED else "25s"  # long enough to be stopped in the middle
    few = ["run", "becn-45", "--seeds", "2", "--jobs", "1", "--set", f"duration={lasts}",
           "--set", "warmup=5s"]
    with tempfile.TemporaryDirectory() as folder:
        stopped = subprocess.Popen([WEIR, "lab", *few, "--out", f"{folder}/a"],
                                   stderr=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True)
        time.sleep(0.5)
        stopped.send_signal(signal.SIGINT)
        said = stopped.communicate(timeout=100)[1]
        # The signal handler is removed after the last run. From then on SIGINT ends the process.
        if stopped.returncode in (0, -signal.SIGINT):
            raise tap.Skip("it was over before it could be stopped")
        match = re.search(r"interrupted after (\d+) of (\d+) runs, which are in", said)
        left = json.loads(pathlib.Path(folder, "a", "results.json").read_text(encoding="utf-8"))
        page = pathlib.Path(folder, "a", "report.html").read_text(encoding="utf-8")
        if (not match or stopped.returncode != 1 or left[0]["complete"]
            or len(left[0]["runs"]) > int(match[1])
                or f"Partial: {match[1]} of {match[2]} runs" not in page):
            print("#", said, len(left[0]["runs"]))
            return False
        again = lab(*few, "--out", f"{folder}/a", "--continue")
        lab(*few, "--out", f"{folder}/b")
        same = [pathlib.Path(folder, "a", name).read_bytes()
                == pathlib.Path(folder, "b", name).read_bytes()
                for name in FILES]
        return f"{len(left[0]['runs'])} of {match[2]} runs are in" in again.stderr and all(same)


def killed():
    """Where the process of a run was killed is said, and the run counts as missing."""
    with tempfile.TemporaryDirectory() as folder:
        campaign = subprocess.Popen([WEIR, "lab", "run", "becn-45", "--no-figures", "--jobs", "1",
                                     "--out", folder], stderr=subprocess.PIPE,
                                    stdout=subprocess.PIPE, text=True)
        children = pathlib.Path(f"/proc/{campaign.pid}/task/{campaign.pid}/children")
        while campaign.poll() is None and not children.read_text(encoding="utf-8"):
            time.sleep(0.01)
        os.kill(int(children.read_text(encoding="utf-8").split()[0]), signal.SIGKILL)
        said = campaign.communicate(timeout=100)[1]
        part, = json.loads(pathlib.Path(folder, "results.json").read_text(encoding="utf-8"))
    assert campaign.returncode == 1 and not part["complete"], said
    assert re.search("process of a run ended before|no process was left to run it", said), said


def goes_on_with_files():
    """A trace and a capture are made while a run is made, so a run that has them is made again."""
    with tempfile.TemporaryDirectory() as folder:
        words = [f"{folder}/out", "--case", "plain"]
        brief_run("becn-45", *words)
        brief_run("becn-45", *words, "--continue", "--trace", f"{folder}/t.csv", "--pcap",
                  f"{folder}/c.pcap")
        sizes = [pathlib.Path(folder, name).stat().st_size for name in ("t.csv", "c.pcap")]
        assert min(sizes) > 1000, sizes


def not_of_another_text():
    """Runs of an older text of the experiment are not taken for runs of the current one."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "never.lab")
        path.write_text(NEVER, encoding="utf-8")
        lab("run", str(path), "--seeds", "1", "--out", f"{folder}/out")
        path.write_text(NEVER.replace("5ms", "6ms"), encoding="utf-8")
        again = lab("run", str(path), "--seeds", "1", "--out", f"{folder}/out", "--continue").stderr
        once_more = lab("run", str(path), "--seeds", "1", "--out", f"{folder}/out",
                        "--continue").stderr
        moved = lab("run", str(path.rename(f"{folder}/moved.lab")), "--seeds", "1",
                    "--out", f"{folder}/out", "--continue").stderr
        return ("0 of 1 runs are in" in again and "1 of 1 runs are in" in once_more
                and "1 of 1 runs are in" in moved)


def full_disk():
    """On a full file system the old files are kept, and no other file is left."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "never.lab")
        path.write_text(NEVER, encoding="utf-8")
        lab("run", str(path), "--seeds", "1", "--out", f"{folder}/out")
        before = [pathlib.Path(folder, "out", name).read_bytes() for name in FILES]
        # Limits file sizes to a kilobyte: writes fail as on a full disk, without filling one.
        answer = subprocess.run(
            [WEIR, "lab", "run", str(path), "--seeds", "1", "--seed", "7",
             "--out", f"{folder}/out"], capture_output=True,
            text=True, timeout=100, check=False,
            preexec_fn=lambda: (signal.signal(signal.SIGXFSZ, signal.SIG_IGN),
                                resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))))
        after = [pathlib.Path(folder, "out", name).read_bytes() for name in FILES]
        there = sorted(file.name for file in pathlib.Path(folder, "out").iterdir())
        return (answer.returncode == 1 and len(answer.stderr.splitlines()) == 1 and before == after
                and there == sorted(FILES))


FIGURES = ([f"becn-fig{i}" for i in range(2, 20)] + [f"ecn-becn-fig{i}" for i in range(3, 18)]
           + ["bcn-fig2", "bcn-fig3", "bcn-fig5", "bcn-table1", "bcn-table2"]
           + [f"ecn-mod-fig{i}" for i in range(2, 10)]
           + ["lss-fig3", "lss-fig4", "lss-fig5"])


def all_figures():
    there = {name for row in json.loads(lab("list", "-j").stdout)
             for name in row["figures"].split()}
    print(f"# missing: {sorted(set(FIGURES) - there)}, unknown: {sorted(there - set(FIGURES))}")
    return there == set(FIGURES)


def all_rows():
    there = {name for row in json.loads(lab("list", "-j").stdout) for name in row["rows"].split()}
    papers = (("A", 18), ("B", 14), ("C", 8), ("E", 9))
    return there == {f"{letter}{i}" for letter, n in papers for i in range(1, n + 1)} | {"D3"}


def check(true):
    assert true, "it is not so"


BRIEF = [("becn-45", "plain"), ("becn-45", "ecn"), ("becn-45", "becn"), ("bcn-chain", "hops"),
         ("bcn-mix", "same"),
         ("becn-web", "becn", "--set", "duration=52s"), ("ecn-mod-fifo", "mixed"),
         ("ecn-mod-fifo", "unaware"),
         ("slow-start-header", "told"), ("slow-start", "limited-500")]

CLAIMS = [
    ("list names the experiments",
     lambda: check(listed())),
    ("every figure and table of the papers has its experiment",
     lambda: check(all_figures())),
    ("so has every row of the acceptance table",
     lambda: check(all_rows())),
    ("a row outside its band is red and says why, everywhere, and the status is 1",
     lambda: check(red())),
    ("a campaign that was stopped leaves what it had, says so, and goes on to the same bytes",
     lambda: check(goes_on())),
    ("a campaign of which a process was killed says so", killed),
    ("a run with a trace or a capture is made again, so that the files are there",
     goes_on_with_files),
    ("it goes on only with runs of the same text, wherever its file is",
     lambda: check(not_of_another_text())),
    ("a full disk leaves the files of before, and no half of one",
     lambda: check(full_disk())),
    ("no seeds are refused",
     lambda: check(refused(["run", "A1", "--seeds", "0"],
                           "--seeds `0` is out of range; it goes from 1"))),
    ("no processes are refused",
     lambda: check(refused(["run", "A1", "--jobs", "0"],
                           "--jobs `0` is out of range; it goes from 1"))),
    ("a folder that cannot be is refused before anything is run",
     lambda: check(refused(["run", "all", "--out", "/proc/none"], "--out /proc/none"))),
    ("to continue nowhere is refused",
     lambda: check(refused(["run", "A1", "--continue"], "needs --out"))),
    ("a row over a sweep, and an option that list or merge would ignore, is refused", no_effect),
    ("an unknown experiment is refused, with the nearest",
     lambda: check(refused(["run", "becn-54"], "did you mean `becn-45`"))),
    ("an unknown parameter is refused, with the nearest",
     lambda: check(refused(["run", "A1", "--set", "flow=3"], "did you mean `flows`"))),
    ("an unknown parameter is refused with those there are, each once",
     lambda: check(refused(["run", "becn-45", "--set", "colour=3"],
                           "there are duration warmup sample ties flows delay "
                           "ecn min max max-p weight response wait\n"))),
    ("a sweep over what is no parameter is refused",
     lambda: check(refused(["run", "becn-45", "--set", "colour=1..3"],
                           "has no parameter `colour`"))),
    ("a value that cannot be is refused with its line",
     lambda: check(refused(["run", "becn-45", "--set", "delay=40"], "delay"))),
    ("a flow with an unknown response is refused",
     lambda: check(refused(["run", "becn-45", "--set", "response=vegas"], "vegas"))),
    ("a topology without a route is refused",
     lambda: check(refused(["run", str(pathlib.Path(__file__).with_name("no-route.lab"))],
                           "no route"))),
    ("a row at a value of a sweep that there is not is refused with its line", no_sweep),
    ("a file whose name is not UTF-8 text is refused, and so is such a value", no_utf8),
    ("the results have the whole name of an experiment, quoted in the CSV if need be",
     names_are_whole),
    ("a row that divides by 0 has no value, and says why", no_value),
    ("what --set changes is not comparable, and a sweep is printed",
     lambda: whole(changes_and_sweeps)),
    ("rows find a case whose name begins with that of another", cases_with_points),
    ("what is in flight is not lost", in_flight_is_not_lost),
    ("an overhead of frames with Ethernet is refused", lengths_without_ethernet),
    ("utilisation is of the rates that are in force", rates_in_force),
    ("a packet that arrives twice is not lost less", copies_are_no_arrivals),
    ("no more objects of the web finish than begin", objects_at_the_mark),
    ("a link has the same measures whatever its name is", any_name_of_a_link),
    ("the quenches of a router are no load of its link", quenches_are_not_utilisation),
    ("a quench for a mark may have any bit", any_bit_of_a_quench),
    ("a row has its id, parameters, values, paper, band and verdict",
     lambda: check(row())),
    ("the same seed gives the same bytes, whatever the number of processes",
     lambda: check(whole(repeats))),
    ("another seed gives another run",
     lambda: check(seeds_differ())),
    ("no frame comes broken or astray",
     lambda: check(conserves())),
    ("a capture has nothing malformed and no wrong checksum",
     lambda: check(whole(lambda: capture_is_whole("becn-45", "ecn",
                                                  "ip.dsfield.ecn == 3 || tcp.flags.ece == 1")))),
    ("nor has one with source quenches",
     lambda: check(whole(lambda: capture_is_whole("becn-45", "becn", "icmp.type == 4")))),
    ("nor one with the TTL returned in an IP option",
     lambda: check(whole(lambda: capture_is_whole("bcn-chain", "hops", "ip.hdr_len == 24")))),
    ("nor one of web traffic and source quenches",
     lambda: check(whole(lambda: capture_is_whole("becn-web", "becn", "icmp.type == 4",
                                                  "--set", "duration=20s")))),
    ("nor one of voice calls beside TCP",
     lambda: check(whole(lambda: capture_is_whole("ecn-mod-fifo", "mixed", "udp")))),
    ("nor one with the unified header",
     lambda: check(whole(lambda: capture_is_whole("slow-start-header", "told", "ip.proto == 253",
                                                  "--set", "duration=3s", "--set", "warmup=1s")))),
    ("in it TCP is whole, both routers are asked and both are told of",
     lambda: check(header_is_exchanged())),
    ("what the header tells a sender is what its description gives it",
     lambda: check(whole(as_by_hand))),
    ("a paper's sentence that can be read in three ways is three words",
     lambda: check(readings())),
    ("a packet without room for the header is refused",
     lambda: check(too_small())),
    ("tshark's analysis counts as many retransmissions as the hosts",
     lambda: check(whole(lambda: tshark_counts_the_same("becn-45", "plain", ["ours"],
                                                        "--set", "flows=20")))),
    ("so it does with ECN",
     lambda: check(whole(lambda: tshark_counts_the_same("becn-45", "ecn", ["ours"],
                                                        "--set", "flows=45")))),
    ("so it does with source quenches",
     lambda: check(whole(lambda: tshark_counts_the_same("becn-45", "becn", ["ours"],
                                                        "--set", "flows=45")))),
    ("so it does with BCN-TCP and Reno together",
     lambda: check(whole(lambda: tshark_counts_the_same("bcn-mix", "same", ["bcn", "reno"])))),
    ("flows with BECN gain more over plain ones than flows with ECN, and both signals together "
     "more, too",
     lambda: check(whole(gains_in_order))),
    ("every experiment of the BECN papers has the RED of ns-2.1b8a",
     lambda: check(red_of_2001())),
    ("45 flows lose what they lose in the paper, near and by satellite",
     lambda: check(whole(losses_of_2001))),
    ("limited slow-start fills the pipe with the paper's queue of 200 packets, and not with 40",
     lambda: check(whole(fourth_figure))),
    ("a link's head leaves before what comes at the same instant, or after it, as the experiment "
     "says",
     lambda: check(ties())),
    ("an unknown order of ties is refused",
     lambda: check(refused(["run", "becn-45", "--set", "ties=random"],
                           "`departure-first` or `arrival-first`"))),
    ("voice calls are the load that their means give",
     lambda: check(whole(voice_load))),
    ("a sweep run apart and merged is what one run gives, and a hole in it is named",
     lambda: whole(merges)),
    ("so are runs of a whole campaign, a seed each", lambda: whole(merges_a_campaign)),
    ("a merge names the seed that is missing, however far apart the seeds are",
     lambda: whole(merges_far_seeds)),
    ("a merge refuses runs of an experiment that is not built in", merges_own),
    ("a merge refuses runs of another text of the experiment", merges_another_text),
    ("a value of --set that one case has itself is no sweep for a merge",
     lambda: whole(merges_what_a_case_has_itself)),
    ("a sanitizer has nothing to say of the first seconds of these",
     lambda: check(brief())),
    ("a figure of a paper is run alone",
     lambda: check(figure())),
    ("a figure over time is drawn",
     lambda: check(over_time())),
    ("an object of the web takes as many round trips as its packets need",
     lambda: check(web_object())),
    ("a user of surge asks for one file at a time",
     lambda: check(whole(one_file_at_a_time))),
    ("and is silent in between for as long as the model says",
     lambda: check(whole(silences))),
    ("BCN-TCP that cuts to whole packets takes less from Reno",
     lambda: check(whole(whole_packets))),
    ("a router that tells the sender keeps a steadier queue than one that marks",
     lambda: check(whole(steady))),
    ("flows without ECN beside ECN-mod get less, and do not starve",
     lambda: check(whole(beside_ecn_mod))),
    ("the web's workload is the same whatever the network does to it",
     lambda: check(whole(same_workload))),
    ("a line of a figure that is wrong is refused with its number",
     lambda: check(refused(["run", str(pathlib.Path(__file__).with_name("no-case.lab"))],
                           ":4: there is no case"))),
]

sys.exit(tap.run(CLAIMS))
