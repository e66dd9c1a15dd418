#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests weir exec on a terminal: a shell starts it as a job, and keys affect the command as they
would without weir. Usage: exec_terminal.py WEIR [PREFIX...], where PREFIX is a command that enters
the namespace."""
import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

PATIENCE_S = 60
# Single-process programs that report when they have started: a shell that a key stops or kills
# while it starts a program hangs by itself (vfork in dash).
UNTIL_THERE = """import os, sys, time
print("begun", flush=True)
while not os.path.exists(sys.argv[1]):
    time.sleep(0.05)
print("finished")
"""
# They wait for a signal that is blocked: a handler of Python's would not run if the signal came
# just before a sleep.
CATCHES = """import os, signal
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
print("begun", flush=True)
while signal.sigwaitinfo([signal.SIGINT]):
    os.write(1, b"caught\\n")
"""
AWAKES = """import os, signal
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCONT])
print("begun", flush=True)
while signal.sigwaitinfo([signal.SIGCONT]):
    os.write(1, b"goes on\\n")
"""


class Terminal:
    """A shell with job control on a terminal of 80 columns."""

    def __init__(self, prefix):
        self.seen = ""
        pid, self.fd = pty.fork()
        if pid == 0:
            os.environ.update(PS1="ready> ", HISTFILE="/dev/null", TERM="dumb")
            # A background job has these signals ignored, and would pass that on to its children.
            for number in signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP:
                signal.signal(number, signal.SIG_DFL)
            command = prefix + ["bash", "--norc", "--noprofile", "-i"]
            os.execvp(command[0], command)
        self.resize(80)
        self.expect("ready> ")

    def resize(self, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))

    def type(self, text):
        os.write(self.fd, text.encode())

    def expect(self, pattern):
        """Waits until the output matches, and discards the output up to the end of the match."""
        until = time.monotonic() + PATIENCE_S
        os.set_blocking(self.fd, False)
        while True:
            found = re.search(pattern, self.seen)
            if found:
                self.seen = self.seen[found.end():]
                return found
            if time.monotonic() > until:
                # Shows the processes in the test's namespace, and what they wait for.
                subprocess.run(["ps", "-eo", "pid,ppid,pgid,tpgid,stat,wchan:20,args"], check=False)
                sys.exit(f"FAIL: no {pattern!r} in {self.seen!r}")
            try:
                self.seen += os.read(self.fd, 65536).decode(errors="replace")
            except BlockingIOError:
                time.sleep(0.02)
            except OSError:
                sys.exit(f"FAIL: the terminal is closed, and no {pattern!r} in {self.seen!r}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        for name, text in ("until-there", UNTIL_THERE), ("catches", CATCHES), ("awakes", AWAKES):
            with open(os.path.join(folder, name), "w", encoding="ascii") as out:
                out.write(text)
        types(sys.argv[1], sys.argv[2:], folder)


def types(weir, prefix, folder):
    t = Terminal(prefix)
    run = f"{weir} exec -q delay 5ms"

    t.type(f"{run} -- sh -c 'echo beg''un; exec sleep 1000'\n")
    t.expect(r"begun\r\n")
    t.type("\x03")
    t.expect("ready> ")
    t.type("echo status $?\n")
    t.expect(r"status 130\r\n")
    print("^C ends the command, and the status is 130")

    t.type(f"{run} -- python3 {folder}/catches\n")
    t.expect(r"begun\r\n")
    t.type("\x03")
    t.expect(r"caught\r\n")
    t.type("\x1c")
    t.expect("ready> ")
    print("^C is the command's to catch")

    flag = os.path.join(folder, "flag")
    t.type(f"{run} -- python3 {folder}/until-there {flag}\n")
    t.expect(r"begun\r\n")
    t.type("\x1a")
    t.expect("Stopped")
    t.expect("ready> ")
    with open(flag, "w", encoding="ascii"):
        pass
    t.type("sleep 0.5; echo wai''ted\n")
    if "finished" in t.expect(r"(?s).*waited")[0]:
        sys.exit("FAIL: it is stopped, and goes on")
    t.type("fg\n")
    t.expect(r"finished\r\n")
    t.expect("ready> ")
    t.type("echo status $?\n")
    t.expect(r"status 0\r\n")
    print("^Z stops the job, fg continues it")

    t.type(f"{run} -- bash -c 'trap \"stty size; exit\" WINCH; echo beg''un; while :; do sleep "
           "0.1; done'\n")
    t.expect(r"begun\r\n")
    t.resize(132)
    t.expect(r"24 132\r\n")
    t.expect("ready> ")
    print("a change of the terminal's size reaches it")

    t.type(f"SHELL=/bin/sh PS1='in''side> ' {run}\n")
    t.expect("inside> ")
    t.type(f"python3 {folder}/awakes\n")
    t.expect(r"begun\r\n")
    t.type("\x1a")
    t.expect("Stopped")
    t.expect("inside> ")
    t.type("fg\n")
    t.expect("goes on")
    t.type("\x03")
    # The shell may prompt twice when the job stops, and discards input that is typed before the job
    # has ended.
    t.expect("KeyboardInterrupt")
    t.expect("inside> ")
    t.type("ip -br addr show weir0; exit 5\n")
    t.expect("198.18.")
    t.expect("ready> ")
    t.type("echo status $?\n")
    t.expect(r"status 5\r\n")
    print("a shell inside has job control of its own, and its status is passed on")


main()
