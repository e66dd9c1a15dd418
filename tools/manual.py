#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the manual page weir(1) from the program's own help, so that they cannot differ.

usage: manual.py WEIR              (or WRAPPER WEIR, if another machine runs it)

`weir --help` lists the subcommands, and each of them has its own --help. Both are copied unchanged.
"""
import re
import subprocess
import sys


def said(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def troff(text):
    """Escapes backslashes and hyphen-minuses, and points and apostrophes at the beginning of a
    line, which would be requests."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^(?=[.'])", r"\\&", text, flags=re.M).rstrip() + "\n"


def commands(usage):
    """Returns the subcommands that the usage lists, in order, each as `weir NAME` on an indented
    line. help is omitted: it prints the usage, and weir-scenario(5)."""
    return [name for name in re.findall(r"^ {2}weir ([a-z]+)\b", usage, re.M) if name != "help"]


def main():
    weir = sys.argv[1:]
    usage = said(*weir, "--help")
    names = commands(usage)
    assert names, "the usage names no subcommand"
    print('.\\" Made by tools/manual.py: do not edit it.\n'
          '.TH WEIR 1 "" "weir" "User Commands"\n.SH NAME\n'
          "weir \\- a network emulator\n.SH SYNOPSIS\n.B weir\n.I COMMAND\n.RI [ OPTIONS ]\n"
          ".SH DESCRIPTION\n.nf")
    print(troff(usage), end=".fi\n")
    for name in names:
        print(f".SH WEIR {name.upper()}\n.nf")
        print(troff(said(*weir, name, "--help")), end=".fi\n")
    print(".SH EXIT STATUS\n0: done. 1: it went wrong on the way, or a verdict is not what was "
          "asked for. 2: what was asked for is wrong; "
          "nothing was done.\n.SH SEE ALSO")
    print(",\n".join(f".BR weir\\-{name} (1)" for name in [*names, "help"])
          + ",\n.BR weir\\-host (1),\n.BR weir\\-scenario (5)")


if __name__ == "__main__":
    main()
