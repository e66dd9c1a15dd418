#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What libweir is linked with, and what it exports.

usage: linked.py LIBRARY ARCHIVE ROOT
"""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402

LIBRARY, ARCHIVE, ROOT = (os.path.abspath(word) for word in sys.argv[1:4])
MAY_NEED = {"libc", "libm", "libpcap", "ld-linux-x86-64", "ld-linux-aarch64"}
OF_A_SANITIZER = {"libasan", "libubsan", "libtsan", "libgcc_s"}


def output_of(*words):
    return subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True).stdout


def declared():
    """Returns the functions of weir.h."""
    with open(f"{ROOT}/src/library/weir.h", encoding="utf-8") as header:
        return set(re.findall(r"^WEIR_API [^(]*?(\w+)\(", header.read(), re.M))


def it_needs_libc_libm_and_libpcap():
    needed = set(re.findall(r"NEEDED\).*\[([\w-]+)\.so", output_of("readelf", "-d", LIBRARY)))
    assert "libc" in needed, needed
    assert needed - OF_A_SANITIZER <= MAY_NEED, needed


def it_exports_what_the_header_declares_and_nothing_else():
    names = re.findall(r" T (\w+)@@WEIR_0$", output_of("nm", "-D", "--defined-only", LIBRARY), re.M)
    every = re.findall(r" [A-Za-z] (\w+)", output_of("nm", "-D", "--defined-only", LIBRARY))
    assert len(declared()) > 15
    assert set(names) == declared(), set(names) ^ declared()
    # A sanitizer marks what it has instrumented.
    assert {n for n in every if "asan" not in n} == declared() | {"WEIR_0"}, every


def the_archive_has_the_same_names():
    names = re.findall(r" [A-Z] (\w+)", output_of("nm", "--defined-only", "-g", ARCHIVE))
    assert {n for n in names if "asan" not in n} == declared(), set(names) ^ declared()
    missing = re.findall(r" U (\w+)", output_of("nm", "-u", ARCHIVE))
    assert not [n for n in missing if n.startswith(("rte_", "per_lcore", "json_"))], missing


def the_package_lists_the_same_symbols():
    with open(f"{ROOT}/debian/libweir0.symbols", encoding="utf-8") as lines:
        listed = set(re.findall(r"^ (\w+)@WEIR_0 ", lines.read(), re.M))
    assert listed == declared() | {"WEIR_0"}, listed ^ declared()


sys.exit(tap.run([(claim.__name__, claim) for claim in (
    it_needs_libc_libm_and_libpcap, it_exports_what_the_header_declares_and_nothing_else,
    the_archive_has_the_same_names, the_package_lists_the_same_symbols)]))
