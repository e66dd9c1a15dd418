# SPDX-License-Identifier: BSD-3-Clause
"""What tests of `weir learn` need: NumPy and SciPy, and the package in python/."""
import os
import sys

WANTED = "import sys, numpy, scipy; sys.exit(sys.version_info < (3, 11))"


def need(weir, root):
    """Goes on in a Python that has NumPy and SciPy, or skips the test, with the reason."""
    os.environ["WEIR"] = weir
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    source = os.path.join(root, "python", "src")
    os.environ["PYTHONPATH"] = source
    sys.path.insert(0, source)
    try:
        import numpy  # noqa: F401
        import scipy  # noqa: F401
        return
    except ImportError:
        other = "/usr/bin/python3"
        if os.path.exists(other) and os.path.realpath(other) != os.path.realpath(sys.executable) \
                and os.spawnv(os.P_WAIT, other, [other, "-c", WANTED]) == 0:
            os.execv(other, [other, *sys.argv])
    print("1..0 # SKIP NumPy or SciPy is not installed (python3-numpy, python3-scipy)")
    sys.exit(0)
