#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests completion: what the program offers, and that a shell inserts it, with the clouds of the running weir.

usage: complete.py WEIR ROOT
"""
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path[:0] = [TESTS, os.path.join(TESTS, "control")]
import tap  # noqa: E402
from conversation import Client, Weir  # noqa: E402

WEIR, ROOT = map(os.path.abspath, sys.argv[1:3])
COMPLETION = os.path.join(ROOT, "contrib/completion")
CLOUDS = "seed 1\nport a device net_ring0\nport b device net_ring1\ncloud downlink from a to b\ncloud up from b to a\n"
LONG_S = 60


def started():
    """Returns a weir that answers, which is later than its socket appears."""
    weir = Weir(WEIR, "complete", scenario=CLOUDS)
    client = Client(weir.path)
    client.say("hello")
    client.close()
    return weir


def offered(*words):
    done = subprocess.run([WEIR, "--complete", *words], capture_output=True, text=True, check=False, timeout=LONG_S)
    assert done.returncode == 0 and done.stderr == "", f"{words}: {done.returncode}: {done.stderr}"
    return done.stdout.split("\n")[:-1]


def commands():
    said = subprocess.run([WEIR, "--help"], capture_output=True, text=True, check=True).stdout
    return list(dict.fromkeys(re.findall(r"^ {2}weir ([a-z]+)\b", said, re.M)))


def each_command_is_offered_by_its_beginning():
    assert set(offered("")) == {*commands(), "--help", "--version"}
    assert offered("c") == ["check", "ctl"]
    assert offered() == offered("") and offered("frobnicate", "") == []


def each_option_of_the_help_is_offered():
    for name in commands():
        said = subprocess.run([WEIR, name, "--help"], capture_output=True, text=True, check=True).stdout
        options = set(re.findall(r"^ {2}(?:-\w,|   ) (--[a-z-]+)", said, re.M))
        assert set(offered(name, "-")) == options, name
    assert offered("run", "-c", "x", "--lay") == ["--layout"]


def the_value_of_an_option_is_offered_where_it_is_a_word_or_a_file():
    assert offered("run", "--layout", "p") == ["pipeline"]
    assert offered("run", "--log-level", "") == ["error", "warning", "notice", "info", "debug"]
    assert offered("run", "-c", "x") == ["/"] and offered("replay", "--in", "a") == ["/"]
    assert offered("run", "--memory", "") == []


def words_of_the_language_are_offered():
    assert offered("ctl", "-s", "/nowhere", "sh") == ["show"]
    assert "delay" in offered("exec", "") and "jitter" in offered("exec", "delay", "40ms", "")
    assert offered("exec", "delay", "40ms", "--", "pi") == ["/"]
    assert "loss" in offered("help", "cloud", "") and "replay" in offered("help", "")
    assert offered("ctl", "-s", "/nowhere", "load", "x") == ["/"]


def the_clouds_of_the_weir_that_runs_are_offered():
    weir = started()
    try:
        assert offered("ctl", "-s", weir.path, "cloud", "d") == ["downlink"]
        assert offered("ctl", f"--socket={weir.path}", "cloud", "d") == ["downlink"]
        assert offered("ctl", "-s", weir.path, "cloud", "downlink", "del") == ["delay"]
        assert offered("ctl", "-s", weir.path, "show", "cloud", "") == ["downlink", "up"]
        assert offered("ctl", "-s", "/nowhere", "cloud", "d") == []
    finally:
        weir.stop()


class Shell:
    """A shell on a terminal."""

    def __init__(self, *words, **around):
        child, self.fd = pty.fork()
        if child == 0:
            os.environ.update(around, TERM="dumb", PATH=f"{os.path.dirname(WEIR)}:{os.environ['PATH']}")
            os.execvp(words[0], words)
        self.child, self.heard = child, ""

    def until(self, pattern):
        end = time.monotonic() + LONG_S
        while not re.search(pattern, self.heard):
            assert time.monotonic() < end, f"{pattern} was not shown: {self.heard!r}"
            if select.select([self.fd], [], [], 0.2)[0]:
                self.heard += os.read(self.fd, 4096).decode(errors="replace")

    def type(self, text):
        self.heard = ""
        os.write(self.fd, text.encode())

    def end(self):
        os.kill(self.child, 9)
        os.waitpid(self.child, 0)
        os.close(self.fd)


def needs(shell):
    if not shutil.which(shell):
        raise tap.Skip(f"{shell} is not installed")


def types_the_rest(shell, weir):
    """`down` is completed to `downlink`, from the running weir, and `del` to `delay`."""
    try:
        shell.until("READY")
        shell.type(f"weir ctl -s {weir.path} cloud down\t")
        shell.until("cloud downlink ")
        shell.type("del\t")
        shell.until("delay ")
        shell.type("\x15weir run --lay\t")
        shell.until("run --layout ")
        shell.type("pi\t")
        shell.until("pipeline")
    finally:
        shell.end()
        weir.stop()


def bash_types_the_rest():
    needs("bash")
    weir = started()
    rc = os.path.join(weir.folder, "rc")
    with open(rc, "w", encoding="utf-8") as file:
        file.write(f"bind 'set enable-bracketed-paste off'\n. {COMPLETION}/weir.bash\nPS1=READY\n")
    types_the_rest(Shell("bash", "--noprofile", "--rcfile", rc, "-i"), weir)


def bash_joins_what_it_cuts_and_takes_off_quotes():
    needs("bash")
    weir = started()
    rc = os.path.join(weir.folder, "rc")
    with open(rc, "w", encoding="utf-8") as file:
        file.write(f"bind 'set enable-bracketed-paste off'\n. {COMPLETION}/weir.bash\nPS1=READY\n")
    shell = Shell("bash", "--noprofile", "--rcfile", rc, "-i")
    try:
        shell.until("READY")
        path = weir.path
        for socket in (f"--socket={path}", f"-s '{path}'", f'-s "{path}"', "-s " + path.replace("weir", "w\\eir")):
            shell.type(f"\x15weir ctl {socket} cloud downl\t")
            shell.until("cloud downlink ")
    finally:
        shell.end()
        weir.stop()


def zsh_types_the_rest():
    needs("zsh")
    weir = started()
    with open(os.path.join(weir.folder, ".zshrc"), "w", encoding="utf-8") as file:
        file.write(f"fpath=({COMPLETION} $fpath)\nautoload -Uz compinit\ncompinit -u -D\nunset zle_bracketed_paste\n"
                   "bindkey -e\nPS1=READY\n")
    types_the_rest(Shell("zsh", "-d", "-i", ZDOTDIR=weir.folder), weir)


def fish_offers_them():
    needs("fish")
    weir = started()
    try:
        for line, wanted in ((f"weir ctl -s {weir.path} cloud d", "downlink"),
                             (f"weir ctl -s {weir.path} cloud downlink del", "delay"), ("weir run --layout p", "pipeline")):
            done = subprocess.run(["fish", "--no-config", "-c", f"source {COMPLETION}/weir.fish; complete -C '{line}'"],
                                  env=dict(os.environ, HOME=weir.folder,
                                           PATH=f"{os.path.dirname(WEIR)}:{os.environ['PATH']}"),
                                  capture_output=True, text=True, check=False, timeout=LONG_S)
            assert done.stdout.split() == [wanted], f"{line}: {done.stdout}{done.stderr}"
    finally:
        weir.stop()


sys.exit(tap.run([(claim.__name__.replace("_", " "), claim) for claim in (
    each_command_is_offered_by_its_beginning, each_option_of_the_help_is_offered,
    the_value_of_an_option_is_offered_where_it_is_a_word_or_a_file, words_of_the_language_are_offered,
    the_clouds_of_the_weir_that_runs_are_offered, bash_types_the_rest,
    bash_joins_what_it_cuts_and_takes_off_quotes, zsh_types_the_rest, fish_offers_them)]))
