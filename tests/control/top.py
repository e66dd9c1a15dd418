#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests `weir top` in a terminal that tmux emulates: sizes, colours, keys, and weir that ends and
is restarted.

usage: top.py WEIR
"""

import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time

from conversation import SCENARIO, Client, Weir

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402

WEIR = os.path.abspath(sys.argv[1])
LONG_S = 60
NAMED = ("Enter", "Escape", "Up", "Down", "C-g", "C-u")


class Terminal:
    """A terminal of a given size in which weir top runs; end() ends it."""

    made = 0

    def __init__(self, weir, columns, rows, term="screen-256color", environment=""):
        # Each has a tmux server of its own: a server that is ending still answers for a while.
        Terminal.made += 1
        self.socket = os.path.join(weir.folder, f"t{Terminal.made}")
        command = (f"TERM={term} LC_ALL=C.UTF-8 {environment} {WEIR} top -s {weir.path} -i 200ms; "
                   "echo ended with $?; sleep 1000")
        self.tmux("-f", "/dev/null", "new-session", "-d", "-s", "t", "-x", str(columns),
                  "-y", str(rows), command)

    def tmux(self, *words):
        return subprocess.run(["tmux", "-S", self.socket, *words], capture_output=True, text=True,
                              check=True).stdout

    def keys(self, *keys):
        """Types keys. Those of NAMED are names of keys; anything else is text."""
        for key in keys:
            literal = [] if key in NAMED else ["-l"]
            self.tmux("send-keys", "-t", "t", *literal, key)

    def picture(self, colours=False):
        return self.tmux("capture-pane", "-p", *(["-e"] if colours else []), "-t", "t")

    def until(self, *wanted, colours=False, gone=()):
        """Waits for a picture that contains all of these."""
        end = time.monotonic() + LONG_S
        while time.monotonic() < end:
            picture = self.picture(colours)
            if all(text in picture for text in wanted) and not any(t in picture for t in gone):
                return picture
            time.sleep(0.05)
        raise AssertionError(f"no picture has {wanted} without {gone}; the last one:\n"
                             + picture.replace("\n", "\n#  "))

    def resize(self, columns, rows):
        self.tmux("resize-window", "-t", "t", "-x", str(columns), "-y", str(rows))

    def end(self):
        """Ends weir top before its terminal: a SIGCONT that follows the SIGHUP of a terminal that
        is closed blocks LeakSanitizer's check of the process for ever."""
        try:
            if "ended with" not in self.picture():
                self.keys("C-g", "q")  # ^G leaves the input line
                self.until("ended with")
        finally:
            subprocess.run(["tmux", "-S", self.socket, "kill-server"], capture_output=True,
                           check=False)


def in_terminal(weir, columns, rows, does, **how):
    terminal = Terminal(weir, columns, rows, **how)
    try:
        does(terminal)
    except AssertionError:
        try:
            terminal.end()
        except AssertionError as error:
            print(f"# and then: {error}")
        raise
    terminal.end()


def at_80x24_all_parts_stand_there_and_fit(weir):
    def look(terminal):
        picture = terminal.until("port ", "cloud ", "down", "up ", "worker", "events", "started")
        lines = picture.splitlines()
        assert len(lines) == 24 and max(map(len, lines)) <= 80, lines
        assert lines[-1].startswith("? help"), lines[-1]
    in_terminal(weir, 80, 24, look)


def it_follows_the_size_of_the_window(weir):
    def look(terminal):
        terminal.until("events")
        terminal.resize(80, 24)
        terminal.until("worker", "? help")
        terminal.resize(30, 8)
        terminal.until("too small")
        terminal.resize(200, 60)
        picture = terminal.until("worker", "events", gone=("too small",))
        assert picture.splitlines()[-1].startswith("? help"), picture
    in_terminal(weir, 200, 60, look)


def keys_sort_filter_zoom_pause_and_explain(weir):
    def look(terminal):
        terminal.until("by out", "down", "worker")
        terminal.keys("s")
        terminal.until("by in")
        terminal.keys("/")
        terminal.until("filter>")
        terminal.keys("dow", "Enter")
        terminal.until("/dow", "down", gone=("\nup ",))
        terminal.keys("Enter")
        terminal.until("cloud down from a to b", "since the start")
        terminal.keys("Enter")
        terminal.until("REAL/s")
        terminal.keys("p")
        terminal.until("PAUSED")
        terminal.keys("?")
        terminal.until("should be 0")
        terminal.keys("?", "p", "q")
        terminal.until("ended with 0")
    in_terminal(weir, 80, 24, look)


def escape_leaves_what_was_opened_last(weir):
    def look(terminal):
        terminal.until("by out", "worker")
        terminal.keys("?")
        terminal.until("should be 0", gone=("worker",))
        terminal.keys("Escape")
        terminal.until("worker", gone=("should be 0",))
        terminal.keys("Enter")
        terminal.until("since the start")
        terminal.keys("?")
        terminal.until("should be 0", gone=("since the start",))
        terminal.keys("Escape")
        terminal.until("since the start", gone=("should be 0",))
        terminal.keys("Escape")
        terminal.until("worker", gone=("since the start",))
    in_terminal(weir, 80, 24, look)


def the_zoom_hides_nothing_at_24_lines(weir):
    client = Client(weir.path)
    statements = ("loss random 1%", "rate 10mbit queue 20kB", "corrupt 1%", "duplicate random 1%",
                  *(f"rewrite {i} set ip.ttl {i}" for i in range(1, 9)))

    def few(terminal):
        terminal.until("by out", "worker")
        terminal.keys("/")
        terminal.until("filter>")
        terminal.keys("up", "Enter")
        terminal.until("/up", gone=("\ndown",))
        terminal.keys("Enter")
        picture = terminal.until("cloud up from b to a", "delay, line", "late at a")
        assert len(picture.splitlines()) == 24, picture

    def many(terminal):
        few_of = terminal.until("by out", "worker")
        assert "more lines below" not in few_of
        terminal.keys("/")
        terminal.until("filter>")
        terminal.keys("up", "Enter")
        terminal.until("/up", gone=("\ndown",))
        terminal.keys("Enter")
        terminal.until("cloud up from b to a", "more lines below", "rewrite 8", gone=("late at a",))
        terminal.keys(*["Down"] * 40)
        terminal.until("late at a", "delay in all", gone=("more lines below", "cloud up from"))
        terminal.keys(*["Up"] * 40)
        terminal.until("cloud up from b to a", "more lines below")
    assert client.say("cloud up loss random 1%") == "ok"
    in_terminal(weir, 80, 24, few)
    for statement in statements:
        assert client.say(f"cloud up {statement}") == "ok"
    in_terminal(weir, 80, 24, many)
    for name in sorted({statement.split()[0] for statement in statements}):
        assert client.say(f"no cloud up {name}") == "ok"


def a_change_is_typed_sent_and_seen_as_an_event(weir):
    def look(terminal):
        terminal.until("by out", "worker")
        terminal.keys("/")
        terminal.until("filter>")
        terminal.keys("up", "Enter")
        terminal.until("/up", gone=("\ndown",))
        terminal.keys("e")
        terminal.until("change> cloud up")
        terminal.keys("delay 17ms", "Enter")
        terminal.until("done: cloud up delay 17ms; was: delay 1ms", "change: line by uid")
        terminal.keys("e")
        terminal.until("change> cloud up")
        terminal.keys("dlay 17ms", "Enter")
        terminal.until("not done: ")
    in_terminal(weir, 100, 30, look)
    assert Client(weir.path).say("cloud up delay 1ms") == "ok"


def a_change_under_a_lease_stays_while_top_runs_and_goes_when_it_is_killed(weir):
    def delayed():
        return "delay 33ms" in client.say("show config")

    client = Client(weir.path)
    client.say("json on")
    terminal = Terminal(weir, 100, 30)
    try:
        terminal.until("by out", "worker")
        terminal.keys("e")
        terminal.until("change> cloud ")
        terminal.keys("C-u", "lease 12s cloud up dlay 33ms", "Enter")
        terminal.until("not done: ")
        assert not delayed()
        terminal.keys("e")
        terminal.until("change> cloud ")
        terminal.keys("C-u", "lease 12s cloud up delay 33ms", "Enter")
        terminal.until("done: lease 12s cloud up delay 33ms")
        # Longer than its time: it must be renewed while another line is being typed.
        terminal.keys("e")
        terminal.until("change> cloud ")
        time.sleep(16)
        assert delayed()
        terminal.keys("C-g")
        shell = terminal.tmux("list-panes", "-F", "#{pane_pid}").split()[0]
        with open(f"/proc/{shell}/task/{shell}/children", encoding="ascii") as children:
            os.kill(int(children.read().split()[0]), signal.SIGKILL)
        end = time.monotonic() + LONG_S
        while delayed() and time.monotonic() < end:
            time.sleep(0.1)
        assert not delayed()
    finally:
        terminal.end()


def the_picture_is_written_to_a_file(weir):
    path = os.path.join(weir.folder, "picture.txt")

    def look(terminal):
        terminal.until("by out", "worker")
        terminal.keys("w")
        terminal.until("write to> weir-top-")
        terminal.keys("C-u", path, "Enter")
        terminal.until("written: ")
    in_terminal(weir, 120, 24, look)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    assert text.startswith("weir ") and "cloud " in text and "worker" in text, text


def a_key_dumps_the_flight_and_the_status_says_where_or_why_not(weir):
    def without(terminal):
        terminal.until("by out", "worker")
        terminal.keys("f")
        terminal.until("not dumped: there is no flight: start weir with --flight 10s")
    in_terminal(weir, 120, 24, without)

    def dump(terminal):
        terminal.until("by out", "worker")
        end = time.monotonic() + LONG_S
        while time.monotonic() < end:
            terminal.keys("f")
            picture = terminal.until("dumped", gone=("is being dumped",))
            if "flight dumped in" in picture:
                break
            assert "not dumped: the flight holds nothing yet" in picture, picture
        said = re.search(r"^flight dumped in (\S+): \+\S+ s to \+\S+ s: 0 packets, [1-9][0-9.]* "
                         r"kB$", picture, re.M)
        assert said and re.fullmatch(re.escape(flying.path) + r"-flight-[-T0-9]+Z",
                                     said[1]), picture
        done = subprocess.run([WEIR, "replay", "--recording", said[1], "-q"], capture_output=True,
                              text=True, check=False)
        assert done.returncode == 0, done
        terminal.keys("?")
        terminal.until("dump the flight")
    flying = Weir(WEIR, "fly", "--flight", "1s", "--flight-to", "SOCKET-flight")
    try:
        in_terminal(flying, 160, 24, dump)
    finally:
        flying.stop()


def colours_are_used_where_they_are_and_not_needed(weir):
    def with_colours(terminal):
        assert "\x1b[36m" in terminal.until("by out", "worker", colours=True)

    def without(terminal):
        picture = terminal.until("by out", "worker", "REAL/s", colours=True)
        assert "\x1b[3" not in picture.replace("\x1b[39", ""), picture
    in_terminal(weir, 80, 24, with_colours, term="linux")
    in_terminal(weir, 80, 24, without, term="vt100")
    in_terminal(weir, 80, 24, without, environment="NO_COLOR=1")


def where_it_cannot_be_drawn_it_says_so(weir):
    def look(terminal):
        terminal.until("the terminal `dumb` (TERM) cannot be drawn on", "ended with 1")
    in_terminal(weir, 100, 24, look, term="dumb")
    done = subprocess.run([WEIR, "top", "-s", weir.path], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, check=False)
    assert done.returncode == 1 and "it needs a terminal" in done.stderr, done
    done = subprocess.run([WEIR, "top", "-s", weir.path + ".none"], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 2 and "no weir listens there" in done.stderr, done


def it_goes_on_by_itself_when_weir_is_started_again(weir):
    def look(terminal):
        terminal.until("by out", "worker")
        weir.process.kill()
        weir.process.wait()
        terminal.until("NOT CONNECTED")
        weir.start()
        terminal.until("weir was restarted", gone=("NOT CONNECTED",))
        Client(weir.path).say("cloud down delay 33ms")
        terminal.until("cloud down delay 33ms")
    in_terminal(weir, 120, 30, look)


class Bare:
    """weir top on a terminal without an emulator. It controls no process unless one asks for it."""

    def __init__(self, weir, *through):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self.process = subprocess.Popen(
            [*through, WEIR, "top", "-s", weir.path, "-i", "200ms"], stdin=slave, stdout=slave,
            start_new_session=True, env=dict(os.environ, TERM="xterm", LC_ALL="C.UTF-8"))
        os.close(slave)
        self.seen = b""

    def until(self, wanted):
        """Waits for a word, which is drawn only once."""
        while wanted not in self.seen:
            ready, _, _ = select.select([self.master], [], [], LONG_S)
            assert ready, f"no {wanted} came, but {self.seen}"
            self.seen += os.read(self.master, 65536)

    def ended(self):
        """Returns its exit status. It has to end by itself."""
        try:
            return self.process.wait(LONG_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return "not at all"


def it_ends_by_itself_when_its_terminal_is_gone(weir):
    for typed, seen in ((b"", b"worker"), (b"e", b"change>")):  # also while a line is being typed
        for gone in (False, True):
            bare = Bare(weir)
            bare.until(b"worker")
            os.write(bare.master, typed)
            bare.until(seen)
            if gone:
                os.close(bare.master)
            else:
                bare.process.send_signal(signal.SIGHUP)
            status = bare.ended()
            assert status == 0, (typed, gone, status)
            if not gone:
                os.close(bare.master)


# Runs the command in an orphaned process group that is not in the foreground of the terminal:
# reading the terminal fails with EIO.
LEFT_ALONE = """
import fcntl, os, signal, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
status, told = os.pipe()
if os.fork() == 0:
    os.setpgid(0, 0)
    if os.fork() > 0:
        os._exit(0)
    alone = False
    while not alone:
        try:
            alone = os.getpgid(os.getppid()) != os.getpgid(0)
        except ProcessLookupError:  # it went just now
            pass
    os.write(told, bytes([os.spawnv(os.P_WAIT, sys.argv[1], sys.argv[1:]) % 256]))
    os._exit(0)
os.wait()
os._exit(os.read(status, 1)[0])
"""


def it_ends_by_itself_when_it_may_not_read_its_terminal_any_more(weir):
    bare = Bare(weir, sys.executable, "-c", LEFT_ALONE)
    bare.until(b"worker")
    os.write(bare.master, b"x")
    status = bare.ended()
    os.close(bare.master)
    assert status == 0, status


def main():
    if shutil.which("tmux") is None:
        print("1..0 # SKIP tmux is not installed")
        return 0
    tests = (at_80x24_all_parts_stand_there_and_fit,
             it_follows_the_size_of_the_window,
             keys_sort_filter_zoom_pause_and_explain,
             escape_leaves_what_was_opened_last,
             the_zoom_hides_nothing_at_24_lines,
             a_change_is_typed_sent_and_seen_as_an_event,
             a_change_under_a_lease_stays_while_top_runs_and_goes_when_it_is_killed,
             the_picture_is_written_to_a_file,
             a_key_dumps_the_flight_and_the_status_says_where_or_why_not,
             colours_are_used_where_they_are_and_not_needed,
             where_it_cannot_be_drawn_it_says_so,
             it_goes_on_by_itself_when_weir_is_started_again,
             it_ends_by_itself_when_its_terminal_is_gone,
             it_ends_by_itself_when_it_may_not_read_its_terminal_any_more)
    assert "cloud down" in SCENARIO
    weir = Weir(WEIR, "top")
    try:
        return tap.run([(test.__name__.replace("_", " "), lambda t=test: t(weir))
                        for test in tests])
    finally:
        weir.stop()


if __name__ == "__main__":
    sys.exit(main())
