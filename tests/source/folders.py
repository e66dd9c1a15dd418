#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Lists the tests of a folder: its own, those named after it or one of its files (the test `hop` is
about hop.c, wherever that is), and those in the table tests/folders.

usage: folders.py ROOT BUILD FOLDER    prints their names in meson; exit status 1 if there are none
       folders.py ROOT BUILD           claims about the table
"""
import fnmatch
import functools
import glob
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402

ROOT, BUILD = map(os.path.abspath, sys.argv[1:3])
TABLE = "tests/folders"


@functools.cache
def folders_of_names():
    """Returns {name of a test: folders that have this name, or a file of this name}."""
    found = {}
    for top in ("src", "lab", "linux"):
        for folder, _, leaves in os.walk(os.path.join(ROOT, top)):
            for leaf in [os.path.basename(folder) + ".c", *leaves]:
                name, _, ending = leaf.partition(".")
                if ending in ("c", "h"):
                    found.setdefault(name.replace("_", "-"), set()).add(
                        os.path.relpath(folder, ROOT))
    return found


def rows():
    """Returns {folder: patterns of names}. A row continues in lines that begin with a blank."""
    found, patterns = {}, []
    with open(os.path.join(ROOT, TABLE), encoding="utf-8") as table:
        for line in table:
            if line.startswith("#") or not line.strip():
                continue
            if not line[0].isspace():
                folder, _, line = line.partition(":")
                patterns = found.setdefault(folder, [])
            patterns.extend(line.split())
    return found


def own_folder(test):
    """Returns the folder of a test's script or program. A group's folder follows from the name of
    its runner."""
    for word in test["cmd"]:
        for top in (BUILD, ROOT):
            if word.startswith(top + "/tests/"):
                folder, _, leaf = os.path.relpath(word, top).rpartition("/")
                return f"tests/{leaf.split('_')[0]}" if folder == "tests/runner" else folder
    return ""


def tests():
    """Returns {name: its own folder}."""
    with open(os.path.join(BUILD, "meson-info", "intro-tests.json"), encoding="utf-8") as intro:
        return {test["name"]: own_folder(test) for test in json.load(intro)}


def about(name):
    """Returns the folders that a test is about by its name."""
    return folders_of_names().get(name.replace("_", "-"), ())


def below(folder, top):
    return top == "." or folder == top or folder.startswith(top + "/")


def chosen(top):
    patterns = [p for folder, of in rows().items() if below(folder, top) for p in of]
    return [name for name, own in tests().items()
            if below(own, top) or any(fnmatch.fnmatchcase(name, p) for p in patterns)
            or any(below(folder, top) for folder in about(name))]


def every_folder_of_the_table_is_there():
    lost = [folder for folder in rows() if not os.path.isdir(os.path.join(ROOT, folder))]
    assert not lost, f"{TABLE}: there is no folder {', '.join(lost)}"


def every_name_of_the_table_is_a_test():
    known = list(tests())
    lost = [p for of in rows().values() for p in of if not fnmatch.filter(known, p)]
    assert not lost, f"{TABLE}: there is no test {', '.join(lost)}"


def every_group_of_unit_tests_is_about_a_folder():
    patterns = [p for of in rows().values() for p in of]
    lost = [name for name, own in tests().items() if own in ("tests/unit", "tests/lab")
            and not about(name) and not any(fnmatch.fnmatchcase(name, p) for p in patterns)]
    assert not lost, (f"no file or folder of src/, lab/ or linux/ is called {', '.join(lost)}, and "
                      f"{TABLE} has no such test")


def every_file_of_unit_tests_is_a_test():
    """meson looks for those named after a file of the engine when it configures."""
    paths = glob.glob(os.path.join(ROOT, "tests", "unit", "test_*.c"))
    names = [os.path.basename(path)[5:-2].replace("_", "-") for path in paths]
    lost = sorted(set(names) - set(tests()))
    assert not lost, (f"add {', '.join(lost)} to tests/unit/meson.build, or configure again: "
                      f"meson setup --reconfigure {BUILD}")


def every_folder_of_the_engine_has_tests():
    lost = []
    for layer in ("src/emulation", "src/feedback", "src/dataplane", "src/control"):
        for leaf in sorted(os.listdir(os.path.join(ROOT, layer))):
            folder = f"{layer}/{leaf}"
            if os.path.isdir(os.path.join(ROOT, folder)) and not chosen(folder):
                lost.append(folder)
    assert not lost, f"no test is about {', '.join(lost)}"


if len(sys.argv) > 3:
    asked = os.path.relpath(os.path.join(ROOT, sys.argv[3]), ROOT)
    if os.path.isfile(os.path.join(ROOT, asked)):
        asked = os.path.dirname(asked)
    names = chosen(asked)
    print("\n".join(names))
    sys.exit(0 if names else 1)
sys.exit(tap.run([(claim.__name__, claim) for claim in (
    every_folder_of_the_table_is_there,
    every_name_of_the_table_is_a_test,
    every_group_of_unit_tests_is_about_a_folder,
    every_file_of_unit_tests_is_a_test,
    every_folder_of_the_engine_has_tests,
)]))
