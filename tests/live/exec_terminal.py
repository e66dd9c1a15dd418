#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""weir exec at a terminal: a shell starts it as a job, and what is typed does to the command what it does
without weir. Usage: exec_terminal.py WEIR [PREFIX...], PREFIX being what leads into the namespace."""
import fcntl
import os
import pty
import re
import struct
import sys
import termios
import time

PATIENCE_S = 20


class Terminal:
    """A shell with job control behind a terminal of 80 columns."""

    def __init__(self, prefix):
        self.seen = ""
        pid, self.fd = pty.fork()
        if pid == 0:
            os.environ.update(PS1="ready> ", HISTFILE="/dev/null", TERM="dumb")
            command = prefix + ["bash", "--norc", "--noprofile", "-i"]
            os.execvp(command[0], command)
        self.resize(80)
        self.expect("ready> ")

    def resize(self, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))

    def type(self, text):
        os.write(self.fd, text.encode())

    def expect(self, pattern):
        """Waits until it can be read, and forgets all up to its end."""
        until = time.monotonic() + PATIENCE_S
        os.set_blocking(self.fd, False)
        while True:
            found = re.search(pattern, self.seen)
            if found:
                self.seen = self.seen[found.end():]
                return found
            if time.monotonic() > until:
                sys.exit(f"FAIL: no {pattern!r} in {self.seen!r}")
            try:
                self.seen += os.read(self.fd, 65536).decode(errors="replace")
            except BlockingIOError:
                time.sleep(0.02)
            except OSError:
                sys.exit(f"FAIL: the terminal is closed, and no {pattern!r} in {self.seen!r}")


def main():
    weir, prefix = sys.argv[1], sys.argv[2:]
    t = Terminal(prefix)
    run = f"{weir} exec -q delay 5ms"

    t.type(f"{run} -- sh -c 'echo beg''un; exec sleep 1000'\n")
    t.expect(r"begun\r\n")
    t.type("\x03")
    t.expect("ready> ")
    t.type("echo status $?\n")
    t.expect(r"status 130\r\n")
    print("^C ends the command, and the status is 130")

    t.type(f"{run} -- sh -c 'trap \"echo cau''ght\" INT; echo beg''un; while :; do sleep 0.1; done'\n")
    t.expect(r"begun\r\n")
    t.type("\x03")
    t.expect(r"caught\r\n")
    t.type("\x1c")
    t.expect("ready> ")
    print("^C is the command's to catch")

    t.type(f"{run} -- sh -c 'echo beg''un; sleep 1; echo fin''ished'\n")
    t.expect(r"begun\r\n")
    # A shell that is stopped while it starts a program hangs by itself (vfork in dash).
    time.sleep(0.3)
    t.type("\x1a")
    t.expect("Stopped")
    t.expect("ready> ")
    t.type("sleep 1.5; echo wai''ted\n")
    t.expect("waited")
    t.type("fg\n")
    t.expect(r"finished\r\n")
    t.expect("ready> ")
    t.type("echo status $?\n")
    t.expect(r"status 0\r\n")
    print("^Z stops the job, fg continues it")

    t.type(f"{run} -- bash -c 'trap \"stty size; exit\" WINCH; echo beg''un; while :; do sleep 0.1; done'\n")
    t.expect(r"begun\r\n")
    t.resize(132)
    t.expect(r"24 132\r\n")
    t.expect("ready> ")
    print("a change of the terminal's size reaches it")

    t.type(f"SHELL=/bin/sh PS1='in''side> ' {run}\n")
    t.expect("inside> ")
    t.type("sleep 1000\n")
    time.sleep(0.3)
    t.type("\x1a")
    t.expect("Stopped")
    t.expect("inside> ")
    t.type("fg\n")
    time.sleep(0.3)
    t.type("\x03")
    t.expect("inside> ")
    t.type("ip -br addr show weir0; exit 5\n")
    t.expect("198.18.")
    t.expect("ready> ")
    t.type("echo status $?\n")
    t.expect(r"status 5\r\n")
    print("a shell inside has job control of its own, and its status is passed on")


main()
