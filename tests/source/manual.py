#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The manual pages: weir(1) has every subcommand with every option of its help, the handwritten ones name no other.

usage: manual.py WEIR
"""
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))
import tap  # noqa: E402

WEIR = sys.argv[1]
PAGE = subprocess.run([sys.executable, ROOT / "tools" / "manual.py", WEIR], capture_output=True, text=True, check=True).stdout
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")


def said(*words):
    return subprocess.run([WEIR, *words, "--help"], capture_output=True, text=True, check=True).stdout


def plain(troff):
    return re.sub(r"\\f[BIR]", "", troff).replace("\\-", "-").replace("\\e", "\\")


def page_has_all(name):
    missing = set(OPTION.findall(said(name))) - set(OPTION.findall(plain(PAGE)))
    assert f".SH WEIR {name.upper()}" in PAGE and not missing, f"missing: {sorted(missing)}"


def handwritten_is_right(name):
    """Options that the page explains are the command's, and the other way round."""
    text = plain((ROOT / "docs" / "man" / f"weir-{name}.1").read_text(encoding="utf-8"))
    options, theirs = set(OPTION.findall(text.partition("SH OPTIONS")[2])), set(OPTION.findall(said(name)))
    known = {"--help", "--log-level"}  # the latter is the EAL's
    foreign, missing = options - theirs - known, theirs - set(OPTION.findall(text)) - known
    assert not foreign and not missing, f"foreign {sorted(foreign)}, missing {sorted(missing)}"


def is_clean(page, text):
    if not shutil.which("groff"):
        raise tap.Skip("groff is not there")
    done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z"], input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stderr == "", f"{page}: {done.stderr}"


NAMES = ("exec", "run", "replay", "check", "ctl", "bench", "lab")
CLAIMS = [(f"weir(1) has weir {name} with all its options", lambda name=name: page_has_all(name)) for name in NAMES]
CLAIMS += [(f"weir-{name}(1) has the options of weir {name}, and no other", lambda name=name: handwritten_is_right(name))
           for name in ("exec", "run", "replay", "bench")]
CLAIMS += [("groff finds nothing wrong with weir(1)", lambda: is_clean("weir.1", PAGE))]
sys.exit(tap.run(CLAIMS))
