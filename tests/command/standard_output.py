#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every subcommand reports that its standard output could not be written: it does not end with
status 0.

usage: standard_output.py WEIR
"""
import os
import pathlib
import re
import signal
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402

WEIR = os.path.abspath(sys.argv[1])
SCENARIO = "seed 1\nport a\nport b\ncloud down from a to b\ncloud down delay 1ms\n"

# The subcommands are taken from the program, so that --help of a future one is tested, too.
SAID = subprocess.run([WEIR, "--help"], capture_output=True, text=True, check=True).stdout
NAMES = re.findall(r"^  weir ([a-z]+) ", SAID, re.M)
LINES = ([["--version"], ["--help"], ["help"], ["help", "--man"], ["help", "cloud", "red"],
          ["lab", "list"],
         ["check", "-c", "s.weir"], ["check", "-j", "-c", "s.weir"],
         ["replay", "-c", "s.weir", "--in", "a=in.pcap", "--out", "b=out.pcap"],
         ["replay", "-q", "-c", "s.weir", "--in", "a=in.pcap", "--out", "b=-"],
         ["bench", "machine"]] + [[name, "--help"] for name in NAMES if name != "help"])


def weir(words, **more):
    return subprocess.run([WEIR, *words], stderr=subprocess.PIPE, text=True, check=False,
                          timeout=60, **more)


def full(words):
    with open("/dev/full", "wb") as out:
        done = weir(words, stdout=out)
    assert done.returncode in (1, 2), f"status {done.returncode}"
    assert "No space left on device" in done.stderr, done.stderr


def closed(words):
    done = weir(words, preexec_fn=lambda: os.close(1))
    assert done.returncode in (1, 2), f"status {done.returncode}"
    assert "Bad file descriptor" in done.stderr, done.stderr


def gone(words, ignored):
    """Runs with a standard output whose reader has gone before the first byte."""
    reader, writer = os.pipe()
    os.close(reader)
    done = weir(words, stdout=writer, restore_signals=not ignored)
    os.close(writer)
    return done


def reader_gone(words):
    done = gone(words, ignored=False)
    # A replay may also report it as an error of its own outputs.
    if done.returncode == -signal.SIGPIPE:
        assert "Broken pipe" not in done.stderr, done.stderr
        return
    assert (done.returncode == 1
            and "Broken pipe" in done.stderr), f"{done.returncode}: {done.stderr}"


def reader_gone_and_nobody_is_told(words):
    done = gone(words, ignored=True)
    assert (done.returncode == 1
            and "Broken pipe" in done.stderr), f"{done.returncode}: {done.stderr}"


def captures_are_not_what_is_printed_to():
    """With standard output closed, the first file that is opened would get descriptor 1."""
    weir(["replay", "-c", "s.weir", "--in", "a=in.pcap", "--out", "b=right.pcap"],
         stdout=subprocess.DEVNULL)
    done = weir(["replay", "-c", "s.weir", "--in", "a=in.pcap", "--out", "b=closed.pcap"],
                preexec_fn=lambda: [os.close(fd) for fd in (0, 1)])
    assert done.returncode == 1, f"status {done.returncode}: {done.stderr}"
    right, other = (pathlib.Path(name).read_bytes() for name in ("right.pcap", "closed.pcap"))
    assert len(right) > 24 and right == other


def who_prints_nothing_needs_no_output():
    done = weir(["replay", "-q", "-c", "s.weir", "--in", "a=in.pcap", "--out", "b=quiet.pcap"],
                preexec_fn=lambda: os.close(1))
    assert done.returncode == 0 and done.stderr == "", f"status {done.returncode}: {done.stderr}"


def a_wrong_command_stays_one():
    with open("/dev/full", "wb") as out:
        done = weir(["replay", "-c", "missing.weir", "--in", "a=in.pcap", "--out", "b=-"],
                    stdout=out)
    assert done.returncode == 2, f"status {done.returncode}"


def prepare():
    pathlib.Path("s.weir").write_text(SCENARIO, encoding="ascii")
    with open("in.pcap", "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xa1b23c4d, 2, 4, 0, 0, 65535, 1))
        for i in range(10):
            out.write(struct.pack("<IIII", 1, i * 1000000, 64, 64) + bytes(64))


CLAIMS = []
for line in LINES:
    shown = "weir " + " ".join(line)
    CLAIMS += [(f"`{shown}` with a full output fails", lambda line=line: full(line)),
               (f"`{shown}` with a closed output fails", lambda line=line: closed(line)),
               (f"`{shown}` ends when its reader has gone", lambda line=line: reader_gone(line)),
               (f"`{shown}` fails when its reader has gone and SIGPIPE is ignored",
                lambda line=line: reader_gone_and_nobody_is_told(line))]
CLAIMS += [("files are not printed to when standard output is closed",
            captures_are_not_what_is_printed_to),
           ("who prints nothing needs no standard output", who_prints_nothing_needs_no_output),
           ("a wrong command has status 2 whatever its output", a_wrong_command_stays_one)]

with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    prepare()
    result = tap.run(CLAIMS)
    os.chdir("/")
sys.exit(result)
