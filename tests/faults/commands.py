# SPDX-License-Identifier: BSD-3-Clause
"""Commands that begin, do their work and end. In each of them, every call fails in turn.

A run with a fault may end in two ways. Either it ends like the run without the fault, with the same
status, outputs and text. Or it ends with status 1 or 2 and a message that says what was lacking,
and leaves no incomplete output under its final name, and nothing else.

A live run never repeats exactly: its outputs have to be there, and be complete. weir exec fails
with status 125, or with 126 if the command cannot be started; `whole` checks its outputs.
"""
import json
import os
import re
import shutil
import signal
import subprocess
import time

from page import complaint, environment

CPU = str(max(os.sched_getaffinity(0)))
# For a run that takes a second. Longer means a hang, even under a sanitizer on a busy machine.
SLOW_S = 120
CTL_S = 30  # for `weir ctl`, which waits 60 s for a weir that does not answer

EVERY_STATEMENT = """seed 7
port a
port b
cloud down from a to b match "udp or tcp or arp"
cloud down meter window 5ms
cloud down feedback header
cloud down hop 192.0.2.1 2001:db8::1 mtu 1400
cloud down rewrite set ip.dscp 3
cloud down rewrite 2 match ip.protocol = 17 set ip.ttl 9
cloud down loss gilbert-elliott p 1% r 20%
cloud down duplicate random 1%
cloud down corrupt random 0.5% bits 2
cloud down police 900mbit burst 100kB
cloud down xcp
cloud down rate 100mbit queue 60kB
cloud down red min 5kB max 15kB max-p 10%
cloud down ecn on
cloud down becn
cloud down delay 5ms jitter 1ms distribution normal
cloud down at 5ms rate 50mbit
cloud down every 10ms for 2ms loss random 20%
cloud rest from a to b
cloud rest loss random 1% correlation 25%
cloud rest corrupt checksum ip,udp probability 10%
cloud rest slots min 1ms max 2ms packets 10 queue 50pkt
cloud rest delay 1ms limit 100pkt
cloud up from b to a
cloud up loss list losses
cloud up duplicate every 50
cloud up rate 50mbit queue 100pkt
cloud up class voice match "udp port 5004"
cloud up class data queue 60kB
cloud up class voice codel
cloud up class data pie
cloud up scheduler drr
cloud up delay 2ms jitter 1ms distribution table numbers
cloud up reorder random 5% by 3pkt wait 5ms
cloud up wave delay 2ms..9ms period 20ms
clouds lines from down to b per destination 10.0.0.0/24
clouds lines loss pattern 3,5 of 70
clouds lines rate 20mbit queue 20kB
clouds lines fq-codel
clouds lines delay 1ms
"""


class Scenario:
    """A command, `words`, that runs in a folder of its own. It writes its outputs into `out`."""

    def __init__(self, name, words, kinds, status=0, same=None, stop=None, keeps=False, undo=None,
                 inside=None,
                 fails=(1, 2), whole=None):
        self.name, self.words, self.kinds, self.status = name, words, kinds, status
        self.inside = inside or []  # a command that creates the network in which it runs
        self.fails = fails  # its possible statuses on failure
        # whole(name, data) checks an output that varies; it returns what is wrong, or None
        self.whole = whole
        self.same = same or (lambda text: text)  # reduces a text to the part that must not change
        self.stop = stop  # a word on stderr after which it gets SIGTERM
        self.keeps = keeps  # it may leave partial outputs, as its manual says
        self.slow_s = SLOW_S if undo is None else CTL_S
        self.undo = undo  # it talks to a running weir; these lines undo its changes there


def digits_apart(text):
    return re.sub(r"\d[\d.,]*", "#", text)


def rows_alone(text):
    """Reduces the output of a bench to its rows: if the machine cannot be examined, this is a
    remark and no error."""
    return digits_apart(json.dumps(json.loads(text)["rows"])) if text else ""


# Two ends of one cable, so that every packet comes back, and packets are always in flight.
CABLE = ["unshare", "--net", "--mount", "--", "sh", "-c",
         "mount -t tmpfs none /run; ip link set lo up; ip link add wa type veth peer name wb; ip "
         "link set wa up; "
         "ip link set wb up; exec \"$0\" \"$@\""]
# A ping, a refused connection and a datagram, through the way out. Their results do not matter.
COMMAND = ("ping -c 2 -i 0.01 -W 1 198.18.0.1; timeout 2 bash -c '</dev/tcp/198.18.0.1/9'; "
           "echo x >/dev/udp/198.18.0.1/53; sleep 0.02; exit 0")


def whole_record(name, data):
    """Checks an output of a live run; returns what is wrong, or None."""
    if name == "report":
        try:
            json.loads(data)
        except ValueError as error:
            return f"{error}"
    elif name.endswith("pcapng"):
        at = 0
        while at < len(data):
            length = int.from_bytes(data[at + 4:at + 8], "little")
            if length < 12 or data[at + length - 4:at + length] != data[at + 4:at + 8]:
                return f"its block at {at} is not whole"
            at += length
    elif name == "picture" and b"</html>" not in data[-20:]:
        return "it does not end"
    elif name == "log" and not data.endswith(b"\n"):
        return "its last line does not end"
    return None


EXEC = ["exec", "delay", "1ms", "loss", "1%", "--report", "out/report", "--log", "out/log",
        "--picture", "out/picture",
        "--pcap", "out/path.pcapng", "--", "bash", "-c", COMMAND]

SCENARIOS = [
    Scenario("replay",
             ["replay", "-c", "every.weir", "--in", "a=in", "--in", "b=back", "--out", "a=out/a",
                        "--out", "b=out/b.pcapng", "--report", "out/report", "--log", "out/log",
                        "--picture", "out/picture"], ["memory", "mbuf", "write", "system"]),
    Scenario("replay-split",
             ["replay", "-c", "pair.weir", "--in", "a,b=in", "--split", "mac=02:00:00:00:00:0a",
                              "--out", "a=out/a", "--out", "b=-", "--seed", "3"],
             ["memory", "mbuf", "write", "system"]),
    Scenario("replay-trace",
             ["replay", "-c", "trace.weir", "--in", "a=in", "--out", "b=out/b",
                              "--report", "out/report"], ["memory", "system"]),
    Scenario("replay-feedback",
             ["replay", "-c", "path.weir", "--in", "a=in", "--out", "b=out/b",
                                 "--report", "out/report"], ["memory", "mbuf"]),
    Scenario("replay-classes",
             ["replay", "-c", "classes.weir", "--in", "b=in", "--out", "a=out/a",
                                "--report", "out/report"], ["memory", "mbuf"]),
    Scenario("replay-wrong", ["replay", "-c", "wrong.weir", "--in", "a=in", "--out", "b=out/b"],
             ["memory", "system"],
             status=2),
    Scenario("check", ["check", "-c", "every.weir"], ["memory", "system"], same=digits_apart),
    Scenario("check-json", ["check", "-j", "-c", "every.weir"], ["memory", "system"],
             same=digits_apart),
    Scenario("help", ["help", "cloud", "loss"], ["memory"]),
    Scenario("manual", ["help", "--man"], ["memory"]),
    Scenario("lab", ["lab", "run", "droptail", "--seeds", "2", "--jobs", "1",
                     "--set", "duration=3s",
                     "--set", "warmup=1s", "--out", "out"], ["memory", "mbuf", "write", "system"],
             keeps=True),
    Scenario("ctl", ["ctl", "-s", "socket", "cloud", "down", "delay", "7ms"],
             ["memory", "write", "system"],
             undo=["cloud down delay 1ms"]),
    Scenario("ctl-list", ["ctl", "-j", "-s", "socket", "cloud down loss list losses"],
             ["memory", "system"],
             undo=["no cloud down loss"]),
    Scenario("ctl-batch", ["ctl", "-s", "socket", "-f", "batch"], ["memory", "system"],
             undo=["cloud down delay 1ms", "no cloud down loss"]),
    Scenario("ctl-show", ["ctl", "-s", "socket", "show", "config"], ["memory", "write", "system"],
             undo=[]),
    Scenario("bench-wrong", ["bench", "cost", "--scenario", "nothing"], ["memory"], status=2),
    Scenario("bench", ["bench", "cost", "--scenario", "delay-1ms", "--frame", "64",
                       "--seconds", "0.05", "--runs", "1",
                       "-j"], ["memory", "system", "dpdk"], same=rows_alone),
    Scenario("run", ["run", "-c", "live.weir", "-s", "out/socket", "--memory", "32MiB",
                     "--sleep", "1ms"],
             ["memory", "system", "dpdk"], same=lambda text: "", stop="running, seed"),
    Scenario("run-pipeline", ["run", "-c", "live.weir", "-s", "out/socket", "--memory", "32MiB",
                              "--layout", "pipeline", "--cores", ",".join([CPU] * 3)],
             ["memory", "dpdk", "ring"], same=lambda text: "", stop="running, seed"),
    Scenario("run-interface",
             ["run", "-c", "interface.weir", "-s", "out/socket", "--memory", "32MiB"],
             ["memory", "system", "network"], same=lambda text: "", stop="running, seed",
             inside=CABLE),
    Scenario("check-interface", ["check", "-c", "interface.weir"], ["memory", "system", "network"],
             same=lambda text: "", inside=CABLE),
    Scenario("exec", EXEC, ["memory", "mbuf", "write", "system", "network"], same=lambda text: "",
             fails=(125, 126),
             whole=whole_record),
    Scenario("exec-between",
             ["exec", "-q", "delay", "1ms", "--between", "A: sleep 9", "B: ping -c 2 -i 0.01 A"],
             ["memory", "network"], same=lambda text: "", fails=(125, 126)),
    Scenario("run-file", ["run", "-c", "file.weir", "-s", "out/socket", "--memory", "32MiB"],
             ["memory", "system", "ring"], same=lambda text: "", stop="running, seed"),
]


def prepare(folder, make_capture, source):
    """Writes the files that the scenarios read."""
    os.makedirs(folder, exist_ok=True)
    configs = os.path.join(source, "configs")

    def write(name, text):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as out:
            out.write(text)

    def read(name):
        with open(os.path.join(configs, name), encoding="utf-8") as text:
            return text.read()

    for name, packets in (("in", 400), ("back", 300)):
        subprocess.run([make_capture, "--packets", str(packets), "--bytes", "60",
                        "--bytes-max", "1500", "--both", "1",
                        os.path.join(folder, name)], check=True)
    write("losses", "3\n9\n20\n")
    write("batch", "cloud down delay 4ms\ncloud down loss list losses\n")
    write("times", "0\n2\n2\n5\n9\n")
    write("every.weir", EVERY_STATEMENT)
    write("pair.weir",
          "port a\nport b\ncloud down from a to b\ncloud down loss random 10%\n"
          "cloud up from b to a\n"
                       "cloud up netem delay 5ms 1ms loss 1% duplicate 1%\n")
    write("trace.weir",
          "seed 1\nport a\nport b\ncloud down from a to b\ncloud down trace times format mahimahi\n"
                        "cloud down delay 3ms distribution table numbers jitter 1ms\n")
    write("numbers", "\n".join(str(i * 10) for i in range(-200, 200)) + "\n")
    write("path.weir", read("feedback-path.weir"))
    write("classes.weir", read("voice-and-data.weir"))
    write("wrong.weir", "port a\nport b\ncloud down from a to b\ncloud down delay 10\n")
    pair = ("cloud down from a to b\ncloud up from b to a\ncloud down delay 100us\n"
            "cloud down rate 1gbit\n")
    write("live.weir",
          "seed 5\nport a device net_null0,size=64\nport b device net_null1,size=1000\n" + pair)
    write("session.weir",
          "seed 5\nport a device net_null0,size=64\nport b device net_null1,size=1000\n"
                          "cloud down from a to b\ncloud up from b to a\ncloud down delay 1ms\n")
    write("interface.weir", "seed 5\nport a interface wa\nport b interface wb\n" + pair)
    write("file.weir",
          f"seed 5\nport a device file:{folder}/in,out=out/a\n"
          f"port b device file:{folder}/back,out=out/b\n"
                       + pair)


def lacks(scenario):
    """Returns what this machine lacks for the scenario, or None."""
    if scenario.inside or scenario.words[0] == "exec":
        if subprocess.run(["unshare", "--net", "--mount", "--", "true"], check=False,
                          stderr=subprocess.DEVNULL).returncode:
            return "to make a network namespace takes root, and a kernel that allows it"
    if scenario.words[0] == "exec" and not os.path.exists("/dev/net/tun"):
        return "there is no /dev/net/tun"
    return None


class Result:
    pass


def run(program, scenario, folder, page):
    """Makes one run, with an empty `out`."""
    result = Result()
    shutil.rmtree(os.path.join(folder, "out"), ignore_errors=True)
    os.mkdir(os.path.join(folder, "out"))
    begun = time.monotonic()
    with open(os.path.join(folder, "stdout"), "w+b") as out, open(os.path.join(folder, "stderr"),
                                                                  "w+b") as err:
        with subprocess.Popen([*scenario.inside, program, *scenario.words], cwd=folder,
                              stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                              env=environment(page)) as child:
            stopped, result.hangs = False, False
            while child.poll() is None:
                if scenario.stop and not stopped:
                    with open(os.path.join(folder, "stderr"), "rb") as said:
                        if scenario.stop.encode() in said.read():
                            time.sleep(0.02)
                            child.send_signal(signal.SIGTERM)
                            stopped = True
                if time.monotonic() - begun > scenario.slow_s:
                    result.hangs = True
                    child.kill()
                time.sleep(0.005)
        result.status = child.returncode
        out.seek(0)
        err.seek(0)
        result.stdout = out.read().decode(errors="replace")
        result.stderr = err.read().decode(errors="replace")
    result.files = {}
    for where, _, names in os.walk(os.path.join(folder, "out")):
        for name in names:
            path = os.path.join(where, name)
            if os.path.isfile(path):
                with open(path, "rb") as data:
                    result.files[os.path.relpath(path, os.path.join(folder, "out"))] = data.read()
            else:
                result.files[os.path.relpath(path, os.path.join(folder, "out"))] = b"(no file)"
    return result


def accounts(result):
    """Returns what does not add up in a report, or None."""
    if "report" not in result.files:
        return None
    for cloud in json.loads(result.files["report"])["clouds"]:
        came = cloud["rx_packets"] + cloud["duplicated"] + cloud["generated"]
        went = cloud["tx_packets"] + sum(cloud["drops"].values()) + cloud["held_packets"]
        if came != went:
            return f"cloud {cloud['cloud']}: {came} came, {went} went"
    return None


def words_of(kind, stderr):
    """Returns what is missing or wrong in the message about such a fault, or None."""
    if not stderr.strip():
        return "it says nothing"
    if "Success" in stderr or "(null)" in stderr:
        return "the message has lost its reason"
    if kind == "memory" and not re.search(r"memory|No space left|cannot allocate", stderr, re.I):
        return "the message does not speak of memory"
    return None


def judge(scenario, kind, reference, result):
    """Returns what is wrong with a run in which a call was refused, or None."""
    if result.hangs:
        return f"it had not ended after {scenario.slow_s} s"
    said = complaint(result.stderr)
    if said:
        return said
    if (scenario.stop and result.status == -signal.SIGTERM
            and scenario.stop not in result.stderr.splitlines()[-1]):
        result.status = 1  # the signal came after it had cleaned up and given its reason
    if result.status < 0:
        return f"it died of signal {-result.status}"
    if result.status == scenario.status:
        if kind == "mbuf":
            return accounts(result)
        if scenario.stop:
            return None
        for name, data in reference.files.items():
            if scenario.whole and name in result.files:
                if wrong := scenario.whole(name, result.files[name]):
                    return f"status {result.status}, and of {name} {wrong}"
            elif result.files.get(name) != data:
                return f"status {result.status}, and {name} is " + (
                    "not the same" if name in result.files else "missing")
        if scenario.same(result.stdout) != scenario.same(reference.stdout):
            return f"status {result.status}, and it prints something else"
        strangers = sorted(set(result.files) - set(reference.files))
        return f"it leaves {strangers}" if strangers else None
    if result.status not in scenario.fails:
        return f"status {result.status}"
    for name, data in result.files.items():
        if scenario.whole and not scenario.whole(name, data):
            continue
        if scenario.keeps or scenario.stop and name in ("a", "b"):
            continue
        if reference.files.get(name) != data:
            return f"it fails, and leaves {name}"
    return words_of(kind, result.stderr + (result.stdout if "-j" in scenario.words else ""))
