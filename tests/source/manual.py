#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The manual pages: weir(1) has every subcommand with every option of its help, and the handwritten
pages have the same options. The page of accuracy has every impairment that acts with a probability.

usage: manual.py WEIR
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))
import tap  # noqa: E402

WEIR = sys.argv[1]
PAGE = subprocess.run([sys.executable, ROOT / "tools" / "manual.py", WEIR], capture_output=True,
                      text=True, check=True).stdout
SCENARIO = subprocess.run([WEIR, "help", "--man"], capture_output=True, text=True,
                          check=True).stdout
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")


def said(*words):
    return subprocess.run([WEIR, *words, "--help"], capture_output=True, text=True,
                          check=True).stdout


def plain(troff):
    return re.sub(r"\\f[BIR]", "", troff).replace("\\-", "-").replace("\\e", "\\")


def page_has_all(name):
    missing = set(OPTION.findall(said(name))) - set(OPTION.findall(plain(PAGE)))
    assert f".SH WEIR {name.upper()}" in PAGE and not missing, f"missing: {sorted(missing)}"


def handwritten_is_right(name):
    """The page explains exactly the options of the command."""
    text = plain((ROOT / "docs" / "man" / f"weir-{name}.1").read_text(encoding="utf-8"))
    options, theirs = set(OPTION.findall(text.partition("SH OPTIONS")[2])), set(
        OPTION.findall(said(name)))
    known = {"--help"}
    foreign, missing = options - theirs - known, theirs - set(OPTION.findall(text)) - known
    assert not foreign and not missing, f"foreign {sorted(foreign)}, missing {sorted(missing)}"


def is_clean(page, text):
    if not shutil.which("groff"):
        raise tap.Skip("groff is not there")
    done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z"], input=text, capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0 and done.stderr == "", f"{page}: {done.stderr}"


def commands():
    """Returns the subcommands that `weir --help` lists."""
    usage = subprocess.run([WEIR, "--help"], capture_output=True, text=True, check=True).stdout
    return list(dict.fromkeys(re.findall(r"^ {2}weir ([a-z]+)\b", usage, re.M)))


def every_command_has_a_page():
    """Every command has a page that is installed, and that weir(1) lists; no other page is
    listed."""
    build = (ROOT / "src" / "meson.build").read_text(encoding="utf-8")
    names = commands()
    assert len(names) >= 8, names
    for name in names:
        page = f"weir-{name}.1"
        assert (ROOT / "docs" / "man" / page).exists(), f"there is no docs/man/{page}"
        assert f"../docs/man/{page}'" in build, f"src/meson.build does not install {page}"
        assert f".BR weir-{name} (1)" in PAGE.replace("\\-", "-"), f"weir(1) does not name {page}"
    pages = {path.stem.removeprefix("weir-") for path in (ROOT / "docs" / "man").glob("*.1")}
    assert pages - set(names) == {"host"}, pages


def page_begins_right(name):
    """The page has a title, and a name that `apropos` accepts."""
    text = plain((ROOT / "docs" / "man" / f"weir-{name}.1").read_text(encoding="utf-8"))
    assert f".TH WEIR-{name.upper()} 1 " in text, "no title"
    assert re.search(rf"^\.SH NAME\nweir-{name} - [a-z]", text, re.M), "no name"
    assert re.search(r"^\.SH (EXIT STATUS|SEE ALSO)$", text, re.M), "no end"


def every_probability_has_a_row_of_accuracy():
    """As `others` of tools/accuracy.py sees it."""
    page = (ROOT / "docs" / "accuracy.md").read_text(encoding="utf-8")
    table = json.loads(subprocess.run([WEIR, "help", "--json"], capture_output=True, text=True,
                                      check=True).stdout)["statements"]
    names = {row["name"] for row in table if row["role"] == "stage" and row["fields"]
             and row["fields"][0]["positional"] and row["fields"][0]["type"] == "probability"}
    missing = sorted(name for name in names if f"| `{name} " not in page)
    assert len(names) > 2 and not missing, (
        f"docs/accuracy.md has no row of {missing}: run tools/accuracy.py --weir {WEIR}")


NAMES = commands()
CLAIMS = [("every subcommand has a manual page that is installed", every_command_has_a_page)]
CLAIMS += [(f"weir(1) has weir {name} with all its options", lambda name=name: page_has_all(name))
           for name in NAMES if name != "help"]
CLAIMS += [(f"weir-{name}(1) has the options of weir {name}, and no other",
            lambda name=name: handwritten_is_right(name))
           for name in NAMES]
CLAIMS += [(f"weir-{name}(1) begins as a manual page does",
            lambda name=name: page_begins_right(name)) for name in NAMES]
CLAIMS += [("groff finds nothing wrong with weir(1)", lambda: is_clean("weir.1", PAGE)),
           ("groff finds nothing wrong with weir-scenario(5)",
            lambda: is_clean("weir-scenario.5", SCENARIO))]
CLAIMS += [(f"groff finds nothing wrong with weir-{name}(1)",
            lambda page=ROOT / "docs" / "man" / f"weir-{name}.1":
                is_clean(page.stem.removeprefix("weir-"), page.read_text(encoding="utf-8")))
           for name in [*NAMES, "host"]]
CLAIMS += [("every impairment that acts with a probability has a row of accuracy",
            every_probability_has_a_row_of_accuracy)]
sys.exit(tap.run(CLAIMS))
