/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Converts weir's answer to a query or a change for a browser.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_SERVE_CHANGE_H
#define WEIR_SERVE_CHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct serve_ask;

/* Extracts an answer in text mode, without its last line. Returns false if it is an error; *text is
 * the error then. The caller frees *text; NULL: no memory. */
bool serve_change_text(const char *answer, char **text, size_t *n);

/* Returns the result of serve_change_conversation, with n_lines lines:
 *
 *   {"ok":true,"sent":["begin","cloud down delay 80ms","commit"],"said":"..."}
 *   {"ok":false,"sent":[...],"error":"dwon: there is no ...","line":1}
 *
 * `line`: the number of the change in error, from 1; 0: none of them. The caller frees the text;
 * NULL: no memory. */
char *serve_change_answer(const struct serve_ask *ask, uint32_t n_lines, bool *ok);
/* The same for a change that has not been sent, because of this line; 0: of none. */
char *serve_change_refused(const char *why, uint32_t line);

#endif
