# SPDX-License-Identifier: BSD-3-Clause
"""A point of a study, for a batch system: `python3 -m weir.lab point DIR NUMBER`."""

import sys

from .study import main

sys.exit(main(sys.argv[1:]))
