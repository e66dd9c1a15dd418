/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What weir has answered to a question or a change, for a browser.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_SERVE_CHANGE_H
#define WEIR_SERVE_CHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct serve_ask;

/* An answer in text, without its last line. False: it is an error. `text` is to be freed; NULL: no
 * memory. */
bool serve_change_text(const char *answer, char **text, size_t *n);

/* Of serve_change_conversation, with n_lines lines:
 *
 *   {"ok":true,"sent":["begin","cloud down delay 80ms","commit"],"said":"..."}
 *   {"ok":false,"sent":[...],"error":"dwon: there is no ...","line":1}
 *
 * `line`: of those that change, from 1; 0: none of them. To be freed; NULL: no memory. */
char *serve_change_answer(const struct serve_ask *ask, uint32_t n_lines, bool *ok);
/* The same of what has not been sent. */
char *serve_change_refused(const char *why);

#endif
