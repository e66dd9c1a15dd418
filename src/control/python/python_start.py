# SPDX-License-Identifier: BSD-3-Clause
"""Starts a command of weir that is Python: `weir` gives this text to `python3 -c` (python.c)."""

import importlib
import os
import signal
import sys


def elsewhere():
    """Goes on with the system's Python, which has the packages of the system, if this is another
    one, such as that of a virtual environment."""
    system, words = "/usr/bin/python3", getattr(sys, "orig_argv", None)  # of Python 3.10
    if words and not os.environ.get("WEIR_PYTHON") and os.access(system, os.X_OK) and (
            os.path.realpath(system) != os.path.realpath(sys.executable)):
        os.execv(system, [system, *words[1:]])


def lacks(error, get):
    elsewhere()
    return f"{sys.executable} lacks the package {error.name}; {get}"


def start(command, module, folder, get, version, unable, *words):
    """Calls main(words) of the module. Returns the exit status, or a message."""
    if sys.path[0] == "":  # the working directory, unless $PYTHONSAFEPATH is set
        del sys.path[0]
    sys.path[:0] = [folder] if folder else []
    if sys.version_info < (3, 11):
        elsewhere()
        return f"{sys.executable} is older than Python 3.11; $WEIR_PYTHON names another one"
    try:
        main = importlib.import_module(module).main
    except ModuleNotFoundError as error:
        return lacks(error, get)
    found = importlib.import_module("weir")
    if found.__version__ != version:
        return (f"this is version {version}, and {os.path.dirname(found.__file__)} is version "
                f"{found.__version__}; {get}")
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="surrogateescape")
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        status = main(words)
        sys.stdout.flush()
    except ModuleNotFoundError as error:
        return lacks(error, get)
    except OSError as error:  # a command handles those of its files
        return f"standard output: {error.strerror}"
    except Exception as error:
        if not hasattr(error, "wrong"):  # weir._command.CommandError
            raise
        sys.stderr.write(f"weir {command}: {error}\n")
        return 2 if error.wrong else 1
    return status


ended = start(*sys.argv[1:])
if isinstance(ended, str):
    sys.stderr.write(f"weir {sys.argv[1]}: {ended}\n")
    ended = int(sys.argv[6])
sys.stderr.flush()
os._exit(ended)  # what is left to print was printed, or cannot be
