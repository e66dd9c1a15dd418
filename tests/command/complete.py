#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests completion: what the program offers, and that a shell inserts it, with the clouds of the
running weir.

usage: complete.py WEIR ROOT
"""
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path[:0] = [TESTS, os.path.join(TESTS, "control")]
import tap  # noqa: E402
from conversation import Client, Weir  # noqa: E402

WEIR, ROOT = map(os.path.abspath, sys.argv[1:3])
COMPLETION = os.path.join(ROOT, "contrib/completion")
CLOUDS = ("seed 1\nport a device net_ring0\nport b device net_ring1\ncloud downlink from a to b\n"
          "cloud up from b to a\n")
PATH = f"{os.path.dirname(WEIR)}:{os.environ['PATH']}"
LONG_S = 60


def started():
    """Returns a weir that answers, which is later than its socket appears."""
    weir = Weir(WEIR, "complete", scenario=CLOUDS)
    client = Client(weir.path)
    client.say("hello")
    client.close()
    return weir


def offered(*words):
    done = subprocess.run([WEIR, "--complete", *words], capture_output=True, text=True, check=False,
                          timeout=LONG_S)
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
        said = subprocess.run([WEIR, name, "--help"], capture_output=True, text=True,
                              check=True).stdout
        options = set(re.findall(r"^ {2}(?:-\w,|   ) (--[a-z-]+)", said, re.M))
        assert set(offered(name, "-")) == options, name
    assert offered("run", "-c", "x", "--lay") == ["--layout"]


def the_value_of_an_option_is_offered_where_it_is_a_word_or_a_file():
    assert offered("run", "--layout", "p") == ["pipeline"]
    assert offered("run", "--log-level", "") == ["error", "warning", "notice", "info", "debug"]
    assert offered("run", "-c", "x") == ["/"] and offered("replay", "--in", "a") == ["/"]
    assert offered("run", "--memory", "") == []


def a_value_is_offered_behind_an_equals_sign():
    assert (offered("replay", "--in", "a,b=my") == ["/a,b="]
            and offered("replay", "--in", "a=x=y") == ["/a="])
    assert offered("run", "--config=my") == ["/--config="] and offered("run", "-c", "a=my") == ["/"]
    assert (offered("replay", "--out=a=my") == ["/--out=a="]
            and offered("replay", "--out=a") == ["/--out="])
    assert (offered("run", "--layout=p") == ["--layout=pipeline"]
            and offered("bench", "--full=") == [])
    assert offered("exec", "delay", "4ms", "--", "--config=") == ["/"]


def words_of_the_language_are_offered():
    assert offered("ctl", "-s", "/nowhere", "sh") == ["show"]
    assert "delay" in offered("exec", "") and "jitter" in offered("exec", "delay", "40ms", "")
    assert offered("exec", "delay", "40ms", "--", "pi") == ["/"]
    assert "lo" in offered("on", "") and {"delay", "match"} <= set(offered("on", "lo", ""))
    assert "jitter" in offered("on", "lo", "delay", "40ms", "")
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
    """A shell on a terminal, at home in a folder."""

    def __init__(self, folder, *words):
        child, self.fd = pty.fork()
        if child == 0:
            os.chdir(folder)
            os.environ.update(HOME=folder, ZDOTDIR=folder, TERM="dumb", PATH=PATH)
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


def bash(folder):
    rc = os.path.join(folder, "rc")
    with open(rc, "w", encoding="utf-8") as file:
        file.write(f"bind 'set enable-bracketed-paste off'\n. {COMPLETION}/weir.bash\nPS1=READY\n")
    return Shell(folder, "bash", "--noprofile", "--rcfile", rc, "-i")


def zsh(folder):
    with open(os.path.join(folder, ".zshrc"), "w", encoding="utf-8") as file:
        file.write(f"fpath=({COMPLETION} $fpath)\nautoload -Uz compinit\ncompinit -u -D\n"
                   "unset zle_bracketed_paste\n"
                   "bindkey -e\nPS1=READY\n")
    return Shell(folder, "zsh", "-d", "-i")


def fish_offers(folder, line):
    done = subprocess.run(["fish", "--no-config",
                           "-c", f"source {COMPLETION}/weir.fish; complete -C $argv[1]", line],
                          env=dict(os.environ, HOME=folder, PATH=PATH), cwd=folder,
                          capture_output=True, text=True, check=False, timeout=LONG_S)
    assert done.stderr == "", f"{line}: {done.stderr}"
    return done.stdout.splitlines()


def types_the_rest(shell_in):
    """`down` is completed to `downlink`, from the running weir, and `del` to `delay`."""
    needs(shell_in.__name__)
    weir = started()
    shell = shell_in(weir.folder)
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
    types_the_rest(bash)


def bash_joins_what_it_cuts_and_takes_off_quotes():
    needs("bash")
    weir = started()
    shell = bash(weir.folder)
    try:
        shell.until("READY")
        path = weir.path
        for socket in (f"--socket={path}", f"-s '{path}'", f'-s "{path}"',
                       "-s " + path.replace("weir", "w\\eir")):
            shell.type(f"\x15weir ctl {socket} cloud downl\t")
            shell.until("cloud downlink ")
    finally:
        shell.end()
        weir.stop()


def zsh_types_the_rest():
    types_the_rest(zsh)


def fish_offers_them():
    needs("fish")
    weir = started()
    try:
        for line, wanted in ((f"weir ctl -s {weir.path} cloud d", "downlink"),
                             (f"weir ctl -s {weir.path} cloud downlink del", "delay"),
                             ("weir run --layout p", "pipeline")):
            assert (fish_offers(weir.folder, line)
                    == [wanted]), f"{line}: {fish_offers(weir.folder, line)}"
    finally:
        weir.stop()


# What is typed, what a shell makes of its last word, and what fish offers for it.
HARD = ((r"weir replay --in a=myc", r"a=mycap.pcap ", "a=mycap.pcap"),
        (r"weir replay --in=a=myc", r"--in=a=mycap.pcap ", "--in=a=mycap.pcap"),
        (r"weir replay --out 'a=myc", r"'a=mycap.pcap' ", "a=mycap.pcap"),
        (r"weir run --config=myc", r"--config=mycap.pcap ", "--config=mycap.pcap"),
        (r"weir run --layout=pi", r"--layout=pipeline ", "--layout=pipeline"),
        (r"weir check -c my\ dir/", r"my\ dir/net\ one.weir ", "my dir/net one.weir"),
        (r"weir check -c 'my dir/n", r"'my dir/net one.weir' ", "my dir/net one.weir"),
        (r"weir check -c ~/myc", r"~/mycap.pcap ", "~/mycap.pcap"),
        (r"weir exec 'delay' 4ms jit", r"jitter ", "jitter"),
        (r"weir exec delay 4ms 'jit", r"'jitter' ", "jitter"),
        (r"~/bin/weir ch", r"weir check ", "check"))


def folder_of_files():
    folder = tempfile.TemporaryDirectory(prefix="weir-files-")
    for name in ("bin", "my dir"):
        os.mkdir(os.path.join(folder.name, name))
    for name in ("mycap.pcap", "my dir/net one.weir"):
        with open(os.path.join(folder.name, name), "w", encoding="utf-8"):
            pass
    os.symlink(WEIR, os.path.join(folder.name, "bin/weir"))
    return folder


def types_hard_words(shell_in):
    needs(shell_in.__name__)
    with folder_of_files() as folder:
        shell = shell_in(folder)
        try:
            shell.until("READY")
            for line, wanted, _ in HARD:
                shell.type(f"\x15{line}\t")
                shell.until(re.escape(wanted))
        finally:
            shell.end()


def bash_completes_behind_equals_signs_in_quotes_and_from_a_path():
    types_hard_words(bash)


def zsh_completes_behind_equals_signs_in_quotes_and_from_a_path():
    types_hard_words(zsh)


def fish_completes_behind_equals_signs_in_quotes_and_from_a_path():
    needs("fish")
    with folder_of_files() as folder:
        for line, _, wanted in HARD:
            assert fish_offers(folder, line) == [wanted], f"{line}: {fish_offers(folder, line)}"


sys.exit(tap.run([(claim.__name__.replace("_", " "), claim) for claim in (
    each_command_is_offered_by_its_beginning, each_option_of_the_help_is_offered,
    the_value_of_an_option_is_offered_where_it_is_a_word_or_a_file,
    a_value_is_offered_behind_an_equals_sign,
    words_of_the_language_are_offered, the_clouds_of_the_weir_that_runs_are_offered,
    bash_types_the_rest,
    bash_joins_what_it_cuts_and_takes_off_quotes,
    bash_completes_behind_equals_signs_in_quotes_and_from_a_path,
    zsh_types_the_rest, zsh_completes_behind_equals_signs_in_quotes_and_from_a_path,
    fish_offers_them,
    fish_completes_behind_equals_signs_in_quotes_and_from_a_path)]))
