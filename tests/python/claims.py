#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the pytest tests of the package in python/, as claims in TAP.

usage: claims.py WEIR CORPUS ROOT FILE
"""
import os
import subprocess
import sys

WEIR, CORPUS, ROOT, FILE = map(os.path.abspath, sys.argv[1:5])


def python_with_pytest():
    """Returns the system's Python, for which Debian packages pytest, or the one that runs this
    script."""
    for python in ("/usr/bin/python3", sys.executable):
        if os.path.exists(python) and subprocess.run(
                [python, "-c", "import sys, pytest; sys.exit(sys.version_info < (3, 11))"],
                stderr=subprocess.DEVNULL, check=False).returncode == 0:
            return python
    return None


def main():
    python = python_with_pytest()
    if python is None:
        print("1..0 # SKIP pytest is not installed (python3-pytest), or Python is older than 3.11")
        return 0
    environment = dict(os.environ, WEIR=WEIR, WEIR_CORPUS=CORPUS, WEIR_TAP="yes",
                       PYTHONDONTWRITEBYTECODE="1",
                       PYTHONPATH=os.path.join(ROOT, "python", "src"),
                       PYTEST_DISABLE_PLUGIN_AUTOLOAD="yes")
    return subprocess.run([python, "-m", "pytest", "-p", "weir.pytest_plugin", "-p", "no:terminal",
                           "-p", "no:cacheprovider", FILE], cwd=os.path.join(ROOT, "python"),
                          env=environment,
                          check=False).returncode


sys.exit(main())
