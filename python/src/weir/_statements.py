# SPDX-License-Identifier: BSD-3-Clause
from ._chain import Statements as Statements
