#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes a static library of one object: what the names of a version script need of some archives,
with no other global name, so that it cannot meet a name of the program that it is linked into.

usage: archive.py OUTPUT FOLDER MAP LIBRARY... -- CC...

A LIBRARY is a file, or -lNAME, which is taken from the archive libNAME.a.
"""
import os
import re
import subprocess
import sys

output, folder, script, *rest = sys.argv[1:]
cut = rest.index("--")
libraries, compiler = rest[:cut], rest[cut + 1:]
with open(script, encoding="utf-8") as lines:
    names = re.findall(r"^\t(\w+);$", lines.read(), re.M)
os.makedirs(folder, exist_ok=True)
whole = os.path.join(folder, "weir.o")
subprocess.run([*compiler, "-r", "-nostdlib", "-o", whole, "-Wl,--gc-sections",
                *(f"-Wl,--undefined={name}" for name in names), "-Wl,-Bstatic",
                "-Wl,--start-group", *libraries, "-Wl,--end-group"], check=True)
subprocess.run(["objcopy", "--strip-unneeded",
                *(f"--keep-global-symbol={name}" for name in names), whole], check=True)
if os.path.exists(output):
    os.remove(output)
subprocess.run(["ar", "rcsD", output, whole], check=True)
