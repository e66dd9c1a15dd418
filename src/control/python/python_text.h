/* SPDX-License-Identifier: BSD-3-Clause */
/* python_start.py, as a text of the program; made by tools/embed.py. */
#ifndef WEIR_PYTHON_TEXT_H
#define WEIR_PYTHON_TEXT_H

#include "text/embedded_text.h"

extern const struct embedded_text python_texts[];

#endif
