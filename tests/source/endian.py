#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""meson refuses to configure for a big-endian processor, which a cross file names.

usage: endian.py ROOT AR COMPILER...    those of this build, since there may be no others
"""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402

ROOT, AR, COMPILER = os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3:]
CROSS = """[binaries]
c = {2}
ar = '{1}'
strip = 'strip'
pkgconfig = 'pkg-config'
[host_machine]
system = 'linux'
cpu_family = '{0}'
cpu = '{0}'
endian = 'big'
"""


def is_refused(family):
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/cross.ini", "w", encoding="ascii") as file:
            file.write(CROSS.format(family, AR, COMPILER))
        done = subprocess.run(["meson", "setup", f"{folder}/build", ROOT,
                               "--cross-file", f"{folder}/cross.ini"],
                              capture_output=True, text=True, check=False)
        assert (done.returncode != 0
                and f"weir is for little-endian processors, and {family} is none of them"
                in done.stdout), done.stdout[-2000:] + done.stderr


sys.exit(tap.run([(f"{family} is refused", lambda family=family: is_refused(family))
                  for family in ("s390x", "ppc64")]))
