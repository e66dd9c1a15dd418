# SPDX-License-Identifier: BSD-3-Clause
from .command import main

raise SystemExit(main())
