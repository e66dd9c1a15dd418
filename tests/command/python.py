#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A command that is Python starts with the package that belongs to it, or says what is missing.

usage: python.py WEIR
"""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import tap  # noqa: E402

WEIR = os.path.abspath(sys.argv[1])
VERSION = subprocess.run([WEIR, "--version"], capture_output=True, text=True,
                         check=True).stdout.split()[1]
LAB = ["lab", "run", "A1", "--seeds", "7", "--set", "a=b,c", "-j"]


class Installed:
    """A program in a folder of its own, with a package beside it that has this main()."""

    def __init__(self, main="", version=VERSION):
        self.folder = tempfile.TemporaryDirectory(prefix="weir-python-")
        self.top = pathlib.Path(self.folder.name)
        self.program = self.top / "bin/weir"
        package = self.top / "weir-python/weir/lab"
        package.mkdir(parents=True)
        self.program.parent.mkdir()
        shutil.copy(WEIR, self.program)
        (package.parent / "__init__.py").write_text(f"__version__ = {version!r}\n")
        (package / "__init__.py").touch()
        (package / "command.py").write_text(f"import os\ndef main(words):\n    {main}\n")

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.folder.cleanup()

    def run(self, *words, **environment):
        return subprocess.run([self.program, *(words or LAB)], capture_output=True, text=True,
                              cwd=self.top, check=False, timeout=60,
                              env={**os.environ, **environment})


def refused(answer, text):
    assert answer.returncode == 1 and answer.stdout == "", answer
    assert answer.stderr.startswith("weir lab: ") and text in answer.stderr, answer.stderr
    assert len(answer.stderr.splitlines()) == 1, answer.stderr


def gets_its_words():
    """The words are initial values, options, and what is none; the status is what main() returns;
    $WEIR is this program, whatever it was."""
    with Installed("print(*words, os.environ['WEIR'], sep='|'); return 5") as weir:
        answer = weir.run(WEIR="/other")
        words = answer.stdout.rstrip("\n").split("|")
        assert answer.returncode == 5 and answer.stderr == "", answer
        assert words.pop() == str(weir.program), words
        assert words == ["seeds=5", "seed=1", "--", "seeds=7", "set=a=b,c", "json=", "--", "run",
                         "A1"], words


def not_the_working_directory():
    """A file of the user that is called like a module is none."""
    with Installed("import json; json.dumps(1); return 0") as weir:
        (weir.top / "json.py").write_text("raise SystemExit('mine')\n")
        (weir.top / "weir").mkdir()
        assert weir.run().returncode == weir.run(PYTHONSAFEPATH="1").returncode == 0


def without_python():
    with Installed("return 0") as weir:
        refused(weir.run(PATH="/nowhere", WEIR_PYTHON=""), "python3 cannot be started: No such "
                "file or directory; apt install python3\n")
        refused(weir.run(WEIR_PYTHON="/nowhere/python"),
                "/nowhere/python cannot be started: No such file or directory; $WEIR_PYTHON")


def without_package():
    with Installed("return 0") as weir:
        (weir.top / "weir-python/weir/lab/command.py").unlink()
        refused(weir.run(WEIR_PYTHON=sys.executable),
                "lacks the package weir.lab.command; apt install python3-weir")


def of_another_version():
    with Installed("return 0", version="0.0.1") as weir:
        refused(weir.run(), f"this is version {VERSION}, and {weir.top}/bin/../weir-python/weir is "
                            "version 0.0.1; apt install python3-weir")


def says_what_is_wrong_before():
    """What is wrong with the command line needs no Python."""
    with Installed("return 0") as weir:
        answer = weir.run("lab", "run", "A1", "--seeds", "0", PATH="/nowhere")
        assert answer.returncode == 2 and "goes from 1" in answer.stderr, answer
        assert weir.run("lab", "--help", PATH="/nowhere").returncode == 0


def output_that_fails():
    """What cannot be printed is an error, however much it is."""
    for n in (10, 100_000):
        with Installed(f"print('x' * {n}); return 0") as weir, open("/dev/full", "wb") as full:
            done = subprocess.run([weir.program, *LAB], stdout=full, stderr=subprocess.PIPE,
                                  text=True, check=False)
        assert done.returncode == 1, done
        assert done.stderr == "weir lab: standard output: No space left on device\n", done.stderr


def interrupted():
    """Ctrl-C ends it as it ends any program, without a traceback."""
    with Installed("print(1, flush=True); import time; time.sleep(60)") as weir:
        with subprocess.Popen([weir.program, *LAB], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as child:
            assert child.stdout.readline() == "1\n"
            child.send_signal(signal.SIGINT)
            assert child.communicate(timeout=60)[1] == ""
        assert child.returncode == -signal.SIGINT, child.returncode


def any_words():
    """A byte that is not UTF-8 arrives, and is printed as it is."""
    with Installed("print(words[-1]); return 0") as weir:
        done = subprocess.run([weir.program, "lab", "merge", b"m\xfc"], capture_output=True,
                              check=False)
    assert done.returncode == 0 and done.stdout == b"m\xfc\n", done


CLAIMS = [
    ("a command that is Python gets its words, and its status is the command's", gets_its_words),
    ("it imports nothing from the working directory", not_the_working_directory),
    ("without python3 it says so, and how to get it", without_python),
    ("without its package it says so, and how to get it", without_package),
    ("a package of another version is refused", of_another_version),
    ("a command line that is wrong is refused without Python", says_what_is_wrong_before),
    ("output that cannot be printed is an error", output_that_fails),
    ("an interrupt ends it without a traceback", interrupted),
    ("words of any bytes arrive", any_words),
]

sys.exit(tap.run(CLAIMS))
