# SPDX-License-Identifier: BSD-3-Clause
"""Control sessions with a running weir. Every call that a change makes fails in turn.

A transaction is a few lines. With a fault, it may be answered by an error: then `show config` is
the same as before. Or by ok: then it is the same as without the fault. If the connection is lost,
it is one of the two. Packets keep flowing, and at the end everything adds up and all memory is
returned.
"""
import os
import signal
import socket
import subprocess
import time

from page import Page, complaint, environment

SECONDS = 60
CPU = str(max(os.sched_getaffinity(0)))

# Each transaction, and the lines that undo it.
TRANSACTIONS = [
    (["cloud down delay 3ms jitter 1ms distribution normal"], ["cloud down delay 1ms"]),
    (["cloud down loss random 1%"], ["no cloud down loss"]),
    (["cloud down loss list losses"], ["no cloud down loss"]),
    (["cloud down rate 100mbit queue 60kB", "cloud down red min 5kB max 15kB", "cloud down ecn on"],
     ["no cloud down ecn", "no cloud down red", "no cloud down rate"]),
    (["cloud down every 10ms for 2ms loss random 20%", "cloud down at 100s loss random 1%"],
     ["no cloud down every", "no cloud down at"]),
    (["cloud down wave delay 1ms..4ms period 20ms"], ["no cloud down wave"]),
    (["cloud down markov good 5ms then bad 2ms loss random 50%"], ["no cloud down markov"]),
    (["cloud down trace times format mahimahi loop"], ["no cloud down trace"]),
    (["cloud down netem delay 5ms 1ms loss 1% duplicate 1%"],
     ["no cloud down duplicate", "no cloud down loss", "cloud down delay 1ms"]),
    (["cloud down rewrite set ip.dscp 3",
      "cloud down rewrite 2 match ip.protocol = 17 set ip.ttl 9"],
     ["no cloud down rewrite"]),
    (["cloud other from a to b match \"tcp port 80\"", "cloud other rate 10mbit",
      "cloud other fq-codel"], ["no cloud other"]),
    (["clouds lines from down to b per destination 10.0.0.0/26", "clouds lines rate 10mbit",
      "clouds lines delay 1ms"],
     ["no cloud lines"]),
    (["cloud down rate 100mbit", "cloud down class voice match \"udp port 5004\"",
      "cloud down class data queue 60kB",
      "cloud down class data codel"],
     ["no cloud down class data", "no cloud down class voice", "no cloud down rate"]),
    (["cloud down hop 192.0.2.1", "cloud down meter"],
     ["no cloud down hop", "no cloud down meter"]),
]
QUESTIONS = ["show config", "show cloud", "show cloud down", "show ports", "show workers",
             "help cloud delay", "help"]


class Lost(Exception):
    """The connection was lost."""


class Client:
    """A connection, and the bytes that have been read from it."""

    def __init__(self, path):
        self.client = socket.socket(socket.AF_UNIX)
        self.client.settimeout(SECONDS)
        self.buffer = b""
        self.client.connect(path)

    def sendall(self, data):
        self.client.sendall(data)

    def line(self):
        while b"\n" not in self.buffer:
            more = self.client.recv(65536)
            if not more:
                raise Lost
            self.buffer += more
        one, self.buffer = self.buffer.split(b"\n", 1)
        return one.decode()

    def ask(self, line):
        """Returns the lines of the answer. The last one is `ok` or begins with `err`."""
        self.sendall(line.encode() + b"\n")
        lines = [self.line()]
        while not (lines[-1] == "ok" or lines[-1].startswith("err ")):
            lines.append(self.line())
        return lines

    def close(self):
        self.client.close()


RUNNING = []


def end_all():
    """Ends the processes that a failed claim has left running."""
    for weir in RUNNING:
        if weir.child.poll() is None:
            weir.child.kill()
            weir.child.wait()
    RUNNING.clear()


class Weir:
    def __init__(self, given, folder, page, layout, config="session.weir", options=()):
        self.path = os.path.join(folder, "socket")
        # "a": reading moves the offset, which weir shares.
        self.errors = open(os.path.join(folder, "run-stderr"), "a+", encoding="utf-8")
        self.says = open(os.path.join(folder, "run-stdout"), "a+", encoding="utf-8")
        self.errors.truncate(0)
        self.says.truncate(0)
        self.child = subprocess.Popen(
            [given.program, "run", "-c", config, "-s", self.path, "--memory", "64MiB", *options,
             *(["--sleep", "1ms"] if layout != "pipeline" else []), "--layout", layout,
             "--cores", ",".join([CPU] * 3)], cwd=folder, stdout=self.says, stderr=self.errors,
            env=environment(page))
        RUNNING.append(self)
        self.client = None
        for _ in range(SECONDS * 20):
            if "running, seed" in self.said():
                break
            assert self.child.poll() is None, self.said()
            time.sleep(0.05)

    def said(self):
        self.errors.seek(0)
        return self.errors.read()

    def connect(self):
        self.client = Client(self.path)

    def lines(self, n):
        return [self.client.line() for _ in range(n)]

    def ask(self, line):
        try:
            if self.client is None:
                self.connect()
            return self.client.ask(line)
        except (Lost, ConnectionError, BrokenPipeError) as reason:
            if self.client:
                self.client.close()
            self.client = None
            assert self.child.poll() is None, f"weir has ended: {self.said()[-3000:]}"
            raise Lost from reason

    def config(self):
        """Returns the scenario, without the remark about a late worker, which a busy machine may
        cause."""
        return [line for line in self.ask("show config") if not line.startswith("#")]

    def transaction(self, lines):
        """Sends lines, as a batch if there are several. Returns the last line of each answer."""
        if len(lines) > 1:
            lines = ["begin", *lines, "commit"]
        answers = []
        for line in lines:
            answers.append(self.ask(line)[-1])
        return answers

    def take_back(self, undo, before):
        answers = self.transaction(undo)
        assert self.config() == before, f"{undo}: {answers}, and now {self.config()}"

    def received(self):
        row = [line.split()
               for line in self.ask("show cloud down") if line.split()[:1] == ["received"]][0]
        return int(row[1].replace(",", ""))

    def flows(self):
        before = self.received()
        for _ in range(SECONDS * 20):
            if self.received() != before:
                return True
            time.sleep(0.05)
        return False

    def stop(self):
        self.child.send_signal(signal.SIGTERM)
        try:
            status = self.child.wait(SECONDS)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()
            raise AssertionError("it does not end by SIGTERM") from None
        said = self.said()
        assert not complaint(said), complaint(said)
        assert status == 0, f"status {status}: {said[-2000:]}"
        self.says.seek(0)
        assert "every packet is accounted for, every buffer was returned" in self.says.read()


def one_fault(weir, page, kind, at, onwards, lines, before, after):
    """Returns what is wrong with this transaction under this fault, or None, and whether a call was
    refused."""
    lost, answers = False, []
    page.arm(kind, at, onwards)
    try:
        answers = weir.transaction(lines)
    except Lost:
        lost = True
    page.disarm()
    if not page.refused and not lost:
        return None if answers and answers[-1] == "ok" else f"without a fault: {answers}", False
    try:
        if len(lines) > 1 and not lost and answers[-1] != "ok":
            weir.ask("abort")
        config = weir.config()
    except Lost:
        config = weir.config()
    wrong = [answer for answer in answers if answer != "ok"]
    if lost:
        said = (config not in (before, after)
                and "the connection is lost, and what is in force is neither")
    elif wrong and wrong[-1].startswith("err answer:"):
        # The message says that only the answer is missing, and refers to `show config`.
        said = (config not in (before, after)
                and "the answer is missing, and what is in force is neither")
    elif wrong:
        said = config != before and f"answered {wrong}, and what is in force has changed"
        if not said and kind == "memory" and "memory" not in " ".join(wrong):
            said = f"the message does not speak of memory: {wrong}"
    else:
        said = config != after and "answered ok, and it is not in force"
    return said or None, True


def steady(answer):
    """Returns the number of lines without warnings at the end, which come and go: of polls that
    were late, or memory that is full."""
    warnings = [at for at, line in enumerate(answer) if line.startswith("warning:")]
    return warnings[0] if warnings else len(answer) - 1


def changes(given, folder, findings, kind, layout, transactions):
    begun, found = time.monotonic(), findings()
    page = Page(os.path.join(folder, "page"), given.program)
    weir = Weir(given, folder, page, layout)
    calls = 0
    try:
        for lines, undo in transactions:
            before = weir.config()
            page.arm(kind, 0)
            answers = weir.transaction(lines)
            page.disarm()
            counted, after = page.counted, weir.config()
            calls += counted
            assert answers[-1] == "ok", f"{lines}: {answers}"
            weir.take_back(undo, before)
            for at in given.drawn(f"{kind} {lines[0]}", counted):
                for onwards in (False, True):
                    wrong, _ = one_fault(weir, page, kind, at, onwards, lines, before, after)
                    found.runs += 1
                    if wrong:
                        found.add(f"{wrong} {lines}", page, at, onwards)
                    if weir.config() != before:
                        weir.take_back(undo, before)
            assert weir.flows(), f"after {lines} no packet comes any more"
        for line in QUESTIONS if kind == "memory" else []:
            whole = steady(weir.ask(line))
            page.arm(kind, 0)
            weir.ask(line)
            counted = page.counted
            for at in given.drawn(line, counted):
                page.arm(kind, at)
                try:
                    answer = weir.ask(line)
                    if page.refused and answer[-1] == "ok" and steady(answer) != whole:
                        found.add(f"`{line}` is answered ok, and is not whole", page, at, False)
                except Lost:
                    pass
                page.disarm()
                found.runs += 1
    finally:
        page.disarm()
        weir.stop()
    found.done(calls, begun)


def load(given, folder, findings, kind, layout):
    """Lets mbuf allocations fail while packets flow: losses are counted, and everything adds up."""
    begun, found = time.monotonic(), findings()
    page = Page(os.path.join(folder, "page"), given.program)
    weir = Weir(given, folder, page, layout)
    try:
        for line in ("cloud down duplicate random 10%", "cloud down loss random 1% ecn",
                     "cloud down hop 192.0.2.1",
                     "cloud down rate 1gbit queue 100kB"):
            weir.ask(line)
        for at in given.drawn(kind, 40):
            page.arm(kind, at, at % 2)
            time.sleep(0.05)
            page.disarm()
            found.runs += 1
        assert weir.flows(), "no packet comes any more"
    finally:
        page.disarm()
        weir.stop()
    found.done(40, begun)


def claims(given, folder, findings):
    made = []
    for kind in ("memory", "system"):
        made.append((f"session: a change under {kind} that fails is in force or is not, as it was "
                     "answered",
                     lambda k=kind: changes(given, folder, findings, k, "run-to-completion",
                                            TRANSACTIONS)))
    made.append(("session: the same with a pipeline",
                 lambda: changes(given, folder, findings, "memory", "pipeline", TRANSACTIONS[:4])))
    for layout in ("run-to-completion", "pipeline"):
        made.append((f"session: packets without an mbuf are counted, {layout}",
                     lambda l=layout: load(given, folder, findings, "mbuf", l)))
    return made
