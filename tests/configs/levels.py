#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""One weir for every processor: the launcher starts the program for this processor's level, and the
programs of all levels give the same bytes.

usage: levels.py WEIR ROOT LEVEL...    the levels that it was built for, from the lowest on, like
                                       x86-64-v2
"""
import filecmp
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402

WEIR, ROOT = map(os.path.abspath, sys.argv[1:3])
LEVELS = [level.removeprefix("x86-64-") for level in sys.argv[3:]]
CAPTURE = os.path.join(ROOT, "tests/replay/data/linux-tcp.pcap")
# The flags of each level beyond v2, by their names in /proc/cpuinfo; abm is LZCNT.
FLAGS = {"v3": "avx avx2 bmi1 bmi2 f16c fma abm movbe",
         "v4": "avx512f avx512bw avx512cd avx512dq avx512vl"}


def of_this_processor():
    """Returns the levels that this processor supports."""
    with open("/proc/cpuinfo", encoding="ascii") as file:
        has = set(re.search(r"^flags\s*:(.*)$", file.read(), re.M)[1].split())
    levels = ["v2"]
    for level, flags in FLAGS.items():
        if not set(flags.split()) <= has:
            break
        levels.append(level)
    return levels


def weir(*words, level=None, program=WEIR, **more):
    around = {name: value for name, value in os.environ.items() if name != "WEIR_LEVEL"}
    if level is not None:
        around["WEIR_LEVEL"] = level
    return subprocess.run([program, *words], env=around, capture_output=True, text=True,
                          check=False, **more)


def program_of(level):
    """Returns the path of a level's program: beside the launcher in a build, or where it is
    installed."""
    folder = os.path.dirname(WEIR)
    beside = os.path.join(folder, f"weir-{level}")
    return (beside if os.path.exists(beside)
            else os.path.join(folder, f"../libexec/weir/weir-{level}"))


def version(level=None, program=WEIR):
    done = weir("--version", level=level, program=program)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    return re.match(r"weir \S+ for x86-64-(v\d), with DPDK", done.stdout)[1]


def the_program_of_this_processors_level_is_started():
    assert version() == of_this_processor()[-1]
    assert version("") == of_this_processor()[-1], "with an empty WEIR_LEVEL"


def another_one_can_be_chosen():
    for level in of_this_processor():
        assert version(level) == level


def a_level_that_there_is_not_is_refused():
    for level in ("v1", "v5", "v", "v23", "x86-64-v3", "3", "native"):
        done = weir("--version", level=level)
        assert done.returncode == 2 and done.stdout == "", level
        assert done.stderr == f"weir: WEIR_LEVEL={level} is not a level; use v2 to v4\n", (
            done.stderr)


def what_this_processor_has_not_is_refused():
    missing = [level for level in LEVELS if level not in of_this_processor()]
    if not missing:
        raise tap.Skip("this processor has all of them")
    for level in missing:
        done = weir("--version", level=level)
        assert (done.returncode == 2
                and "this processor has only x86-64-" in done.stderr), done.stderr


def it_is_found_wherever_it_was_moved_to():
    with tempfile.TemporaryDirectory() as folder:
        # As in a build, the programs are beside the launcher; installed, they are where meson says.
        os.makedirs(f"{folder}/a b")
        shutil.copy(WEIR, f"{folder}/a b/weir")
        for level in LEVELS:
            shutil.copy(program_of(level), f"{folder}/a b/weir-{level}")
        os.symlink("a b/weir", f"{folder}/link")
        assert version("v2", f"{folder}/link") == "v2"


def a_program_that_is_missing_or_cannot_be_started_is_said_with_its_path():
    with tempfile.TemporaryDirectory() as folder:
        os.makedirs(f"{folder}/bin")
        shutil.copy(WEIR, f"{folder}/bin/weir")
        beside, installed = (f"{folder}/bin/{way}weir-v2" for way in ("", "../libexec/weir/"))
        assert refused(folder) == (f"weir: the program for x86-64-v2 is missing: neither {beside} "
                                   f"nor {installed} is "
                                   "there; install weir again\n")
        # If the program beside the launcher cannot be started, the installed one is not started
        # instead.
        os.makedirs(f"{folder}/libexec/weir")
        shutil.copy("/bin/true", installed)
        with open(beside, "w", encoding="ascii"):
            assert refused(folder) == f"weir: {beside} cannot be started: Permission denied\n"


def refused(folder):
    done = weir("--version", level="v2", program=f"{folder}/bin/weir")
    assert done.returncode == 127 and done.stdout == "", done
    return done.stderr


def its_process_is_called_weir():
    """For pgrep, and for those who are told who made a change."""
    with tempfile.TemporaryDirectory() as folder:
        os.mkfifo(f"{folder}/scenario")
        child = subprocess.Popen([WEIR, "check", "-c", f"{folder}/scenario"],
                                 stdout=subprocess.DEVNULL)
        # Blocks until weir has opened it.
        with open(f"{folder}/scenario", "w", encoding="ascii") as scenario:
            with open(f"/proc/{child.pid}/comm", encoding="utf-8") as comm:
                name = comm.read()
            scenario.write("port a\n")
        assert child.wait() == 0 and name == "weir\n", name


def arguments_and_status_are_passed_on():
    done = weir("frobnicate", "--a b", level="v2")
    assert (done.returncode == 2
            and done.stderr.startswith("weir: unknown command `frobnicate`")), done.stderr


def replayed(scenario, level, folder):
    here = os.path.join(folder, level)
    os.makedirs(here, exist_ok=True)
    done = weir("replay", "-q", "-c", scenario, "--in", f"a,b={CAPTURE}",
                "--split", "mac=02:00:00:00:00:0a",
                "--out", f"a={here}/a.pcap", "--out", f"b={here}/b.pcap",
                "--report", f"{here}/report.json",
                "--log", f"{here}/log.csv", level=level, cwd=ROOT)
    assert done.returncode == 0, f"{level}: status {done.returncode}: {done.stderr}"
    return here


def same_bytes(scenario):
    levels = of_this_processor()
    if len(levels) == 1:
        raise tap.Skip("this processor has the lowest level only")
    with tempfile.TemporaryDirectory() as folder:
        first, *others = (replayed(scenario, level, folder) for level in levels)
        for other in others:
            _, differ, missing = filecmp.cmpfiles(first, other, ("a.pcap", "b.pcap", "report.json",
                                                                 "log.csv"), False)
            assert not differ and not missing, f"{os.path.basename(other)}: {differ + missing}"


if len(LEVELS) < 2:
    print("1..0 # SKIP this weir was built for one processor: -Dmarch, -Dlevels=false, a "
          "sanitizer, or no x86-64")
    sys.exit(0)
CLAIMS = [(claim.__name__, claim) for claim in (
    the_program_of_this_processors_level_is_started, another_one_can_be_chosen,
    a_level_that_there_is_not_is_refused,
    what_this_processor_has_not_is_refused, it_is_found_wherever_it_was_moved_to,
    a_program_that_is_missing_or_cannot_be_started_is_said_with_its_path,
    its_process_is_called_weir,
    arguments_and_status_are_passed_on)]
CLAIMS += [(f"{os.path.basename(path)}: gives the same bytes from every level",
            lambda path=path: same_bytes(path))
           for path in sorted(glob.glob(os.path.join(ROOT, "configs", "*.weir")))]
sys.exit(tap.run(CLAIMS))
