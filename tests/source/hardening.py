#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The hardening options of meson.build have taken effect in the program, and in all of it.

usage: hardening.py WEIR BUILD-FOLDER SANITIZER OPTIMIZATION
"""
import json
import os
import re
import shlex
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402

WEIR, BUILD, SANITIZER, OPTIMIZATION = sys.argv[1:5]
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def readelf(*words):
    if not shutil.which("readelf"):
        raise tap.Skip("readelf is not there")
    return subprocess.run(["readelf", "-W", *words, WEIR], capture_output=True, text=True,
                          check=True,
                          env=dict(os.environ, LC_ALL="C")).stdout


def segments():
    """Returns the name and flags of each segment."""
    return re.findall(r"^  ([A-Z_]+) +(?:0x[0-9a-f]+ +){5}([RWE ]{3})", readelf("-l"), re.M)


def symbols():
    """Returns the imported names, without versions."""
    return {name.split("@")[0] for name in re.findall(r" UND (\S+)", readelf("--dyn-syms"))}


def machine():
    return re.search(r"Machine: +(.*)", readelf("-h")).group(1)


def it_lies_at_another_address_each_time():
    assert re.search(r"Type: +DYN", readelf("-h")), "no position-independent executable"
    assert re.search(r"FLAGS_1.* PIE", readelf("-d")), "a shared object, and no executable"


def what_the_loader_writes_is_read_only_afterwards():
    assert re.search(r"BIND_NOW|FLAGS_1.* NOW",
                     readelf("-d")), "functions are bound when they are called first"
    assert "GNU_RELRO" in dict(segments()), "no RELRO"


def nothing_is_written_and_executed():
    every = segments()
    assert ("GNU_STACK", "RW ") in every, f"the stack: {[s for s in every if s[0] == 'GNU_STACK']}"
    both = [name for name, flags in every if "W" in flags and "E" in flags]
    assert not both, both


def the_stack_is_guarded():
    assert "__stack_chk_fail" in symbols(), "no function has a guard"


def glibc_checks_lengths():
    if SANITIZER != "none":
        raise tap.Skip(f"-Db_sanitize={SANITIZER} looks closer, and meson.build leaves the checks "
                       "out")
    if OPTIMIZATION in ("plain", "0"):
        raise tap.Skip(f"-Doptimization={OPTIMIZATION}: the checks need an optimiser")
    checks = {name for name in symbols() if name.startswith("__") and name.endswith("_chk")}
    assert {"__snprintf_chk", "__fprintf_chk"} <= checks, sorted(checks)


def bytes_of(function, n):
    """Returns the first n bytes of a function, from the file."""
    found = re.search(rf"^ *\d+: ([0-9a-f]+) +\d+ FUNC .* {function}$", readelf("-s"), re.M)
    if not found:
        raise tap.Skip("the program is stripped")
    address = int(found.group(1), 16)
    for start, offset, size in re.findall(r"PROGBITS +([0-9a-f]+) ([0-9a-f]+) ([0-9a-f]+)",
                                          readelf("-S")):
        start, offset, size = (int(number, 16) for number in (start, offset, size))
        if start <= address < start + size:
            with open(WEIR, "rb") as program:
                program.seek(offset + address - start)
                return program.read(n)
    raise AssertionError(f"{function} lies in no section")


def branches_land_where_they_may():
    if "X86-64" in machine():
        assert bytes_of("main", 4) == b"\xf3\x0f\x1e\xfa", "main does not begin with endbr64"
    elif "AArch64" in machine():
        assert bytes_of("main", 4) in (b"\x3f\x23\x03\xd5",
                                       b"\x5f\x24\x03\xd5"), (
            "main begins with neither paciasp nor bti")
    else:
        raise tap.Skip(f"nothing is known of {machine()}")


def every_file_of_the_program_is_compiled_so():
    """If a folder lacked the options, the program as a whole would not show it, as other parts have
    them."""
    with open(os.path.join(BUILD, "compile_commands.json"), encoding="utf-8") as file:
        commands = json.load(file)
    seen = 0
    for command in commands:
        path = os.path.relpath(os.path.normpath(os.path.join(command["directory"],
                                                             command["file"])), ROOT)
        if not path.startswith(("src/", "lab/")):
            continue
        words = shlex.split(command["command"])
        guarded = "-fstack-protector-strong" in words and "-fno-stack-protector" not in words
        # The engine has no guards: they would take more than the 0.5 % of a packet's time that
        # hardening may cost: docs/performance.md.
        engine = re.search(r"src/(emulation|feedback)/", path)
        assert guarded != bool(engine), path
        assert "-fPIE" in words or "-fPIC" in words, path
        if SANITIZER == "none" and OPTIMIZATION not in ("plain", "0"):
            last = [word for word in words if re.match(r"-[DU]_FORTIFY_SOURCE", word)][-1:]
            assert last in (["-D_FORTIFY_SOURCE=2"], ["-D_FORTIFY_SOURCE=3"]), f"{path}: {last}"
        seen += 1
    assert seen > 100, seen


sys.exit(tap.run([(claim.__name__, claim) for claim in (
    it_lies_at_another_address_each_time, what_the_loader_writes_is_read_only_afterwards,
    nothing_is_written_and_executed, the_stack_is_guarded, glibc_checks_lengths,
    branches_land_where_they_may,
    every_file_of_the_program_is_compiled_so)]))
